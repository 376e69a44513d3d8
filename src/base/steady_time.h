// The time for measuring durations and ending waits: of a clock that only goes forward and cannot
// be set. The wall clock (absl::Now, bigtable::Clock) is only for times that people read:
// timestamps of cells, events, traces and the info log. It may jump by any amount at any time, and
// nothing else may depend on it.
#ifndef BIGTABLE_BASE_STEADY_TIME_H_
#define BIGTABLE_BASE_STEADY_TIME_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

#include "bigtable/clock.h"

namespace bigtable {

// Nanoseconds since an arbitrary time before the process began.
inline int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A time of that clock. Arithmetic saturates: the infinite future plus a duration stays infinite.
class SteadyTime {
 public:
  static SteadyTime Now() { return SteadyTime(NowNanos()); }
  static constexpr SteadyTime InfinitePast() { return SteadyTime(kPast); }
  static constexpr SteadyTime InfiniteFuture() { return SteadyTime(kFuture); }
  constexpr SteadyTime() : SteadyTime(kPast) {}
  // From a value of NowNanos().
  static constexpr SteadyTime FromNanos(int64_t nanos) { return SteadyTime(nanos); }
  constexpr int64_t nanos() const { return nanos_; }

  friend constexpr auto operator<=>(const SteadyTime&, const SteadyTime&) = default;

  friend SteadyTime operator+(SteadyTime time, absl::Duration by) {
    if (time.nanos_ == kPast || time.nanos_ == kFuture) return time;
    if (by == absl::InfiniteDuration()) return InfiniteFuture();
    if (by == -absl::InfiniteDuration()) return InfinitePast();
    int64_t sum;
    // For a duration that does not fit into 64 bits, the nearest value that does.
    const int64_t nanos = absl::ToInt64Nanoseconds(by);
    if (__builtin_add_overflow(time.nanos_, nanos, &sum)) sum = nanos > 0 ? kFuture : kPast;
    return SteadyTime(sum);
  }
  friend absl::Duration operator-(SteadyTime to, SteadyTime from) {
    if (to.nanos_ == from.nanos_) return absl::ZeroDuration();
    if (to.nanos_ == kFuture || from.nanos_ == kPast) return absl::InfiniteDuration();
    if (to.nanos_ == kPast || from.nanos_ == kFuture) return -absl::InfiniteDuration();
    return absl::Nanoseconds(to.nanos_) - absl::Nanoseconds(from.nanos_);
  }

 private:
  static constexpr int64_t kPast = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kFuture = std::numeric_limits<int64_t>::max();

  explicit constexpr SteadyTime(int64_t nanos) : nanos_(nanos) {}

  int64_t nanos_;
};

// The same as a Clock, for code that takes one and measures durations with it. Its times are not
// real times. Never destroyed.
Clock* SteadyClock();

}  // namespace bigtable

#endif  // BIGTABLE_BASE_STEADY_TIME_H_
