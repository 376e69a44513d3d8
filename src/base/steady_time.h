// The time by which durations are measured and waits end: of a clock that only goes forward, and
// that nobody sets. What the wall clock says (absl::Now, bigtable::Clock) is for what somebody
// reads: timestamps of cells, events, traces and the log of information. It may jump by any amount
// at any time, and nothing but these may change then.
#ifndef BIGTABLE_BASE_STEADY_TIME_H_
#define BIGTABLE_BASE_STEADY_TIME_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

#include "bigtable/clock.h"

namespace bigtable {

// Since some moment before the process began.
inline int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A moment of that clock. Arithmetic saturates: what is added to the infinite future is still that.
class SteadyTime {
 public:
  static SteadyTime Now() { return SteadyTime(NowNanos()); }
  static constexpr SteadyTime InfinitePast() { return SteadyTime(kPast); }
  static constexpr SteadyTime InfiniteFuture() { return SteadyTime(kFuture); }
  constexpr SteadyTime() : SteadyTime(kPast) {}
  // As NowNanos() gives them.
  static constexpr SteadyTime FromNanos(int64_t nanos) { return SteadyTime(nanos); }
  constexpr int64_t nanos() const { return nanos_; }

  friend constexpr auto operator<=>(const SteadyTime&, const SteadyTime&) = default;

  friend SteadyTime operator+(SteadyTime time, absl::Duration by) {
    if (time.nanos_ == kPast || time.nanos_ == kFuture) return time;
    if (by == absl::InfiniteDuration()) return InfiniteFuture();
    if (by == -absl::InfiniteDuration()) return InfinitePast();
    int64_t sum;
    // Of a duration that does not fit into 64 bits this is the nearest that does.
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

// The same for what takes a Clock and measures durations by it: moments since 1970 that were never
// true. Never deleted.
Clock* SteadyClock();

}  // namespace bigtable

#endif  // BIGTABLE_BASE_STEADY_TIME_H_
