// BackupEngine::RestoreTable: brings a table of a backup into an open database, as a table of its
// own.
//
//   SSTables -> the directory, under new numbers -> METADATA, with the tablets of the backup ->
//   the schema file, which decides (master/table_changes.h)
//
// The entries keep their sequence numbers, and the id of the table is larger than all of them. So
// nothing of the table is newer than what is written to it later, and a read at a snapshot from
// before finds nothing in it (DataPath::BeginRead).
#ifndef BIGTABLE_TRANSFER_TABLE_RESTORE_H_
#define BIGTABLE_TRANSFER_TABLE_RESTORE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

#include "bigtable/file_system.h"

#include "admission/quota_control.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "cluster/storage.h"
#include "master/table_changes.h"

namespace bigtable {

// What it uses of an open database.
struct TableRestoreParts {
  ClusterStorage* storage = nullptr;
  QuotaControl* quotas = nullptr;
  InfoLog* info_log = nullptr;
  // AlreadyExists if there is a table of this name.
  std::function<absl::Status(const std::string& table)> check_name;
  // TableChanges::RestoreTable.
  std::function<absl::Status(RestoredTable table, bool* may_be_named)> add;
};

// Writes the SSTable of a backup that has this number there to a path, complete and synced.
using CopyOfBackup = std::function<absl::Status(uint64_t number, FileSystem* files,
                                                const std::string& path, const CallLimits& limits)>;

// `table` has the numbers that its SSTables have in the backup. FailedPrecondition: its sequence
// numbers leave no room for others. ResourceExhausted: a quota of storage is exceeded. Errors of
// `copy` and of the parts. After an error no file is in the directory, unless METADATA may name it.
absl::Status RestoreTable(const TableRestoreParts& parts, RestoredTable table,
                          const CopyOfBackup& copy, const CallLimits& limits);

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_TABLE_RESTORE_H_
