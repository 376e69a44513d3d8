#include "convert/status.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"

#include "bigtable/quota.h"
#include "bigtable/string_view.h"
#include "bigtable/system_shortage.h"

#include "admission/quota_error.h"
#include "convert/duration.h"

namespace bigtable::convert {
namespace {

// Headers of HTTP/2 are limited, and the message is sent as one.
constexpr size_t kMostMessageBytes = 2048;

// After how long a call is to come again that met a full disk.
constexpr absl::Duration kShortageDelay = absl::Seconds(1);

std::optional<absl::Duration> DelayOf(const absl::Status& status) {
  if (IsSystemShortage(status)) return kShortageDelay;
  return RetryAfter(status);
}

// A message is a proto's string, which is UTF-8. Ours are, but for one that quotes a path.
std::string MessageOf(const absl::Status& status) {
  std::string message(ToStd(status.message().substr(0, kMostMessageBytes)));
  for (char& c : message) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return message;
}

// A full disk, or no descriptors, is nothing that the caller has used up, and passes.
absl::StatusCode CodeOf(const absl::Status& status) {
  return IsSystemShortage(status) ? absl::StatusCode::kUnavailable : status.code();
}

// A number that is no code, since any may come, is UNKNOWN.
absl::StatusCode ToCode(int number) {
  return number > 0 && number <= 16 ? static_cast<absl::StatusCode>(number)
                                    : absl::StatusCode::kUnknown;
}

absl::Status ToStatus(int code, const std::string& message, const google::rpc::Status& details) {
  if (code == 0) return absl::OkStatus();
  absl::Status status(ToCode(code), message);
  for (const google::protobuf::Any& detail : details.details()) {
    google::rpc::RetryInfo info;
    if (!detail.Is<google::rpc::RetryInfo>() || !detail.UnpackTo(&info)) continue;
    const absl::Duration wait = ToDuration(info.retry_delay());
    if (wait >= absl::ZeroDuration()) SetRetryAfter(wait, &status);
  }
  return status;
}

}  // namespace

absl::Status UnavailableFor(absl::Duration wait, std::string_view message) {
  absl::Status status = absl::UnavailableError(ToAbsl(message));
  SetRetryAfter(wait, &status);
  return status;
}

absl::Status ToStatus(const grpc::Status& status) {
  google::rpc::Status details;
  if (!status.ok() && !details.ParseFromString(status.error_details())) details.Clear();
  return ToStatus(static_cast<int>(status.error_code()), status.error_message(), details);
}

absl::Status ToStatus(const google::rpc::Status& status) {
  return ToStatus(status.code(), status.message(), status);
}

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status proto;
  if (status.ok()) return proto;
  proto.set_code(static_cast<int>(CodeOf(status)));
  proto.set_message(MessageOf(status));
  if (const std::optional<absl::Duration> wait = DelayOf(status)) {
    google::rpc::RetryInfo info;
    *info.mutable_retry_delay() = ToProto(*wait);
    proto.add_details()->PackFrom(info);
  }
  return proto;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status proto = ToRpcStatus(status);
  return grpc::Status(static_cast<grpc::StatusCode>(proto.code()), proto.message(),
                      proto.details().empty() ? std::string() : proto.SerializeAsString());
}

}  // namespace bigtable::convert
