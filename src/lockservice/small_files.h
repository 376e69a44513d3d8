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
// A second copy of each file may be kept in a directory of its own, under the same name, so that
// one damaged or missing file loses nothing. It is written before the file, and removed before it,
// each time durably: so the copy is the same as the file, or that of a write which has not ended.
// It is read if the file is damaged or missing. Files in `servers/` have none: they come and go
// with each opening, and a repair does without them.
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
  absl::Status damage;  // not OK: the file's error, and this was read from its copy
};

// Thread-safe, if no two threads write the same file at a time.
class SmallFiles {
 public:
  // Of files of format 1, and of writers that do not count generations. Smaller than all others.
  static constexpr uint64_t kUnknownGeneration = 1;

  // The files are in `directory`; its parent exists. Nothing is created before the first write.
  // Copies are kept in the directory `copies`, if that is not empty; its parent need not exist, but
  // the parent of that.
  SmallFiles(FileSystem* file_system, std::string directory, std::string copies = {})
      : file_system_(file_system), directory_(std::move(directory)), copies_(std::move(copies)) {}

  // NotFound; DataLoss: the bytes are damaged; FailedPrecondition: they are of a later format.
  // Of a file whose copy is sound neither of the first two.
  absl::StatusOr<std::string> Read(std::string_view name) const;
  absl::StatusOr<SmallFile> ReadWithGeneration(std::string_view name) const;
  // Creates or replaces a file and its copy, durably. Creates its directory if needed.
  absl::Status Write(std::string_view name, std::string_view contents,
                     uint64_t generation = kUnknownGeneration);
  // Writes a file again from its copy.
  absl::Status Restore(std::string_view name);
  // Durable. NotFound.
  absl::Status Remove(std::string_view name);
  bool Exists(std::string_view name) const;
  // The names of the files in a directory ("" for the top directory), sorted, without the
  // directory's name; empty if there is no such directory. Subdirectories are not listed.
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory) const;
  // The path of a file or directory; "" is the top directory.
  std::string PathOf(std::string_view name) const;

 private:
  bool HasCopy(std::string_view name) const;
  absl::StatusOr<SmallFile> ReadAt(const std::string& path, std::string_view name) const;
  absl::Status WriteAt(const std::string& directory, std::string_view name,
                       std::string_view bytes) const;
  absl::Status RemoveAt(const std::string& path) const;
  absl::Status ListAt(const std::string& path, std::vector<std::string>* files) const;
  absl::Status CreateDirectories(const std::string& directory, std::string_view name) const;
  absl::Status CreateDirectory(const std::string& path) const;

  FileSystem* const file_system_;
  const std::string directory_;
  const std::string copies_;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_SMALL_FILES_H_
