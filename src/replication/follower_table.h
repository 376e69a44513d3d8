// What a follower has applied, in a table of its own database, so that it is written in the same
// batch as the mutations:
//
//   row                   column      timestamp  value
//   name of a table       p:applied   0          rows/change_position.h
//   /source               p:source    0          identity of the database that the positions are
//   of,
//                                                u64 (cluster/database_history.h)
//
// A row is written, durably, before its table is created or changed, and deleted after its table.
// So a table without a row was there before the follower: it is that of a copy of the database that
// is followed. No table is named "/source"; earlier versions did not write that row.
//
// The promotion deletes the table. So that the directory is not taken for such a copy then, the
// file FOLLOWER is in it, which is written once there is the row of the source, before the first
// row of a table, and stays. Copies of the database do not have the file: those of a promoted one
// may begin a follower of it. If a copy has the table, it is that of a follower. Then it goes on
// with what that one follows; or it follows that one, and the table is emptied first.
#ifndef BIGTABLE_REPLICATION_FOLLOWER_TABLE_H_
#define BIGTABLE_REPLICATION_FOLLOWER_TABLE_H_

#include <cstdint>
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

  // Plain value.
  struct Contents {
    uint64_t source = 0;                            // 0: there is no such row
    std::map<std::string, ChangePosition> applied;  // by the name of the table
  };

  // Opens or creates it. FailedPrecondition: there is the file without the table.
  static absl::StatusOr<FollowerTable> Open(Database* database, const DatabaseDirectory& directory,
                                            FileSystem* file_system);

  // Whether the file is there: it is no copy of the database of a follower.
  bool is_marked() const { return is_marked_; }
  // DataLoss.
  absl::StatusOr<Contents> Read() const;
  // Sets the source, and removes the tables that are not in `now` any more, durably and at once.
  // Then writes the file.
  absl::Status Begin(const Contents& before, const Contents& now);
  static RowMutation Set(std::string_view table, const ChangePosition& applied);
  absl::Status Forget(std::string_view table) const;
  Table* table() const { return table_; }

 private:
  FollowerTable(Database* database, Table* table, const DatabaseDirectory& directory,
                FileSystem* file_system, bool is_marked)
      : database_(database),
        table_(table),
        directory_(directory),
        file_system_(file_system),
        is_marked_(is_marked) {}

  Database* database_;
  Table* table_;
  DatabaseDirectory directory_;
  FileSystem* file_system_;
  bool is_marked_;
};

}  // namespace bigtable

#endif  // BIGTABLE_REPLICATION_FOLLOWER_TABLE_H_
