#include "admission/quota_error.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"

#include "bigtable/quota.h"

#include "base/strings.h"

namespace bigtable {
namespace {

// A number of nanoseconds, as text.
constexpr std::string_view kRetryAfter = "bigtable/retry-after";

}  // namespace

absl::Status RateQuotaError(std::string_view quota, int64_t nanos) {
  const absl::Duration wait = absl::Nanoseconds(nanos);
  absl::Status status = absl::ResourceExhaustedError(
      Cat(quota, " is used up; retry in ",
          absl::FormatDuration(absl::Ceil(wait, absl::Microseconds(1)))));
  SetRetryAfter(wait, &status);
  return status;
}

void SetRetryAfter(absl::Duration wait, absl::Status* status) {
  status->SetPayload(ToAbsl(kRetryAfter), absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(wait))));
}

absl::Status StorageQuotaError(uint64_t limit, std::string_view whose, uint64_t stored) {
  return absl::ResourceExhaustedError(Cat("the storage quota of ", limit, " bytes of ", whose,
                                          " is exceeded by ", stored - std::min(stored, limit),
                                          " bytes; retry after data was deleted and compacted"));
}

std::optional<absl::Duration> RetryAfter(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(ToAbsl(kRetryAfter));
  int64_t nanos;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &nanos)) {
    return std::nullopt;
  }
  return absl::Nanoseconds(nanos);
}

}  // namespace bigtable
