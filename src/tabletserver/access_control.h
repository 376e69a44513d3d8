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

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/access_list.h"

#include "base/mutex.h"
#include "lockservice/lock_service.h"
#include "tablet/filter_node.h"
#include "tablet/table_layout.h"

namespace bigtable {

// Thread-safe. A family without an access list is open to everybody, one whose list is not there to
// nobody. PermissionDenied names the caller, the family and the list; what keeps a list from being
// read is returned as it is.
class AccessControl {
 public:
  // `session` outlives this.
  explicit AccessControl(LockSession* session) : session_(session) {}
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // For each family of which something may pass the filter (null: everything passes).
  absl::Status CheckRead(std::string_view caller, const TableLayout& layout,
                         const FilterNode* filter);
  // For each family that the operations (tablet/mutation_format.h), which are well formed, name; to
  // delete a row, for all of the table. METADATA is written by the program alone.
  absl::Status CheckWrite(std::string_view caller, const TableLayout& layout,
                          std::string_view operations);

 private:
  enum class Right { kRead, kWrite };
  // A list, as it was read last.
  struct Known {
    Generation generation = kNoFile;
    std::shared_ptr<const AccessList> list;
  };

  absl::Status Check(std::string_view caller, Right right, const TableLayout& layout,
                     const FamilyLayout& family);
  // Null: there is none.
  absl::StatusOr<std::shared_ptr<const AccessList>> Find(const std::string& name);

  LockSession* const session_;
  Mutex mutex_;
  // Taken apart, so that this is not done for each call.
  std::map<std::string, Known, std::less<>> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_ACCESS_CONTROL_H_
