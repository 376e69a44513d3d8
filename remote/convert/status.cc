#include "remote/convert/status.h"

#include <string>

#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"

#include "admission/quota_error.h"

namespace bigtable::remote {
namespace {

absl::Status ToStatus(int code, const std::string& message, const google::rpc::Status& details) {
  if (code == 0) return absl::OkStatus();
  // A number that is no code, since any byte may come.
  const auto known =
      code > 0 && code <= 16 ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown;
  absl::Status status(known, message);
  for (const google::protobuf::Any& detail : details.details()) {
    google::rpc::RetryInfo info;
    if (!detail.Is<google::rpc::RetryInfo>() || !detail.UnpackTo(&info)) continue;
    const absl::Duration wait =
        absl::Seconds(info.retry_delay().seconds()) + absl::Nanoseconds(info.retry_delay().nanos());
    if (wait >= absl::ZeroDuration()) SetRetryAfter(wait, &status);
  }
  return status;
}

}  // namespace

absl::Status ToStatus(const grpc::Status& status) {
  google::rpc::Status details;
  if (!status.ok() && !details.ParseFromString(status.error_details())) details.Clear();
  return ToStatus(static_cast<int>(status.error_code()), status.error_message(), details);
}

absl::Status ToStatus(const google::rpc::Status& status) {
  return ToStatus(status.code(), status.message(), status);
}

}  // namespace bigtable::remote
