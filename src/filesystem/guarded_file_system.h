// The file system of an open database. It holds the directory (so that the path may change its
// meaning, see FileSystem::HoldDirectory), and creates, renames and removes nothing in it unless
// the directory still belongs to the database.
//
// Invariant: while an exclusive lock in the directory is held, each call that changes a name
// first checks that the lock's path still names the locked file. If the lock file was removed or
// replaced, the call does nothing and returns the error of FileLock::Check: the directory may
// belong to another database by then, or another process may have opened it. A call that does not
// find a file returns that error too, because the file may not really be missing.
//
// Reads and writes of open files bypass it at no cost. Locks elsewhere, as that of a copy of the
// database, are plain ones. Thread-safe, except for LockFile in the directory and the release of
// such a lock, during which no other call may run. Must outlive its locks, but not its files.
#ifndef BIGTABLE_FILESYSTEM_GUARDED_FILE_SYSTEM_H_
#define BIGTABLE_FILESYSTEM_GUARDED_FILE_SYSTEM_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

namespace bigtable {

class GuardedFileSystem final : public FileSystem {
 public:
  // `base` must outlive this. Errors of HoldDirectory.
  static absl::StatusOr<std::unique_ptr<GuardedFileSystem>> Hold(FileSystem* base,
                                                                 std::string_view directory);

  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override;
  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override;
  std::unique_ptr<ReadQueue> NewReadQueue() override { return base_->NewReadQueue(); }
  absl::StatusOr<std::string> ReadFile(std::string_view path) override;
  absl::StatusOr<uint64_t> FileSize(std::string_view path) override;
  bool FileExists(std::string_view path) override;
  absl::StatusOr<std::vector<std::string>> ListDirectory(std::string_view path) override;
  absl::Status CreateDirectory(std::string_view path) override;
  absl::Status RemoveDirectory(std::string_view path) override;
  absl::Status RemoveFile(std::string_view path) override;
  absl::Status RenameFile(std::string_view from, std::string_view to) override;
  absl::Status LinkFile(std::string_view from, std::string_view to) override;
  absl::Status SyncFile(std::string_view path) override;
  absl::Status SyncDirectory(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path, LockMode mode) override;

 private:
  friend class GuardingLock;

  GuardedFileSystem(FileSystem* base, std::unique_ptr<FileSystem> held, std::string_view directory)
      : held_(std::move(held)),
        base_(held_ != nullptr ? held_.get() : base),
        below_(std::string(directory) + "/") {}

  // OK if names may be changed.
  absl::Status Check() const { return lock_ == nullptr ? absl::OkStatus() : lock_->Check(); }
  // Returns the result of a call, unless the call found no file because the directory is no longer
  // ours.
  template <typename Found>
  Found Explained(Found found) const;

  const std::unique_ptr<FileSystem> held_;  // null: `base` does not support held directories
  FileSystem* const base_;
  const std::string below_;         // what the paths in the directory begin with
  const FileLock* lock_ = nullptr;  // the exclusive lock, while it is held
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_GUARDED_FILE_SYSTEM_H_
