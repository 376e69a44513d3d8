// Checks whether a caller may read or write what it requests (section 5.3 of the paper: "the server
// checks that it is well-formed, and that the sender is authorized"). The access lists of the
// column families decide. Each check reads them from the lock service, almost always from the
// session's cache, which is never stale. So once a change of a list has returned, it holds for
// every call that begins later.
//
// Only callers that have a name are checked. The program itself may do everything.
#ifndef BIGTABLE_ADMISSION_ACCESS_CONTROL_H_
#define BIGTABLE_ADMISSION_ACCESS_CONTROL_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/access_list.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "lockservice/lock_service.h"
#include "read/filter_node.h"
#include "schema/table_layout.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// The access lists, decoded, as they were last read. Thread-safe.
class AccessControl {
 public:
  // `session` outlives this.
  explicit AccessControl(LockSession* session) : session_(session) {}
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // The present list; null if there is none. Costs a copy of its file from the session's cache,
  // under a mutex of that session, or a call of the lock service, which may wait for its disk.
  // Errors of LockSession::Read, those of the limits included, and of DecodeAccessList.
  absl::StatusOr<std::shared_ptr<const AccessList>> Find(const std::string& name,
                                                         const CallLimits& limits);

 private:
  struct Known {
    Generation generation = kNoFile;
    std::shared_ptr<const AccessList> list;
  };

  LockSession* const session_;
  Mutex mutex_;
  std::map<std::string, Known, std::less<>> known_ ABSL_GUARDED_BY(mutex_);
};

// The checks of one call, which reads each list at most once. A family without an access list is
// open to all callers; a family whose list does not exist is open to none. PermissionDenied names
// the caller, the family and the list. An error of reading a list is returned as it is. One thread
// at a time.
class AccessCheck {
 public:
  // All but the limits outlive this. The limits end a wait for a list that is being written.
  AccessCheck(AccessControl* control, std::string_view caller, const CallLimits& limits)
      : control_(control), caller_(caller), limits_(limits) {}

  // Checks each family of which cells may pass the filter (null: all pass). METADATA's families
  // have no lists, because every caller may look up tablets.
  absl::Status CheckRead(const TableLayout& layout, const FilterNode* filter);
  // Checks each family that a mutation, which is well formed, names; the deletion of a row concerns
  // all families of the table. Only the program itself writes to METADATA. A mutation that has an
  // error keeps it. Returns whether any mutation may be applied.
  bool CheckWrites(const TableLayout& layout, absl::Span<const EncodedMutation> mutations,
                   absl::Span<absl::Status> statuses);

 private:
  enum class Right { kRead, kWrite };

  absl::Status CheckWrite(const TableLayout& layout, std::string_view operations);
  absl::Status Check(Right right, const TableLayout& layout, const FamilyLayout& family);

  AccessControl* const control_;
  const std::string_view caller_;
  const CallLimits limits_;
  // By name. Most tables have few lists.
  absl::InlinedVector<std::pair<std::string, std::shared_ptr<const AccessList>>, 2> lists_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ADMISSION_ACCESS_CONTROL_H_
