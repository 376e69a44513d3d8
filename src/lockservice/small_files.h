// The small files of the lock service (Chubby's role in the paper, section 4): where METADATA
// begins, what the tables' schemas are, which tablet servers there are. Reads and writes are of
// whole files and atomic: after a crash a file has its old contents or its new ones.
//
// A file "schema/web" is stored in a file of that path under the service's directory:
//
//   +----------+----------------+----------+------------+-----------+
//   | magic    | format version | checksum | generation | contents  |
//   | 8 bytes  | 4              | 8        | 8          | the rest  |
//   +----------+----------------+----------+------------+-----------+
//
// The generation tells one state of a file from every other (lock_service.h). The checksum is of
// the file's name, a zero byte, the format version, the generation and the contents, so that a file
// in the wrong place is not taken for another. A new version is written beside the old one as
// NAME~, synced, and renamed; no file's own name ends so.
//
// Worked example: "root" with generation 7 and contents "x" is 29 bytes: "BTSMALLF", 02 00 00 00,
// XXH3 of "root\0", 02 00 00 00, 07 00 00 00 00 00 00 00, "x"; 07 00 00 00 00 00 00 00, 78.
//
// Format 1 had no generation, and a checksum of the name, a zero byte and the contents. Such files
// are read, and their generation is kUnknownGeneration; they are not written any more.
#ifndef BIGTABLE_LOCKSERVICE_SMALL_FILES_H_
#define BIGTABLE_LOCKSERVICE_SMALL_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

namespace bigtable {

struct SmallFile {
  std::string contents;
  uint64_t generation = 0;
};

// Thread-safe as long as no two threads write the same file at a time.
class SmallFiles {
 public:
  // Of files of format 1, and of those whose writer counts no generations. Smaller than all others.
  static constexpr uint64_t kUnknownGeneration = 1;

  // `directory` is where they are; its parent exists. Nothing is created before the first write.
  SmallFiles(FileSystem* file_system, std::string directory)
      : file_system_(file_system), directory_(std::move(directory)) {}

  // NotFound; DataLoss when the bytes are damaged; FailedPrecondition when they are of a later
  // format.
  absl::StatusOr<std::string> Read(std::string_view name) const;
  absl::StatusOr<SmallFile> ReadWithGeneration(std::string_view name) const;
  // Creates or replaces a file, durably. Creates the directory it is in.
  absl::Status Write(std::string_view name, std::string_view contents,
                     uint64_t generation = kUnknownGeneration);
  // Durable. NotFound.
  absl::Status Remove(std::string_view name);
  bool Exists(std::string_view name) const;
  // The names of the files in a directory, "" for the top one, sorted, without the directory's
  // name; none if there is no such directory. Directories in it are not listed.
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory) const;
  // Where a file, or a directory, is; "" is the top one.
  std::string PathOf(std::string_view name) const;

 private:
  absl::Status CreateDirectories(std::string_view name);

  FileSystem* const file_system_;
  const std::string directory_;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_SMALL_FILES_H_
