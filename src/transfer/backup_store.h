// The directory of backups:
//
//   LOCK                                     held by the engine that has it open
//   backups/NUMBER                           the description of a backup (backup_manifest.h)
//   files/IDENTITY-SIZE-CHECKSUM.sst         SSTables, in hexadecimal digits
//   files/NUMBER.new                         one that is being copied
//
// A file of `files/` has its name only once it is complete and synced. Writing the description
// makes a backup exist, and removing it deletes the backup; then the files that no description
// names are removed. So a crash leaves at most files too many, which the next Create may use, and
// the next Delete removes.
#ifndef BIGTABLE_TRANSFER_BACKUP_STORE_H_
#define BIGTABLE_TRANSFER_BACKUP_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/call_limits.h"
#include "lockservice/small_files.h"
#include "sstable/sstable_info.h"
#include "transfer/backup_manifest.h"

namespace bigtable {

// One thread at a time; Numbers, Has and Read at any time by any thread.
class BackupStore {
 public:
  // Locks the directory, and creates it. FailedPrecondition: it is locked already.
  static absl::StatusOr<std::unique_ptr<BackupStore>> Open(FileSystem* file_system,
                                                           std::string_view directory);
  FileSystem* file_system() const { return file_system_; }

  // --- Descriptions ---

  // The numbers of all backups, ascending.
  absl::StatusOr<std::vector<uint64_t>> Numbers() const;
  bool Has(uint64_t number) const { return descriptions_.Exists(NameOf(number)); }
  // NotFound; DataLoss; the message names the backup.
  absl::StatusOr<BackupManifest> Read(uint64_t number) const;
  absl::Status Write(uint64_t number, const BackupManifest& manifest);
  // Then RemoveUnnamed.
  absl::Status Remove(uint64_t number);

  // --- SSTables ---

  // By identity and size, with their checksums.
  using Files = std::map<std::pair<uint64_t, uint64_t>, uint64_t>;
  absl::StatusOr<Files> ListFiles() const;
  std::string PathOf(const BackupFile& file) const;
  // Where a copy is written, until it gets its name.
  std::string PathOfNew(uint64_t number) const;
  // Names a synced copy.
  absl::Status Name(uint64_t number, const BackupFile& file);
  // To be called before a description that names new files is written.
  absl::Status SyncFiles();
  // Removes copies that were not finished.
  absl::Status RemoveUnfinished();
  // Removes the files that no description names, and copies that were not finished.
  absl::Status RemoveUnnamed();

 private:
  BackupStore(FileSystem* file_system, std::string_view directory);
  std::string FilesPath() const { return directory_ + "/files"; }
  static std::string NameOf(uint64_t number);

  FileSystem* const file_system_;
  const std::string directory_;
  SmallFiles descriptions_;
  std::unique_ptr<FileLock> lock_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_BACKUP_STORE_H_
