#include "tools/status.h"

#include "absl/strings/cord.h"

namespace bigtable::tools {
namespace {

// Marks the statuses of UsageError: the engine's InvalidArgument is not one.
constexpr char kUsagePayload[] = "bigtable/usage";

}  // namespace

absl::Status UsageError(std::string message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

// Not Unavailable, which is a server's.
absl::Status StreamError(std::string message) { return absl::UnknownError(message); }

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kDone;
  if (status.GetPayload(kUsagePayload).has_value()) return kUsage;
  return absl::IsNotFound(status) ? kNotFound : kFailed;
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace bigtable::tools
