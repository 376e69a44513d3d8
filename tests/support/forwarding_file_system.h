// A file system that passes every call on to another one, as a base for tests that change some of
// them. Thread-safe if the other one is, which outlives it.
#ifndef BIGTABLE_TESTS_SUPPORT_FORWARDING_FILE_SYSTEM_H_
#define BIGTABLE_TESTS_SUPPORT_FORWARDING_FILE_SYSTEM_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

namespace bigtable {

class ForwardingFileSystem : public FileSystem {
 public:
  explicit ForwardingFileSystem(FileSystem* base) : base_(base) {}

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
  absl::Status SyncFile(std::string_view path) override { return base_->SyncFile(path); }
  absl::Status SyncDirectory(std::string_view path) override { return base_->SyncDirectory(path); }
  absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path,
                                                     LockMode mode) override {
    return base_->LockFile(path, mode);
  }

 private:
  FileSystem* const base_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_FORWARDING_FILE_SYSTEM_H_
