// The existing tables with their schemas, as the master has read them from the lock service
// (master/schema_store.h).
#ifndef BIGTABLE_MASTER_TABLE_CATALOGUE_H_
#define BIGTABLE_MASTER_TABLE_CATALOGUE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/mutex.h"
#include "base/sequence.h"
#include "master/schema_store.h"
#include "schema/table_layout.h"

namespace bigtable {

// Thread-safe.
class TableCatalogue {
 public:
  // `session` outlives this.
  explicit TableCatalogue(LockSession* session) : schemas_(session) {}
  TableCatalogue(const TableCatalogue&) = delete;
  TableCatalogue& operator=(const TableCatalogue&) = delete;

  // Held during a change of a table and during an assignment of users' tablets, from the first step
  // to the last, so that tablets are loaded with the current schema. Locked before every other
  // mutex of the master.
  Mutex& change_mutex() ABSL_LOCK_RETURNED(change_mutex_) { return change_mutex_; }

  // Reads all schemas, and advances `sequences` past the numbers in them. Errors of SchemaStore.
  absl::Status Read(SequenceSource* sequences) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // NotFound, with names of existing tables.
  absl::StatusOr<TableLayout> Find(std::string_view name) const;
  absl::StatusOr<uint64_t> FindId(std::string_view name) const;
  bool Has(std::string_view name) const;
  // NotFound: the table with this id was deleted.
  absl::Status Check(uint64_t table_id) const;
  std::vector<std::shared_ptr<const TableLayout>> All() const;

  // Sets the layout that the schema's file now has.
  void Set(const TableLayout& layout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  void Erase(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  // The schemas' files.
  SchemaStore* schemas() { return &schemas_; }

 private:
  SchemaStore schemas_;
  Mutex change_mutex_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<const TableLayout>, std::less<>> tables_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint64_t> ids_ ABSL_GUARDED_BY(mutex_);  // of these tables
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_TABLE_CATALOGUE_H_
