// When to retry failed work: after a pause that doubles with each consecutive failure, up to a
// limit. Plain value.
#ifndef BIGTABLE_BASE_RETRY_PAUSE_H_
#define BIGTABLE_BASE_RETRY_PAUSE_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace bigtable {

// Times are nanoseconds of a clock that never jumps.
class RetryPause {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(50);
  static constexpr absl::Duration kMost = absl::Seconds(10);

  explicit RetryPause(absl::Duration most = kMost) : most_(most) {}

  void Succeeded() { *this = RetryPause(most_); }
  // The failed attempt took this long. The pause is at least as long, so that slow attempts take at
  // most half of the time.
  void Failed(int64_t now, absl::Duration took = absl::ZeroDuration()) {
    const int doublings = static_cast<int>(std::min<uint64_t>(failures_++, 10));
    const absl::Duration pause = std::min(kFirst * (int64_t{1} << doublings), most_);
    try_at_ = now + absl::ToInt64Nanoseconds(std::max(pause, took));
  }
  // Ends the pause because a change may help; the length of the next pause is not affected.
  void TryNow() { try_at_ = 0; }
  // The rest of the pause; zero before the first failure.
  absl::Duration Left(int64_t now) const {
    return absl::Nanoseconds(std::max<int64_t>(try_at_ - now, 0));
  }
  bool IsDue(int64_t now) const { return now >= try_at_; }
  // Consecutive failures.
  uint64_t failures() const { return failures_; }

 private:
  absl::Duration most_;
  uint64_t failures_ = 0;
  int64_t try_at_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_RETRY_PAUSE_H_
