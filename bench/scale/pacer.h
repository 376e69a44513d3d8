// The times at which a client's operations are due, whether or not the one before has ended.
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

  // The time at which the next operation is due.
  Clock::time_point due() const { return due_; }

  // Waits for that time, and returns the start of the operation's latency: the due time, if an
  // earlier operation was still in progress then. If the system wakes this thread late, the delay
  // does not count, because it is not caused by the engine.
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
  Clock::time_point woken_;  // the end of its last sleep
  const Clock::duration period_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_SCALE_PACER_H_
