// The file system that an open database works with: its directory is held (so that the path may
// change its meaning, see FileSystem::HoldDirectory), and nothing in it is created, renamed or
// removed unless the directory is still the database's own.
//
// What always holds: while an exclusive lock is held that came from here, each call that changes a
// name has looked, just before, whether the lock's file is still the one that is locked. If
// somebody has removed or replaced it, the call does nothing and returns FileLock::Check's error:
// what is in the directory may be another database's by then, or another process has opened it. A
// file that is not found is that error, too: it is not known to be missing.
//
// Reads and writes of open files pass by it at no cost. Thread-safe, but for LockFile and the end
// of a lock, during which no other call may be under way. Outlives its locks, but not its files.
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
  // `base` outlives this. Errors of HoldDirectory.
  static absl::StatusOr<std::unique_ptr<GuardedFileSystem>> Hold(FileSystem* base,
                                                                 std::string_view directory);

  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override;
  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override;
  absl::StatusOr<std::string> ReadFile(std::string_view path) override;
  absl::StatusOr<uint64_t> FileSize(std::string_view path) override;
  bool FileExists(std::string_view path) override;
  absl::StatusOr<std::vector<std::string>> ListDirectory(std::string_view path) override;
  absl::Status CreateDirectory(std::string_view path) override;
  absl::Status RemoveDirectory(std::string_view path) override;
  absl::Status RemoveFile(std::string_view path) override;
  absl::Status RenameFile(std::string_view from, std::string_view to) override;
  absl::Status SyncFile(std::string_view path) override;
  absl::Status SyncDirectory(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path, LockMode mode) override;

 private:
  friend class GuardingLock;

  GuardedFileSystem(FileSystem* base, std::unique_ptr<FileSystem> held)
      : held_(std::move(held)), base_(held_ != nullptr ? held_.get() : base) {}

  // Whether names may be changed.
  absl::Status Check() const { return lock_ == nullptr ? absl::OkStatus() : lock_->Check(); }
  // What a call has found, unless it found nothing because the directory is not ours any more.
  template <typename Found>
  Found Explained(Found found) const;

  const std::unique_ptr<FileSystem> held_;  // null: `base` knows no held directories
  FileSystem* const base_;
  const FileLock* lock_ = nullptr;  // the exclusive one, while it is held
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_GUARDED_FILE_SYSTEM_H_
