#include "server/convert/status.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"

#include "bigtable/quota.h"
#include "bigtable/string_view.h"
#include "bigtable/system_shortage.h"

namespace bigtable::server {
namespace {

// Headers of HTTP/2 are limited, and the message is sent as one.
constexpr size_t kMostMessageBytes = 2048;

// After how long a call is to come again that met a full disk.
constexpr absl::Duration kShortageDelay = absl::Seconds(1);

// A payload of a status: nanoseconds.
constexpr std::string_view kRetryDelay = "bigtable-server/retry-delay";

std::optional<absl::Duration> DelayOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(ToAbsl(kRetryDelay));
  int64_t nanoseconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &nanoseconds)) {
    return IsSystemShortage(status) ? std::optional(kShortageDelay) : RetryAfter(status);
  }
  return absl::Nanoseconds(nanoseconds);
}

void SetRetryDelay(absl::Duration wait, absl::Status* status) {
  status->SetPayload(ToAbsl(kRetryDelay), absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(wait))));
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

google::rpc::RetryInfo RetryInfoOf(absl::Duration wait) {
  google::rpc::RetryInfo info;
  absl::Duration rest;
  info.mutable_retry_delay()->set_seconds(absl::IDivDuration(wait, absl::Seconds(1), &rest));
  info.mutable_retry_delay()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return info;
}

}  // namespace

absl::Status UnavailableFor(absl::Duration wait, std::string_view message) {
  absl::Status status = absl::UnavailableError(ToAbsl(message));
  SetRetryDelay(wait, &status);
  return status;
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(static_cast<int>(status.error_code())),
                      status.error_message());
  google::rpc::Status proto;
  if (status.error_details().empty() || !proto.ParseFromString(status.error_details())) {
    return result;
  }
  for (const auto& detail : proto.details()) {
    google::rpc::RetryInfo info;
    if (!detail.UnpackTo(&info)) continue;
    SetRetryDelay(
        absl::Seconds(info.retry_delay().seconds()) + absl::Nanoseconds(info.retry_delay().nanos()),
        &result);
  }
  return result;
}

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status proto;
  if (status.ok()) return proto;
  proto.set_code(static_cast<int>(CodeOf(status)));
  proto.set_message(MessageOf(status));
  if (const std::optional<absl::Duration> wait = DelayOf(status)) {
    proto.add_details()->PackFrom(RetryInfoOf(*wait));
  }
  return proto;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status proto = ToRpcStatus(status);
  return grpc::Status(static_cast<grpc::StatusCode>(proto.code()), proto.message(),
                      proto.details().empty() ? std::string() : proto.SerializeAsString());
}

}  // namespace bigtable::server
