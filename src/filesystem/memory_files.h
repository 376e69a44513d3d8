// A file system in memory, which ends with the object: a small commit log is sorted in it
// (recovery/dead_log.h). It supports only what such files need: a file is written by one writer,
// closed, and then read.
//
// Invariants:
//   * A file has its bytes after its Close(), and is empty before.
//   * An open reader keeps the bytes that the file had when it was opened, even if the name or this
//     object is gone.
//   * Any path names a directory: none needs to be created, and none is missing.
//
// Nothing is durable, so syncs do nothing. There are no log files and no locks (Unimplemented).
// Thread-safe; a writer is used by one thread at a time.
#ifndef BIGTABLE_FILESYSTEM_MEMORY_FILES_H_
#define BIGTABLE_FILESYSTEM_MEMORY_FILES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/mutex.h"

namespace bigtable {

class MemoryFiles final : public FileSystem {
 public:
  MemoryFiles();
  ~MemoryFiles() override;

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
  class Writer;
  class Reader;
  using Bytes = std::shared_ptr<const std::string>;
  // Shared with the writers, which may outlive this object.
  struct Names {
    Mutex mutex;
    std::map<std::string, Bytes, std::less<>> files ABSL_GUARDED_BY(mutex);
  };

  absl::StatusOr<Bytes> Find(std::string_view path) const;

  const std::shared_ptr<Names> names_;
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_MEMORY_FILES_H_
