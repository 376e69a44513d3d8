// A base for a program's own file system that changes some calls of another one: to count or limit
// them, to change bytes, to add faults. Override those calls and leave the others.
//
//   class SyncCounter : public bigtable::FileSystemWrapper {
//    public:
//     using FileSystemWrapper::FileSystemWrapper;
//     absl::Status SyncFile(std::string_view path) override {
//       ++syncs;
//       return FileSystemWrapper::SyncFile(path);
//     }
//     std::atomic<int> syncs = 0;
//   };
//
// A class that changes paths, or the bytes of files, overrides LinkFile too: it may return
// Unimplemented, as FileSystem::LinkFile does.
//
// To change what is done with an open file, return an own WritableFile, RandomAccessFile or LogFile
// that forwards to the one of the base.
#ifndef BIGTABLE_FILE_SYSTEM_WRAPPER_H_
#define BIGTABLE_FILE_SYSTEM_WRAPPER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/export.h"
#include "bigtable/file_system.h"

namespace bigtable {

// Passes every call on to `base`, except HoldDirectory: what that returns would not know the
// derived class. So, unless the derived class overrides it, a database on a wrapper is opened by an
// absolute path, and its directory is not renamed while it is open. Thread-safe if `base` is.
class BIGTABLE_EXPORT FileSystemWrapper : public FileSystem {
 public:
  // `base` outlives this.
  explicit FileSystemWrapper(FileSystem* base) : base_(base) {}

  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view path) override {
    return base_->NewWritableFile(path);
  }
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override {
    return base_->NewRandomAccessFile(path, mode);
  }
  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override {
    return base_->NewLogFile(path, size);
  }
  std::unique_ptr<ReadQueue> NewReadQueue() override { return base_->NewReadQueue(); }
  absl::StatusOr<std::string> ReadFile(std::string_view path) override {
    return base_->ReadFile(path);
  }
  absl::StatusOr<uint64_t> FileSize(std::string_view path) override {
    return base_->FileSize(path);
  }
  bool FileExists(std::string_view path) override { return base_->FileExists(path); }
  absl::StatusOr<std::vector<std::string>> ListDirectory(std::string_view path) override {
    return base_->ListDirectory(path);
  }
  absl::Status CreateDirectory(std::string_view path) override {
    return base_->CreateDirectory(path);
  }
  absl::Status RemoveDirectory(std::string_view path) override {
    return base_->RemoveDirectory(path);
  }
  absl::Status RemoveFile(std::string_view path) override { return base_->RemoveFile(path); }
  absl::Status RenameFile(std::string_view from, std::string_view to) override {
    return base_->RenameFile(from, to);
  }
  absl::Status LinkFile(std::string_view from, std::string_view to) override {
    return base_->LinkFile(from, to);
  }
  absl::Status SyncFile(std::string_view path) override { return base_->SyncFile(path); }
  absl::Status SyncDirectory(std::string_view path) override { return base_->SyncDirectory(path); }
  absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path,
                                                     LockMode mode) override {
    return base_->LockFile(path, mode);
  }

 protected:
  FileSystem* base() const { return base_; }

 private:
  FileSystem* const base_;
};

}  // namespace bigtable

#endif  // BIGTABLE_FILE_SYSTEM_WRAPPER_H_
