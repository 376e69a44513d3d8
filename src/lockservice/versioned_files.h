// The files of the lock service on disk, each with its generation (lock_service.h): SmallFiles and
// the generation counter, with the handling of failed calls of the file system.
//
// Invariants:
//   * What Find or List returned, and what Write and Remove returned OK for, survives a power loss.
//     A process may be killed, or a call may fail, between a rename and the sync that makes it
//     durable. Therefore a directory and all above it are synced before this object first reads it,
//     and again after a write or removal in it has failed.
//   * After a power loss a file has the contents and the generation of one write.
//   * A generation is on disk for one write only.
#ifndef BIGTABLE_LOCKSERVICE_VERSIONED_FILES_H_
#define BIGTABLE_LOCKSERVICE_VERSIONED_FILES_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "lockservice/generation_counter.h"
#include "lockservice/lock_service.h"
#include "lockservice/small_files.h"

namespace bigtable {

// The copies of files (small_files.h). Plain value.
struct SmallFileCopies {
  std::string directory = {};  // empty: there are none
  // A file that was read from its copy is written again.
  bool may_write = true;
  // Called for each of these.
  std::function<void(std::string_view name, const absl::Status& damage)> on_use = nullptr;
};

// One thread at a time, and the only writer of the directory. Names must be valid (file_name.h).
class VersionedFiles {
 public:
  // Arguments as of SmallFiles.
  VersionedFiles(FileSystem* file_system, std::string directory, SmallFileCopies copies = {});

  // Called once, before anything else.
  absl::Status Load() { return counter_.Load(); }

  // Nullopt if there is no such file. Errors of SmallFiles::Read; DataLoss if the file's generation
  // is above the counter's bound.
  absl::StatusOr<std::optional<LockServiceFile>> Find(std::string_view name);
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory);

  // A generation that was never assigned before.
  absl::StatusOr<Generation> NextGeneration();
  // OK if a file of this name could exist. InvalidArgument if it is a directory, or if one of its
  // directories is a file.
  absl::Status CheckParent(std::string_view name);

  // After an error the file is either the old one or the new one; the next Find determines which,
  // finally.
  absl::Status Write(std::string_view name, std::string_view contents, Generation generation);
  absl::Status Remove(std::string_view name);

 private:
  // Makes the directory durable as it is. False if it does not exist.
  absl::StatusOr<bool> MakeDurable(std::string_view directory);
  bool IsFile(std::string_view name) const;
  bool IsDirectory(std::string_view name) const;

  FileSystem* const file_system_;
  const SmallFileCopies copies_;
  SmallFiles files_;
  GenerationCounter counter_;
  // Directories that are durable, with everything in them.
  std::set<std::string, std::less<>> durable_;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_VERSIONED_FILES_H_
