// Backups of databases in a directory of their own, which may be on another disk or another file
// system. SSTables are never changed, so a backup stores only those that no earlier one has: the
// tenth backup of a database of which 1% has changed writes about 1%.
//
//   absl::StatusOr<std::unique_ptr<BackupEngine>> backups = BackupEngine::Open("/backups/web");
//   absl::StatusOr<BackupInfo> made = (*backups)->Create(database);
//   ...
//   absl::Status s = (*backups)->Restore(made->id, "/data/web");  // a new directory
//
// A backup has one moment of the whole database, as Database::Checkpoint, and writers do not wait
// for it. Whatever is interrupted, by a crash too, leaves earlier backups as they were, and can be
// repeated; what an interrupted Create has copied of SSTables, the next one finds.
#ifndef BIGTABLE_BACKUP_ENGINE_H_
#define BIGTABLE_BACKUP_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/call_options.h"
#include "bigtable/database.h"
#include "bigtable/export.h"
#include "bigtable/file_system.h"

namespace bigtable {

// A backup that is there. Plain value.
struct BackupInfo {
  // Larger than those of all earlier backups that are there. No other backup gets it as long as the
  // engine is open.
  uint64_t id = 0;
  absl::Time time;  // by the database's clock
  std::string description;
  std::vector<std::string> tables;  // sorted
  uint64_t files = 0;               // SSTables
  uint64_t bytes = 0;
  // Those that no earlier backup had, when it was made.
  uint64_t new_files = 0;
  uint64_t new_bytes = 0;
  absl::Time expire_time = absl::InfiniteFuture();  // see BackupEngine::DeleteExpired
};

// Plain value.
struct CreateBackupOptions {
  std::string description = {};  // at most 4096 bytes
  // The tables to back up. Empty: all.
  std::vector<std::string> tables = {};
  absl::Time expire_time = absl::InfiniteFuture();
  // Called after each SSTable, by the thread of the call, with how many were looked at and the
  // bytes that were copied so far. It must not throw.
  std::function<void(uint64_t files, uint64_t copied_bytes)> on_progress = nullptr;
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

// What BackupEngine::Update and BackupEngine::Copy replace. Plain value.
struct BackupChanges {
  std::optional<std::string> description = std::nullopt;
  std::optional<absl::Time> expire_time = std::nullopt;
};

// Plain value.
struct RestoreOptions {
  // Of the new directory; null: that of the machine. It outlives the call.
  FileSystem* file_system = nullptr;
  // The tables to restore, by their names in the backup, each with its new name. Empty: all, as
  // they are called.
  std::map<std::string, std::string> tables = {};
  // As of CreateBackupOptions.
  std::function<void(uint64_t files, uint64_t copied_bytes)> on_progress = nullptr;
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

// Plain value.
struct RestoreTableOptions {
  // As of CreateBackupOptions.
  std::function<void(uint64_t files, uint64_t copied_bytes)> on_progress = nullptr;
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

// Thread-safe. Get and List wait for nobody. Other calls are made one after the other, and each
// waits within its limits. Errors that any call may return besides its own: those of the file
// system, DeadlineExceeded, Cancelled.
class BIGTABLE_EXPORT BackupEngine {
 public:
  // Opens a directory of backups, of one database or of several, and creates it if there is none.
  // FailedPrecondition: another engine has it open, in this process or another. `file_system`
  // outlives the engine; null: that of the machine.
  static absl::StatusOr<std::unique_ptr<BackupEngine>> Open(std::string_view directory,
                                                            FileSystem* file_system = nullptr);
  ~BackupEngine();
  BackupEngine(const BackupEngine&) = delete;
  BackupEngine& operator=(const BackupEngine&) = delete;

  // Backs up an open database; one that was opened for reading, too. Durable when it returns.
  // NotFound: the database has no such table. Cost: reads and writes the SSTables that no backup
  // has, and what is in memory.
  [[nodiscard]] absl::StatusOr<BackupInfo> Create(Database* database,
                                                  const CreateBackupOptions& options = {});
  // NotFound: no such backup.
  [[nodiscard]] absl::StatusOr<BackupInfo> Get(uint64_t id, const CallOptions& options = {});
  // From the oldest to the newest. DataLoss: the description of one is damaged; the message names
  // it. With `unreadable`, such ones are left out, and their numbers go there.
  [[nodiscard]] absl::StatusOr<std::vector<BackupInfo>> List(
      const CallOptions& options = {}, std::vector<uint64_t>* unreadable = nullptr);
  // Changes what is said of a backup, durably. NotFound.
  [[nodiscard]] absl::Status Update(uint64_t id, const BackupChanges& changes,
                                    const CallOptions& options = {});
  // Makes another backup with the same contents, which can be kept longer. Both have the same
  // files: a copy is none against damage.
  // NotFound.
  [[nodiscard]] absl::StatusOr<BackupInfo> Copy(uint64_t id, const BackupChanges& changes,
                                                const CallOptions& options = {});
  // Reads all files of a backup, and compares them with the checksums that they had when they were
  // copied. NotFound: no such backup. DataLoss: names the file that is missing or differs.
  [[nodiscard]] absl::Status Verify(uint64_t id, const CallOptions& options = {});
  // Deletes a backup, and the SSTables that no backup has. NotFound: it is deleted, perhaps by an
  // earlier call; files that no backup has are removed nevertheless.
  [[nodiscard]] absl::Status Delete(uint64_t id, const CallOptions& options = {});
  // Deletes all but the newest `keep`.
  [[nodiscard]] absl::Status DeleteOld(size_t keep, const CallOptions& options = {});
  // Deletes those whose expire_time is not after `now`, and returns how many. Nothing else deletes
  // a backup by itself. An error, such as that of a damaged description, does not keep the others.
  [[nodiscard]] absl::StatusOr<size_t> DeleteExpired(absl::Time now,
                                                     const CallOptions& options = {});
  // Makes a database in a new or empty directory, whose parent exists: as it was at the time of the
  // backup. Each file is compared with its checksum. NotFound: no such backup, or it has no such
  // table. InvalidArgument: the new name of a table. AlreadyExists: there are files in the
  // directory, or two tables get one name. DataLoss: a file of the backup is missing or damaged.
  // After an error nothing is in the directory.
  [[nodiscard]] absl::Status Restore(uint64_t id, std::string_view directory,
                                     const RestoreOptions& options = {});
  // Adds a table of a backup to an open database, under a name that is free there. It has what it
  // had at the time of the backup: its schema, its tablets and all versions of its cells. Nobody
  // waits for it. Each file is compared with its checksum. Quotas are not restored; access lists
  // must be there. Snapshots from before the call do not see the table's rows. Takes as long as the
  // copy of the files; other calls of the engine wait meanwhile.
  //
  // NotFound: no such backup, no such table in it, or no such access list. AlreadyExists: the
  // name. InvalidArgument: the name; something that the schema needs is not registered, such as an
  // operator. ResourceExhausted: a quota of storage is exceeded already. DataLoss: a file of the
  // backup is missing or damaged. FailedPrecondition: the database is read-only, or another process
  // has it. After an error the database has no such table, except after one of METADATA or the lock
  // service that leaves it open, as of Database::CreateTable.
  [[nodiscard]] absl::Status RestoreTable(uint64_t id, std::string_view table, Database* database,
                                          std::string_view name,
                                          const RestoreTableOptions& options = {});

 private:
  class Impl;
  explicit BackupEngine(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKUP_ENGINE_H_
