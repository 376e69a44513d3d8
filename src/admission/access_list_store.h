// Access lists. Each is a small file of the lock service, "access/NAME". As bytes:
//
//   format version 1 | readers: count, then each | writers: count, then each
//
// Numbers are varints. Texts have their length before them, and are sorted.
//
// Worked example: readers a and b, all callers are writers: 01 02 01 61 01 62 01 01 2a.
#ifndef BIGTABLE_ADMISSION_ACCESS_LIST_STORE_H_
#define BIGTABLE_ADMISSION_ACCESS_LIST_STORE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/access_list.h"

#include "base/call_limits.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// InvalidArgument names the value and the rule.
absl::Status CheckAccessList(std::string_view name, const AccessList& list);

std::string EncodeAccessList(const AccessList& list);
// DataLoss; FailedPrecondition if the format version is a later one.
absl::StatusOr<AccessList> DecodeAccessList(std::string_view bytes);

// Thread-safe. Writes fail once the session is lost.
class AccessListStore {
 public:
  static constexpr std::string_view kDirectory = "access";

  // `session` outlives this.
  explicit AccessListStore(LockSession* session) : session_(session) {}

  static std::string FileOf(std::string_view name);

  // The limits end a wait for a write of the lock service.

  absl::StatusOr<std::vector<std::string>> Names(const CallLimits& limits = {}) const;  // sorted
  // NotFound; the message lists the names that exist.
  absl::StatusOr<AccessList> Read(std::string_view name, const CallLimits& limits = {}) const;
  // Once it has returned, no later check uses the list as it was before.
  absl::Status Write(std::string_view name, const AccessList& list);
  absl::Status Remove(std::string_view name);  // NotFound, as above

 private:
  absl::Status NoList(std::string_view name, const CallLimits& limits) const;

  LockSession* const session_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ADMISSION_ACCESS_LIST_STORE_H_
