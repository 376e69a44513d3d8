// The files of the lock service on disk, each with its generation (lock_service.h): SmallFiles, the
// counter of generations, and the care that both need when calls of the file system fail.
//
// What always holds:
//   * What Find or List returned, and what Write and Remove returned OK for, survives a power loss.
//     A process may have been killed, or a call may have failed, between a rename and the sync that
//     makes it durable; therefore a directory is synced, with all above it, before this object
//     first looks into it, and again after a write or removal in it has failed.
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

// One thread at a time, and the only writer of the directory. Names are good (file_name.h).
class VersionedFiles {
 public:
  // As SmallFiles.
  VersionedFiles(FileSystem* file_system, std::string directory);

  // Once, before anything else.
  absl::Status Load() { return counter_.Load(); }

  // Nothing if there is no such file. Errors of SmallFiles::Read; DataLoss when the counter knows
  // nothing of the file's generation.
  absl::StatusOr<std::optional<LockServiceFile>> Find(std::string_view name);
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory);

  // One that was never given out before.
  absl::StatusOr<Generation> NextGeneration();
  // OK if a file of this name could be there: InvalidArgument if a directory is, or a file where
  // one of its directories should be.
  absl::Status CheckParent(std::string_view name);

  // After an error the file is the old one or the new one, and stays what Find says next.
  absl::Status Write(std::string_view name, std::string_view contents, Generation generation);
  absl::Status Remove(std::string_view name);

 private:
  // Sees to it that the directory is durable as it is. False if it is not there.
  absl::StatusOr<bool> MakeDurable(std::string_view directory);
  bool IsFile(std::string_view name) const;
  bool IsDirectory(std::string_view name) const;

  FileSystem* const file_system_;
  SmallFiles files_;
  GenerationCounter counter_;
  // Directories in which everything is durable, and they themselves.
  std::set<std::string, std::less<>> durable_;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_VERSIONED_FILES_H_
