// A file system over another one, whose calls fail, do only a part of their work, are delayed or
// wait on demand: for tests of how a program handles disk faults. Part of bigtable::testing.
//
//   FaultyFileSystem faulty(&disk);
//   options.file_system = &faulty;
//   ... open a database, then let every write to a commit log fail:
//   faulty.FailCalls({.kinds = {FileCall::kLogWrite, FileCall::kLogSync}},
//                    absl::UnavailableError("I/O error"));
//
// Counts every call of this file system and of its files that passes the filter of CountCalls(),
// except calls that cannot fail (FileExists, size, mapping, destructors). To test the failure of
// each call: run the work once and read calls(); then, for each n up to that, run it again with
// FailCall(n, ...). Stores into a mapping are not calls: hide the mappings of log files (Options)
// if writes to the log should fail.
//
// Invariants: a failing call has done none, half or all of its work below, as the fault specifies.
// As bigtable/file_system.h requires, once Append or Sync of a WritableFile has failed, all its
// later calls fail. The same holds for the Sync of a LogFile. This stays so after the fault is
// cleared.
//
// Thread-safe. Outlives its files; the file system below outlives it.
#ifndef BIGTABLE_TESTING_FAULTY_FILE_SYSTEM_H_
#define BIGTABLE_TESTING_FAULTY_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/file_system.h"

namespace bigtable {

class FaultPlan;

enum class FileCall {
  kAppend,    // WritableFile
  kSync,      // WritableFile
  kClose,     // WritableFile
  kRead,      // RandomAccessFile
  kPopulate,  // RandomAccessFile
  kLogWrite,  // LogFile
  kLogSync,   // LogFile
  kNewWritableFile,
  kNewRandomAccessFile,
  kNewLogFile,
  kReadFile,
  kFileSize,
  kListDirectory,
  kCreateDirectory,
  kRemoveDirectory,
  kRemoveFile,
  kRenameFile,
  kLinkFile,
  kSyncFile,
  kSyncDirectory,
  kLockFile,
};

// Selects the calls for a count, a fault or a stall: those of one of the kinds whose path (for a
// rename or link, either path) contains the text, and which the thread makes. An empty field
// matches all.
struct FileCallFilter {
  std::vector<FileCall> kinds;
  std::string path_contains;
  std::thread::id thread = {};

  // Whether a call of this kind on these paths, by the calling thread, passes the filter.
  bool Matches(FileCall kind, std::string_view path, std::string_view other_path) const;
};

// See the top of this file. Thread-safe.
class FaultyFileSystem final : public FileSystem {
 public:
  // What is hidden of the file system below.
  struct Options {
    // Makes mappings null, so that logs are written and files are read by calls, which can fail.
    bool hide_log_mappings = false;
    bool hide_file_mappings = false;
  };
  enum class Repeat { kOnce, kFromThenOn };
  // How much of its work a failing call does. Half of an Append or a LogFile::Write is the first
  // half of its bytes; half of any other call is nothing.
  enum class Done { kNothing, kHalf, kAll };

  explicit FaultyFileSystem(FileSystem* base);
  FaultyFileSystem(FileSystem* base, Options options);
  ~FaultyFileSystem() override;

  // Restarts the count at 0, for the calls that pass `filter`. Clears all faults.
  void CountCalls(FileCallFilter filter = {});
  uint64_t calls() const;

  // The n-th counted call (the first is 1), or that and all later ones, fails with `status`.
  // Several faults may be set.
  void FailCall(uint64_t n, absl::Status status, Repeat repeat = Repeat::kOnce,
                Done done = Done::kNothing);
  // Every later call that passes `filter` fails, counted or not.
  void FailCalls(FileCallFilter filter, absl::Status status, Done done = Done::kNothing);
  void ClearFaults();
  // How many calls have failed because of a fault.
  uint64_t faults() const;

  // Calls that pass `filter` wait, before they are counted and do anything, until ReleaseCalls(),
  // which ends all stalls. Must be called before the destructor if any call waits. The first that
  // waits is the `first`-th one from now on.
  void StallCalls(FileCallFilter filter, uint64_t first = 1);
  // The same, but only for calls on one file: the file of the first call that passes `filter`.
  void StallOneFile(FileCallFilter filter);
  void ReleaseCalls();
  // Ends the stalls of calls on `path`.
  void ReleaseCalls(std::string_view path);
  // Ends the stalls whose filter names the thread.
  void ReleaseCalls(std::thread::id thread);
  // How many calls are waiting. WaitUntilStalled returns false if fewer than `n` waited within
  // `timeout`.
  int stalled() const;
  // Whether a call of the thread is waiting.
  bool IsStalled(std::thread::id thread) const;
  bool WaitUntilStalled(int n, absl::Duration timeout = absl::Seconds(30)) const;
  // Delays calls that pass `filter` by this much; zero ends it.
  void DelayCalls(FileCallFilter filter, absl::Duration delay);

  // The result shares the faults, counts and stalls of this file system.
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
  // The result of HoldDirectory: the same plan over a directory that is held below.
  FaultyFileSystem(std::unique_ptr<FileSystem> held, const FaultyFileSystem& root);

  const std::unique_ptr<FileSystem> held_;  // null: the caller's file system is below this one
  FileSystem* const base_;
  const Options options_;
  const std::shared_ptr<FaultPlan> plan_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_FAULTY_FILE_SYSTEM_H_
