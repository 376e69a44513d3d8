// When the operations of a client are due, whether the one before has ended or not.
#ifndef BIGTABLE_BENCH_SCALE_PACER_H_
#define BIGTABLE_BENCH_SCALE_PACER_H_

#include <algorithm>
#include <chrono>
#include <thread>

namespace bench {

// One thread at a time.
class Pacer {
 public:
  using Clock = std::chrono::steady_clock;

  Pacer(Clock::time_point start, Clock::duration period) : due_(start), period_(period) {}

  // When the next operation is due.
  Clock::time_point due() const { return due_; }

  // Waits for that, and returns from when on the operation's time counts: from when it was due, if
  // an earlier one was still under way then. But a system that wakes this thread late has not made
  // anybody wait for the engine.
  Clock::time_point Wait() {
    if (Clock::now() < due_) {
      std::this_thread::sleep_until(due_);
      woken_ = Clock::now();
    }
    const Clock::time_point begin = std::max(due_, woken_);
    due_ += period_;
    return begin;
  }

 private:
  Clock::time_point due_;
  Clock::time_point woken_;  // when it last slept
  const Clock::duration period_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_SCALE_PACER_H_
