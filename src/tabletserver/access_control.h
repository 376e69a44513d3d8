// Whether somebody may read or write what a request asks for (section 5.3 of the paper: "the server
// checks that it is well-formed, and that the sender is authorized"). What it goes by are the
// access lists of the column families, which are read from the lock service each time: almost
// always from the session's cache, which is never stale. So a change of a list that has returned
// holds for every call that begins after it.
//
// Only for callers that have a name. The program itself may do everything, and is not asked about.
#ifndef BIGTABLE_TABLETSERVER_ACCESS_CONTROL_H_
#define BIGTABLE_TABLETSERVER_ACCESS_CONTROL_H_

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

#include "base/mutex.h"
#include "lockservice/lock_service.h"
#include "read/filter_node.h"
#include "tablet/table_layout.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// The lists, as they were read last, taken apart. Thread-safe.
class AccessControl {
 public:
  // `session` outlives this.
  explicit AccessControl(LockSession* session) : session_(session) {}
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // As it is now; null: there is none. Costs a copy of its file from the session's cache, under a
  // mutex of that session, or a call of the lock service, which may wait for its disk. Errors of
  // LockSession::Read and DecodeAccessList.
  absl::StatusOr<std::shared_ptr<const AccessList>> Find(const std::string& name);

 private:
  struct Known {
    Generation generation = kNoFile;
    std::shared_ptr<const AccessList> list;
  };

  LockSession* const session_;
  Mutex mutex_;
  std::map<std::string, Known, std::less<>> known_ ABSL_GUARDED_BY(mutex_);
};

// What one call may do: it goes by one state of each list, which is looked at once. A family
// without an access list is open to everybody, one whose list is not there to nobody.
// PermissionDenied names the caller, the family and the list; what keeps a list from being read is
// returned as it is. One thread at a time.
class AccessCheck {
 public:
  // Both outlive this.
  AccessCheck(AccessControl* control, std::string_view caller)
      : control_(control), caller_(caller) {}

  // For each family of which something may pass the filter (null: everything passes). METADATA's
  // families have no lists: who looks for a tablet may read them.
  absl::Status CheckRead(const TableLayout& layout, const FilterNode* filter);
  // For each family that a mutation, which is well formed, names; to delete a row, for all of the
  // table. METADATA is written by the program alone. A mutation that has an error keeps it. Whether
  // any may be applied.
  bool CheckWrites(const TableLayout& layout, absl::Span<const EncodedMutation> mutations,
                   absl::Span<absl::Status> statuses);

 private:
  enum class Right { kRead, kWrite };

  absl::Status CheckWrite(const TableLayout& layout, std::string_view operations);
  absl::Status Check(Right right, const TableLayout& layout, const FamilyLayout& family);

  AccessControl* const control_;
  const std::string_view caller_;
  // By name: few tables have more than a few.
  absl::InlinedVector<std::pair<std::string, std::shared_ptr<const AccessList>>, 2> lists_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_ACCESS_CONTROL_H_
