// Aborts the test program and prints the current step when a step of a test takes too long, so that
// a stall is a failure with a seed instead of a timeout without one. One thread at a time.
#ifndef BIGTABLE_TESTS_SUPPORT_WATCHDOG_H_
#define BIGTABLE_TESTS_SUPPORT_WATCHDOG_H_

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/time.h"

#include "support/seeds.h"

namespace bigtable {

class Watchdog {
 public:
  // Longer than any step should take, on a busy machine or under sanitizers.
  static constexpr absl::Duration kLimit = absl::Seconds(kSlow ? 300 : 90);

  explicit Watchdog(absl::Duration limit = kLimit)
      : limit_(absl::ToChronoNanoseconds(limit)), thread_([this] { Watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Ends the previous step and begins a new one. Prints `step` if it stalls.
  void Step(std::string step) {
    {
      const std::lock_guard lock(mutex_);
      step_ = std::move(step);
      ++steps_;
    }
    changed_.notify_all();
  }

 private:
  void Watch() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      const uint64_t steps = steps_;
      const bool moved =
          changed_.wait_for(lock, limit_, [this, steps] { return is_over_ || steps_ != steps; });
      if (moved) continue;
      std::printf("Stalled: %s\n", step_.c_str());
      std::fflush(stdout);
      std::abort();
    }
  }

  const std::chrono::nanoseconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string step_ = "the beginning";
  uint64_t steps_ = 0;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_WATCHDOG_H_
