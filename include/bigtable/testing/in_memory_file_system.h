// A file system in memory that can lose power: for tests of what a program finds after a crash.
// Part of bigtable::testing.
//
//   InMemoryFileSystem disk;
//   DatabaseOptions options;
//   options.file_system = &disk;
//   ... open a database "/db", write, and at any time:
//   std::unique_ptr<InMemoryFileSystem> after = disk.CrashClone(seed);
//   ... open "/db" in *after: it has every write acknowledged at kSync.
//
// It tracks the synced state of every file, every sector of a log file, and every name. So
// CrashClone() can create any state that a machine could find after a restart.
//
// Invariants:
//   * What was synced as bigtable/file_system.h requires (the file, and the directory that names
//     it) is in every clone. Unsynced data may be in a clone completely, partly or not at all: see
//     Unsynced and CrashClone().
//   * A log file's mapping keeps its address, even after the file's name is removed. Sync copies
//     the mapping while other threads may store to it.
//   * An open file keeps its bytes, even after its name or the file system is gone.
//   * A RandomAccessFile's mapping shows the file as it was when it was opened. Read() shows the
//     current file, including the effect of SetContents().
//
// Paths begin at one root, with or without a leading '/', and have no "..". Directories cannot be
// renamed. Thread-safe.
#ifndef BIGTABLE_TESTING_IN_MEMORY_FILE_SYSTEM_H_
#define BIGTABLE_TESTING_IN_MEMORY_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

namespace bigtable {

struct InMemoryDisk;

// What a power loss preserves of unsynced data.
enum class Unsynced {
  kNothing,
  kRandomPart,
  kEverything,  // as after the death of the process alone
};

// See the top of this file. Thread-safe.
class InMemoryFileSystem final : public FileSystem {
 public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  InMemoryFileSystem();
  ~InMemoryFileSystem() override;

  // Returns a new file system with a state that a machine could find after a power loss at this
  // time. The same seed after the same calls gives the same state. Of the unsynced data,
  // kRandomPart keeps
  //   * of appended bytes a prefix, in which some sectors may hold zeros or garbage;
  //   * of a log file each 512-byte sector as it is, or as it was at the last Sync;
  //   * of creations, removals and renames any subset that is consistent: a renamed file is not
  //     lost, and a directory is removed only if its contents are.
  // kEverything keeps what a crash of the process keeps. The clone has the same limit of bytes and
  // no locks, and everything in it is durable. May be called while other threads write.
  std::unique_ptr<InMemoryFileSystem> CrashClone(uint64_t seed,
                                                 Unsynced survives = Unsynced::kRandomPart) const;

  // The current contents of the file; empty if it does not exist.
  std::string Contents(std::string_view path) const;
  // Sets the contents of the file, durably, and creates it and its directories if needed; also
  // serves to damage a file. Later writes by WritableFiles and LogFiles that have it open are lost.
  void SetContents(std::string_view path, std::string_view bytes);
  // The paths of all files, sorted, each with a leading '/'.
  std::vector<std::string> AllFiles() const;

  // Sets the size of the disk: when the files that have a name hold this many bytes, Append and
  // NewLogFile return ResourceExhausted. Removing or replacing a file frees its space at once.
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
  absl::Status LinkFile(std::string_view from, std::string_view to) override;
  absl::Status SyncFile(std::string_view path) override;
  absl::Status SyncDirectory(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path, LockMode mode) override;

 private:
  const std::shared_ptr<InMemoryDisk> disk_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_IN_MEMORY_FILE_SYSTEM_H_
