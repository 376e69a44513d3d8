// The description of a backup: a small file (lockservice/small_files.h), whose checksum covers all
// of it, in the directory `backups` of the backups. As bytes:
//
//   version 2 | time, in microseconds, zigzag | sequence number | description
//   | when it expires, in microseconds, zigzag; 2^63 - 1: never. Not in version 1
//   | new files | new bytes
//   | files of the lock service: count, then each: name, contents
//   | SSTables: count, then each: number, size, identity, checksum
//   | tablets: count, then each: its row in METADATA, the operations that write that row,
//     the numbers of its SSTables: count, then each
//
// Numbers are varints; identities and checksums have 8 bytes. Texts are preceded by their length.
#ifndef BIGTABLE_TRANSFER_BACKUP_MANIFEST_H_
#define BIGTABLE_TRANSFER_BACKUP_MANIFEST_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/sequence.h"

namespace bigtable {

// An SSTable of a backup. Files with one identity and size are one file.
struct BackupFile {
  uint64_t number = 0;  // in the database
  uint64_t size = 0;
  uint64_t identity = 0;
  uint64_t checksum = 0;  // ChecksumOfFile

  friend bool operator==(const BackupFile&, const BackupFile&) = default;
};

struct BackupTablet {
  std::string row;
  std::string operations;
  std::set<uint64_t> files;  // BackupFile::number

  friend bool operator==(const BackupTablet&, const BackupTablet&) = default;
};

struct BackupManifest {
  absl::Time time;
  SequenceNumber sequence = 0;
  std::string description;
  absl::Time expire_time = absl::InfiniteFuture();
  uint64_t new_files = 0;
  uint64_t new_bytes = 0;
  std::map<std::string, std::string> service_files;  // as of DatabaseImage
  std::vector<BackupFile> files;
  std::vector<BackupTablet> tablets;

  std::string Encode() const;
  // DataLoss; FailedPrecondition for a later version.
  static absl::StatusOr<BackupManifest> Decode(std::string_view bytes);

  friend bool operator==(const BackupManifest&, const BackupManifest&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_BACKUP_MANIFEST_H_
