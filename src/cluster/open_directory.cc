#include "cluster/open_directory.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

// What may be in a directory that is to become a database: what an opening makes there before there
// is one, so that one that was interrupted can be made again; and what a new file system has.
constexpr std::array<std::string_view, 13> kAllowedNames = {
    "LOCK", "LOG",    "LOG.old", "OPTIONS",    "OPTIONS~",    "lockservice", "log",
    "sst",  "sorted", "copies",  "lost+found", "aquota.user", "aquota.group"};

bool IsForeign(std::string_view name) {
  return !name.starts_with('.') &&
         std::find(kAllowedNames.begin(), kAllowedNames.end(), name) == kAllowedNames.end();
}

// Whether there is a database. An error if that cannot be determined.
absl::StatusOr<bool> HasRoot(const DatabaseDirectory& directory, FileSystem* file_system) {
  for (const std::string& path : {directory.lock_service(), directory.copies_of_lock_service()}) {
    const absl::Status found = file_system->FileSize(Cat(path, "/", RootTablet::kFile)).status();
    if (absl::IsNotFound(found)) continue;
    BT_RETURN_IF_ERROR(found);
    return true;
  }
  return false;
}

// An SSTable without a root would be swept as garbage.
absl::Status CheckNoSSTables(const DatabaseDirectory& directory, FileSystem* file_system) {
  if (!file_system->FileExists(directory.sstables())) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system->ListDirectory(directory.sstables()));
  if (std::none_of(names.begin(), names.end(), [](const std::string& name) {
        return DatabaseDirectory::SSTableNumber(name).has_value();
      })) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      Cat(directory.lock_service(), "/", RootTablet::kFile, ": missing, but there are SSTables"));
}

absl::Status CheckNoForeignFiles(const DatabaseDirectory& directory, FileSystem* file_system) {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system->ListDirectory(directory.path()));
  const auto foreign = std::find_if(names.begin(), names.end(), IsForeign);
  if (foreign == names.end()) return absl::OkStatus();
  return absl::FailedPreconditionError(Cat(
      directory.path(), ": there is no database here, but other files, such as ", Quoted(*foreign),
      "; a new database needs a directory that is new or empty, or "
      "DatabaseOptions::allow_foreign_files"));
}

absl::Status Create(const DatabaseDirectory& directory, FileSystem* file_system, RootTablet* root) {
  for (const std::string& path :
       {directory.lock_service(), directory.logs(), directory.sstables()}) {
    BT_RETURN_IF_ERROR(file_system->CreateDirectory(path));
  }
  BT_RETURN_IF_ERROR(file_system->SyncDirectory(directory.path()));
  return root->Create();
}

absl::Status CheckNotFenced(const DatabaseDirectory& directory, FileSystem* file_system) {
  const absl::Status found = file_system->FileSize(directory.fence_file()).status();
  if (absl::IsNotFound(found)) return absl::OkStatus();
  BT_RETURN_IF_ERROR(found);
  return absl::FailedPreconditionError(
      Cat(directory.fence_file(),
          ": the database is fenced, because a follower of it has become the writer; it can be "
          "read, and written to again once this file is removed"));
}

// The directory has no root.
absl::Status CheckCreation(const DatabaseDirectory& directory, const DatabaseOptions& options) {
  if (options.read_only || !options.create_if_missing) {
    return absl::NotFoundError(Cat(directory.path(), ": there is no database here"));
  }
  BT_RETURN_IF_ERROR(CheckNoSSTables(directory, options.file_system));
  if (options.allow_foreign_files) return absl::OkStatus();
  return CheckNoForeignFiles(directory, options.file_system);
}

}  // namespace

absl::Status CheckDirectory(const DatabaseDirectory& directory, const DatabaseOptions& options) {
  BT_ASSIGN_OR_RETURN(const bool has_root, HasRoot(directory, options.file_system));
  return has_root ? absl::OkStatus() : CheckCreation(directory, options);
}

absl::StatusOr<std::unique_ptr<FileLock>> OpenDirectory(const DatabaseDirectory& directory,
                                                        const DatabaseOptions& options,
                                                        RootTablet* root) {
  FileSystem* const file_system = options.file_system;
  if (options.read_only) {
    BT_RETURN_IF_ERROR(CheckDirectory(directory, options));
    return file_system->LockFile(directory.lock_file(), FileSystem::LockMode::kShared);
  }
  BT_ASSIGN_OR_RETURN(
      std::unique_ptr<FileLock> lock,
      file_system->LockFile(directory.lock_file(), FileSystem::LockMode::kExclusive));
  BT_RETURN_IF_ERROR(CheckNotFenced(directory, file_system));
  // Once more, with the lock: another process may have created the database meanwhile.
  BT_ASSIGN_OR_RETURN(const bool has_root, HasRoot(directory, file_system));
  if (!has_root) {
    BT_RETURN_IF_ERROR(CheckCreation(directory, options));
    BT_RETURN_IF_ERROR(Create(directory, file_system, root));
  } else if (options.error_if_exists) {
    return absl::AlreadyExistsError(Cat(directory.path(), ": there is a database here already"));
  }
  return lock;
}

absl::Status FenceDirectory(const DatabaseDirectory& directory, FileSystem* file_system) {
  BT_ASSIGN_OR_RETURN(const bool has_root, HasRoot(directory, file_system));
  if (!has_root) {
    return absl::NotFoundError(Cat(directory.path(), ": there is no database here"));
  }
  BT_ASSIGN_OR_RETURN(
      const std::unique_ptr<FileLock> lock,
      file_system->LockFile(directory.lock_file(), FileSystem::LockMode::kExclusive));
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                      file_system->NewWritableFile(directory.fence_file()));
  BT_RETURN_IF_ERROR(file->Append("A follower of this database has become the writer.\n"));
  BT_RETURN_IF_ERROR(file->Sync());
  BT_RETURN_IF_ERROR(file->Close());
  return file_system->SyncDirectory(directory.path());
}

}  // namespace bigtable
