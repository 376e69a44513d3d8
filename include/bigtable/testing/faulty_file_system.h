// A file system over another one, whose calls fail, write only a part, are delayed or wait on
// demand: for tests of how a program takes the faults of its disk. Part of bigtable::testing.
//
//   FaultyFileSystem faulty(&disk);
//   options.file_system = &faulty;
//   ... open a database, then let every write to a commit log fail:
//   faulty.FailCalls({.kinds = {FileCall::kLogWrite, FileCall::kLogSync}},
//                    absl::UnavailableError("I/O error"));
//
// Every call of this file system and of its files is counted if it passes the filter of
// CountCalls(), but for those that cannot fail (FileExists, size, mapping, destructors). To try the
// failure of each call: run the work once and ask calls(); then, for each n up to that, run it
// again with FailCall(n, ...). Stores into a mapping are not calls: hide the mappings of log files
// (Options) where writes to the log are to fail.
//
// What always holds: a call that fails has done nothing below, or half, or all, as the fault says.
// As bigtable/file_system.h requires, a WritableFile whose Append or Sync has failed fails ever
// after, and so does a LogFile's Sync, also when the fault is over: a sync is not tried again.
//
// Thread-safe. Outlives its files; the file system below outlives it.
#ifndef BIGTABLE_TESTING_FAULTY_FILE_SYSTEM_H_
#define BIGTABLE_TESTING_FAULTY_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
  kSyncFile,
  kSyncDirectory,
  kLockFile,
};

// Which calls a count, a fault or a stall is about: those that are of one of the kinds, and whose
// path (of a rename, one of the paths) contains the text. An empty field means all.
struct FileCallFilter {
  std::vector<FileCall> kinds;
  std::string path_contains;

  bool Matches(FileCall kind, std::string_view path, std::string_view other_path) const;
};

class FaultyFileSystem final : public FileSystem {
 public:
  struct Options {
    // Mappings are null, and so logs are written and files read by calls, which can fail.
    bool hide_log_mappings = false;
    bool hide_file_mappings = false;
  };
  enum class Repeat { kOnce, kFromThenOn };
  // How much of its work a failing call has done. Half of an Append or a LogFile::Write is the
  // first half of its bytes; half of any other call is nothing.
  enum class Done { kNothing, kHalf, kAll };

  explicit FaultyFileSystem(FileSystem* base);
  FaultyFileSystem(FileSystem* base, Options options);
  ~FaultyFileSystem() override;

  // Starts to count anew, from 0, the calls that pass `filter`. Forgets all faults.
  void CountCalls(FileCallFilter filter = {});
  uint64_t calls() const;

  // The n-th counted call (the first is 1), or every one from it on, fails with `status`. Several
  // faults may be set.
  void FailCall(uint64_t n, absl::Status status, Repeat repeat = Repeat::kOnce,
                Done done = Done::kNothing);
  // From now on every call that passes `filter` fails, counted or not.
  void FailCalls(FileCallFilter filter, absl::Status status, Done done = Done::kNothing);
  void ClearFaults();
  // How many calls have failed by a fault.
  uint64_t faults() const;

  // Calls that pass `filter` wait, before they are counted and do anything, until ReleaseCalls(),
  // which ends all stalls. To be called before the destructor if any call waits.
  void StallCalls(FileCallFilter filter);
  // The same, but only for calls on one file: that of the first one that passes `filter`.
  void StallOneFile(FileCallFilter filter);
  void ReleaseCalls();
  // Ends the stalls of calls on `path`.
  void ReleaseCalls(std::string_view path);
  // How many calls are waiting; WaitUntilStalled is false if there were never `n` within `timeout`.
  int stalled() const;
  bool WaitUntilStalled(int n, absl::Duration timeout = absl::Seconds(30)) const;
  // Calls that pass `filter` take this much longer; zero ends it.
  void DelayCalls(FileCallFilter filter, absl::Duration delay);

  // Faults, counts and stalls are those of this file system.
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
  absl::Status SyncFile(std::string_view path) override;
  absl::Status SyncDirectory(std::string_view path) override;
  absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path, LockMode mode) override;

 private:
  // What HoldDirectory returns: the same plan over a directory that is held below.
  FaultyFileSystem(std::unique_ptr<FileSystem> held, const FaultyFileSystem& root);

  const std::unique_ptr<FileSystem> held_;  // null: the caller's file system is below this one
  FileSystem* const base_;
  const Options options_;
  const std::shared_ptr<FaultPlan> plan_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_FAULTY_FILE_SYSTEM_H_
