// The machine's own file system. Thread-safe. Databases use FileSystem::Posix(); tests create their
// own with other limits. Must outlive its files. If it holds a directory, it resolves the paths
// below it relative to a descriptor (openat and similar calls).
#ifndef BIGTABLE_FILESYSTEM_POSIX_FILE_SYSTEM_H_
#define BIGTABLE_FILESYSTEM_POSIX_FILE_SYSTEM_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "filesystem/posix_files.h"
#include "filesystem/posix_io.h"

namespace bigtable {

struct PosixFileSystemOptions {
  // More files than this are read without a mapping.
  int max_mappings = 30000;
  // False: log files are written without a mapping, as on a file system that cannot reserve space.
  bool reserve_log_files = true;
};

class PosixFileSystem final : public FileSystem {
 public:
  explicit PosixFileSystem(const PosixFileSystemOptions& options = {})
      : reserve_log_files_(options.reserve_log_files), own_mappings_(options.max_mappings) {}

  absl::StatusOr<std::unique_ptr<FileSystem>> HoldDirectory(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override;
  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override;
  std::unique_ptr<ReadQueue> NewReadQueue() override;
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
  // The result of HoldDirectory: `held` is open under the name `path`.
  PosixFileSystem(PosixFileSystem* parent, std::string_view path, Fd held)
      : reserve_log_files_(parent->reserve_log_files_),
        own_mappings_(0),
        mappings_(parent->mappings_),
        held_path_(path),
        held_(std::move(held)) {}

  PosixPath Find(std::string_view path) const;

  const bool reserve_log_files_;
  MappedFiles own_mappings_;
  MappedFiles* const mappings_ =
      &own_mappings_;  // of the parent, if any: files outlive this object
  const std::string held_path_;
  const Fd held_;  // closed: no directory is held
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_FILE_SYSTEM_H_
