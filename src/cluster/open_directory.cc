#include "cluster/open_directory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

// Whether there is a database. An error if that cannot be determined.
absl::StatusOr<bool> HasRoot(FileSystem* file_system, const SmallFiles& lock_files) {
  const absl::Status found = file_system->FileSize(lock_files.PathOf(RootTablet::kFile)).status();
  if (absl::IsNotFound(found)) return false;
  BT_RETURN_IF_ERROR(found);
  return true;
}

absl::Status Create(const DatabaseDirectory& directory, FileSystem* file_system, RootTablet* root) {
  // An SSTable without a root would be swept as garbage.
  if (file_system->FileExists(directory.sstables())) {
    BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        file_system->ListDirectory(directory.sstables()));
    if (std::any_of(names.begin(), names.end(), [](const std::string& name) {
          return DatabaseDirectory::SSTableNumber(name).has_value();
        })) {
      return absl::DataLossError(Cat(directory.lock_service(), "/", RootTablet::kFile,
                                     ": missing, but there are SSTables"));
    }
  }
  for (const std::string& path :
       {directory.lock_service(), directory.logs(), directory.sstables()}) {
    BT_RETURN_IF_ERROR(file_system->CreateDirectory(path));
  }
  BT_RETURN_IF_ERROR(file_system->SyncDirectory(directory.path()));
  return root->Create();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> OpenDirectory(const DatabaseDirectory& directory,
                                                        const DatabaseOptions& options,
                                                        const SmallFiles& lock_files,
                                                        RootTablet* root) {
  FileSystem* const file_system = options.file_system;
  const absl::Status missing =
      absl::NotFoundError(Cat(directory.path(), ": there is no database here"));
  if (options.read_only) {
    BT_ASSIGN_OR_RETURN(const bool has_root, HasRoot(file_system, lock_files));
    if (!has_root) return missing;
    return file_system->LockFile(directory.lock_file(), FileSystem::LockMode::kShared);
  }
  BT_ASSIGN_OR_RETURN(
      std::unique_ptr<FileLock> lock,
      file_system->LockFile(directory.lock_file(), FileSystem::LockMode::kExclusive));
  BT_ASSIGN_OR_RETURN(const bool has_root, HasRoot(file_system, lock_files));
  if (has_root) {
    if (!options.error_if_exists) return lock;
    return absl::AlreadyExistsError(Cat(directory.path(), ": there is a database here already"));
  }
  if (!options.create_if_missing) return missing;
  BT_RETURN_IF_ERROR(Create(directory, file_system, root));
  return lock;
}

}  // namespace bigtable
