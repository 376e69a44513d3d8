// What a follower has applied, in a table of its own database, so that it is written in the same
// batch as the mutations:
//
//   row                   column      timestamp  value
//   name of a table       p:applied   0          rows/change_position.h
//
// A row is written, durably, before its table is created or changed, and deleted after its table.
// So a table without a row was there before the follower: it is that of a copy of the database that
// is followed.
//
// The promotion deletes the table. So that the directory is not taken for such a copy then, the
// file FOLLOWER is in it, which is written once there is the table, before the first row, and
// stays. Copies of the database do not have the file: those of a promoted one may begin a follower
// of it.
#ifndef BIGTABLE_REPLICATION_FOLLOWER_TABLE_H_
#define BIGTABLE_REPLICATION_FOLLOWER_TABLE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/database.h"
#include "bigtable/file_system.h"
#include "bigtable/row_mutation.h"
#include "bigtable/table.h"

#include "cluster/directory.h"
#include "rows/change_position.h"

namespace bigtable {

class FollowerTable {
 public:
  static constexpr std::string_view kName = "bigtable.follower";

  // Opens or creates it, and the file. FailedPrecondition: there is the file without the table.
  static absl::StatusOr<FollowerTable> Open(Database* database, const DatabaseDirectory& directory,
                                            FileSystem* file_system);

  // By the name of the table. DataLoss.
  absl::StatusOr<std::map<std::string, ChangePosition>> Read() const;
  static RowMutation Set(std::string_view table, const ChangePosition& applied);
  absl::Status Forget(std::string_view table) const;
  Table* table() const { return table_; }

 private:
  explicit FollowerTable(Table* table) : table_(table) {}

  Table* table_;
};

}  // namespace bigtable

#endif  // BIGTABLE_REPLICATION_FOLLOWER_TABLE_H_
