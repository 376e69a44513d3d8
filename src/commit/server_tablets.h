// The tablets of a server, by table and end row. No two of them have a row in common, except that a
// superseded tablet stays until the server has removed it.
//
// Thread-safe. The lock is held briefly, and no other lock is taken under it. TabletServer alone
// adds and removes tablets, because the list of rotated tablets (memtable_rotation.h) changes in
// the same step.
#ifndef BIGTABLE_COMMIT_SERVER_TABLETS_H_
#define BIGTABLE_COMMIT_SERVER_TABLETS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "tablet/tablet.h"
#include "tablet/tablet_id.h"

namespace bigtable {

class ServerTablets {
 public:
  ServerTablets() = default;
  ServerTablets(const ServerTablets&) = delete;
  ServerTablets& operator=(const ServerTablets&) = delete;

  void Add(std::shared_ptr<Tablet> tablet);
  // Of a deleted table: marks the tablet removed, removes it and returns it. Null if there is none
  // with this id.
  std::shared_ptr<Tablet> RemoveDeleted(const TabletId& id);
  // Does nothing if another tablet has the id.
  void Remove(const Tablet& tablet);
  void Replace(const Tablet& tablet, const Tablet::Halves& halves);

  // The tablet of a table that has `row`; null if it is not on this server.
  std::shared_ptr<Tablet> Find(uint64_t table_id, std::string_view row) const;
  // The tablet that has the table's last rows before `row`, or its last rows if there is no `row`;
  // null if it is not on this server.
  std::shared_ptr<Tablet> FindBefore(uint64_t table_id,
                                     const std::optional<std::string>& row) const;
  // The tablet with this id; null if it is not on this server.
  std::shared_ptr<Tablet> Get(const TabletId& id) const;
  // Those of a table, in key order. The cost does not depend on other tables.
  std::vector<std::shared_ptr<Tablet>> Of(uint64_t table_id) const;
  std::vector<std::shared_ptr<Tablet>> All() const;
  size_t size() const;

 private:
  // Whether another tablet that is not superseded has rows of this one. For assertions.
  bool HasRowsOf(const Tablet& tablet) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::map<TabletId, std::shared_ptr<Tablet>> tablets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_SERVER_TABLETS_H_
