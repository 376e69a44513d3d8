// The directory of a database as an image shows it (live_image.h), for an opening that only reads:
// the files of the lock service and the logs are those of the image, and SSTables are held
// (held_files.h). Nothing in it can be changed, and its lock is not taken. Other paths are as they
// are.
#ifndef BIGTABLE_FOLLOWING_IMAGE_FILE_SYSTEM_H_
#define BIGTABLE_FOLLOWING_IMAGE_FILE_SYSTEM_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system_wrapper.h"

#include "cluster/directory.h"
#include "following/held_files.h"
#include "following/live_image.h"

namespace bigtable {

// A file system of which only SSTables are used: those that are held. Thread-safe.
class HeldFileSystem final : public FileSystemWrapper {
 public:
  // Both outlive this.
  HeldFileSystem(FileSystem* base, HeldFiles* held) : FileSystemWrapper(base), held_(held) {}
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override;
  absl::StatusOr<uint64_t> FileSize(std::string_view path) override;

 private:
  HeldFiles* const held_;
};

// Immutable, and so thread-safe. It has copies of all that it needs of the image.
class ImageFileSystem final : public FileSystemWrapper {
 public:
  // `base` and `sstables` outlive this.
  ImageFileSystem(FileSystem* base, HeldFileSystem* sstables, DatabaseDirectory directory,
                  const LiveImage& image);

  absl::StatusOr<std::unique_ptr<FileSystem>> HoldDirectory(std::string_view path) override;
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
  absl::Status LinkFile(std::string_view from, std::string_view to) override;
  absl::Status SyncFile(std::string_view path) override;
  absl::Status SyncDirectory(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path, LockMode mode) override;

 private:
  // The bytes of a file of the image. A segment of a log ends after its last record: a replay then
  // searches no old bytes for one.
  using File = std::shared_ptr<const std::string>;
  class Reader;

  enum class Place { kImage, kSSTable, kElsewhere };
  Place PlaceOf(std::string_view path) const;
  bool IsOutside(std::string_view path) const;  // of the directory
  void Add(std::string path, std::string bytes);
  absl::StatusOr<File> Find(std::string_view path) const;

  HeldFileSystem* const sstables_;
  const DatabaseDirectory directory_;
  std::map<std::string, File, std::less<>> files_;  // by path
};

}  // namespace bigtable

#endif  // BIGTABLE_FOLLOWING_IMAGE_FILE_SYSTEM_H_
