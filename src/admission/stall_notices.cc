#include "admission/stall_notices.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

namespace bigtable {

std::optional<StallNotices::Change> StallNotices::Record(StallReason reason, absl::Duration waited,
                                                         SteadyTime now) {
  constexpr int kSubtracted = 5;
  now = std::max(now, noted_at_);  // another thread may have read the clock later
  if (reason != StallReason::kNone && reason != reason_) {
    reason_ = reason;
    reason_since_ = now;
  }
  collected_ = std::max(collected_ - (now - noted_at_) / kSubtracted, absl::ZeroDuration());
  collected_ = std::min(collected_ + waited, kBegin);
  noted_at_ = now;
  ABSL_ASSERT(collected_ >= absl::ZeroDuration() && collected_ <= kBegin &&
              "no more is collected than begins a stall");
  if (waited > absl::ZeroDuration()) waited_at_ = now;
  if (reported_ == StallReason::kNone) {
    return collected_ >= kBegin ? Report(reason_, now) : std::nullopt;
  }
  if (now - waited_at_ >= kEnd) {
    collected_ = absl::ZeroDuration();
    return Report(StallReason::kNone, now);
  }
  if (reason_ != reported_ && now - reason_since_ >= kEnd) return Report(reason_, now);
  return std::nullopt;
}

std::optional<StallNotices::Change> StallNotices::Report(StallReason reason, SteadyTime now) {
  ABSL_ASSERT(reason != reported_ && "only a change is reported");
  if (reported_ == StallReason::kNone) begun_at_ = now;
  return Change{
      .before = std::exchange(reported_, reason), .now = reason, .lasted = now - begun_at_};
}

}  // namespace bigtable
