// When something that has failed is tried again by itself: after a pause that doubles with each
// failure in a row, up to a bound. Plain value.
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
  // The try that has failed took this long: what takes longer than the pause would have been is not
  // tried for more than half of the time.
  void Failed(int64_t now, absl::Duration took = absl::ZeroDuration()) {
    const int doublings = static_cast<int>(std::min<uint64_t>(failures_++, 10));
    const absl::Duration pause = std::min(kFirst * (int64_t{1} << doublings), most_);
    try_at_ = now + absl::ToInt64Nanoseconds(std::max(pause, took));
  }
  // Something has changed that may help: the pause is over, and the next one is as long as it would
  // have been.
  void TryNow() { try_at_ = 0; }
  // What is left of the pause; zero before the first failure.
  absl::Duration Left(int64_t now) const {
    return absl::Nanoseconds(std::max<int64_t>(try_at_ - now, 0));
  }
  bool IsDue(int64_t now) const { return now >= try_at_; }
  // In a row.
  uint64_t failures() const { return failures_; }

 private:
  absl::Duration most_;
  uint64_t failures_ = 0;
  int64_t try_at_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_RETRY_PAUSE_H_
