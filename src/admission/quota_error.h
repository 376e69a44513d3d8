// The errors of calls that a quota refuses: ResourceExhausted, with the time to wait as a payload,
// which bigtable::RetryAfter reads.
#ifndef BIGTABLE_ADMISSION_QUOTA_ERROR_H_
#define BIGTABLE_ADMISSION_QUOTA_ERROR_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace bigtable {

// `quota`: as in "the quota of 5 requests a second of table t". `nanos`: how long to wait.
absl::Status RateQuotaError(std::string_view quota, int64_t nanos);
// Adds the time to wait to another error.
void SetRetryAfter(absl::Duration wait, absl::Status* status);
absl::Status StorageQuotaError(uint64_t limit, std::string_view whose, uint64_t stored);

}  // namespace bigtable

#endif  // BIGTABLE_ADMISSION_QUOTA_ERROR_H_
