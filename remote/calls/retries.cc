#include "remote/calls/retries.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/time/clock.h"

#include "bigtable/quota.h"

#include "base/catch_thrown.h"
#include "base/status.h"
#include "base/strings.h"
#include "remote/calls/poll_interval.h"

namespace bigtable::remote {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(10);
constexpr absl::Duration kLongestPause = absl::Seconds(5);

// A connection that was lost within a call, as gRPC and Google's servers report it.
bool IsLostConnection(const absl::Status& error) {
  if (!absl::IsInternal(error)) return false;
  const std::string_view message = ToStd(error.message());
  for (const std::string_view mark :
       {"RST_STREAM", "Rst Stream", "RST stream", "Received unexpected EOS on DATA frame"}) {
    if (message.find(mark) != message.npos) return true;
  }
  return false;
}

}  // namespace

bool IsPassing(const absl::Status& error) {
  if (error.ok()) return false;
  return absl::IsUnavailable(error) || absl::IsAborted(error) || absl::IsDeadlineExceeded(error) ||
         RetryAfter(error).has_value() || IsLostConnection(error);
}

absl::Duration PauseAfter(absl::Duration pause) { return std::min(2 * pause, kLongestPause); }

Retries::Retries(Connection* connection, const CallLimits* limits)
    : connection_(connection), limits_(limits) {
  Restart();
}

void Retries::Restart() {
  end_ = Deadline::In(connection_->options().retry_for);
  pause_ = kFirstPause;
}

absl::Status Retries::Pause(const absl::Status& error) {
  BT_RETURN_IF_ERROR(limits_->Check());
  BT_RETURN_IF_ERROR(connection_->CheckOpen());
  absl::Duration wait = pause_ * absl::Uniform(random_, 0.5, 1.0);
  if (const std::optional<absl::Duration> asked = RetryAfter(error)) wait = *asked;
  pause_ = PauseAfter(pause_);
  // The next attempt would come too late.
  if (wait >= std::min(end_.left(), limits_->deadline.left())) return error;
  if (const auto& on_retry = connection_->options().on_retry) {
    BT_RETURN_IF_ERROR(CatchThrown("RemoteOptions::on_retry", [&] { on_retry(error, wait); }));
  }
  const Deadline next = Deadline::In(wait);
  while (!next.has_passed()) {
    absl::SleepFor(std::clamp(next.left(), absl::ZeroDuration(), kPollInterval));
    BT_RETURN_IF_ERROR(limits_->Check());
    BT_RETURN_IF_ERROR(connection_->CheckOpen());
  }
  return absl::OkStatus();
}

}  // namespace bigtable::remote
