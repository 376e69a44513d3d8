// A file system in memory that can lose power: it knows, for every file, every sector of a log file
// and every name, what has been synced, and CrashClone() makes the file systems that a machine
// could find when it comes up again. Thread-safe.
//
// What always holds:
//   * What was synced as include/bigtable/file_system.h asks (the file, and the directory that
//   names
//     it) is in every clone. What was not is there, or not, or in part: see Unsynced and
//     CrashClone().
//   * A log file's mapping stays where it is, also when the file loses its name. Sync copies it
//   while
//     others may store to it.
//   * An open file keeps its bytes, whatever becomes of its name and of the file system.
//   * A RandomAccessFile's mapping shows the file as it was when it was opened; Read() shows it as
//   it
//     is, and so sees what SetContents() did to it.
//
// Paths begin at one root, with or without a leading '/', and know no "..". Directories cannot be
// renamed.
#ifndef BIGTABLE_FILESYSTEM_IN_MEMORY_FILE_SYSTEM_H_
#define BIGTABLE_FILESYSTEM_IN_MEMORY_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "filesystem/in_memory_bytes.h"
#include "filesystem/in_memory_disk.h"

namespace bigtable {

class InMemoryFileSystem final : public FileSystem {
 public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  InMemoryFileSystem();
  ~InMemoryFileSystem() override;

  // A new file system with what a machine could find after it lost power at this moment; the same
  // seed and history find the same. Of what was not synced, kRandomPart keeps
  //   * of appended bytes a prefix, in which some sectors may hold zeros or rubbish;
  //   * of a log file each 512-byte sector as it is or as it was at the last Sync;
  //   * of the changes of names any that do not contradict each other (in_memory_names.h).
  // kEverything is what the death of the process leaves. The clone has the same limit of bytes and
  // no locks; all that is in it is durable. May be called while others write.
  std::unique_ptr<InMemoryFileSystem> CrashClone(uint64_t seed,
                                                 Unsynced survives = Unsynced::kRandomPart) const;

  // The file as it is now; empty if there is none.
  std::string Contents(std::string_view path) const;
  // Puts `bytes` into the file, durably, and creates it and its directories if need be. Open
  // WritableFiles and LogFiles of it write into the void from then on.
  void SetContents(std::string_view path, std::string_view bytes);
  // The paths of all files, sorted, each with a leading '/'.
  std::vector<std::string> AllFiles() const;

  // When the files that have a name hold this many bytes the disk is full: Append and NewLogFile
  // say ResourceExhausted. Removing or renaming over a file makes room at once.
  void set_max_total_bytes(uint64_t bytes);
  uint64_t total_bytes() const;

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
  const std::shared_ptr<InMemoryDisk> disk_;
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_IN_MEMORY_FILE_SYSTEM_H_
