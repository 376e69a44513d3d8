// The small files of the lock service (Chubby's role in the paper, section 4): the location of
// METADATA, the tables' schemas, the tablet servers. Files are read and written whole and
// atomically: after a crash a file has its old contents or its new ones.
//
// A file "schema/web" is stored in a file of that path under the service's directory:
//
//   +----------+----------------+----------+------------+-----------+
//   | magic    | format version | checksum | generation | contents  |
//   | 8 bytes  | 4              | 8        | 8          | the rest  |
//   +----------+----------------+----------+------------+-----------+
//
// The generation distinguishes one state of a file from every other (lock_service.h). The checksum
// covers the file's name, a zero byte, the format version, the generation and the contents, so that
// a file at the wrong path is not taken for another. A new version is written beside the old one as
// NAME~, synced, and renamed; no file's own name ends with '~'.
//
// Worked example: "root" with generation 7 and contents "x" is 29 bytes: "BTSMALLF", 02 00 00 00,
// XXH3 of "root\0", 02 00 00 00, 07 00 00 00 00 00 00 00, "x"; 07 00 00 00 00 00 00 00, 78.
//
// Format 1 had no generation, and a checksum of the name, a zero byte and the contents. Such files
// can be read, with the generation kUnknownGeneration; they are no longer written.
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

// Thread-safe, if no two threads write the same file at a time.
class SmallFiles {
 public:
  // Of files of format 1, and of writers that do not count generations. Smaller than all others.
  static constexpr uint64_t kUnknownGeneration = 1;

  // The files are in `directory`; its parent exists. Nothing is created before the first write.
  SmallFiles(FileSystem* file_system, std::string directory)
      : file_system_(file_system), directory_(std::move(directory)) {}

  // NotFound; DataLoss: the bytes are damaged; FailedPrecondition: they are of a later format.
  absl::StatusOr<std::string> Read(std::string_view name) const;
  absl::StatusOr<SmallFile> ReadWithGeneration(std::string_view name) const;
  // Creates or replaces a file, durably. Creates its directory if needed.
  absl::Status Write(std::string_view name, std::string_view contents,
                     uint64_t generation = kUnknownGeneration);
  // Durable. NotFound.
  absl::Status Remove(std::string_view name);
  bool Exists(std::string_view name) const;
  // The names of the files in a directory ("" for the top directory), sorted, without the
  // directory's name; empty if there is no such directory. Subdirectories are not listed.
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory) const;
  // The path of a file or directory; "" is the top directory.
  std::string PathOf(std::string_view name) const;

 private:
  absl::Status CreateDirectories(std::string_view name);

  FileSystem* const file_system_;
  const std::string directory_;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_SMALL_FILES_H_
