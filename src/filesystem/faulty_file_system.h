// A file system over another one, whose calls fail, write only a part, or stall on demand: for
// tests of how the engine takes it. Thread-safe. Outlives its files; the file system below outlives
// it.
//
// Every call of this file system and of its files is counted, but for those that cannot fail
// (FileExists, size, mapping, destructors), if it passes the count's filter. Typical use: run the
// work once and ask calls(); then, for each n up to that, run it again with FailCall(n, ...).
//
// What always holds: a call that fails has done nothing below, or half, or all, as the fault says.
// As include/bigtable/file_system.h has it, a WritableFile whose Append or Sync has failed fails
// ever after, and so does a LogFile's Sync, also when the fault is over: a sync is not tried again.
#ifndef BIGTABLE_FILESYSTEM_FAULTY_FILE_SYSTEM_H_
#define BIGTABLE_FILESYSTEM_FAULTY_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/file_system.h"

#include "base/mutex.h"

namespace bigtable {

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

class FaultyLogFile;

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

  // Starts to count anew, from 0, the calls that pass `filter`. Forgets all faults.
  void CountCalls(FileCallFilter filter = {});
  uint64_t calls() const;

  // The n-th counted call (the first is 1), or every one from it on, fails with `status`. Several
  // faults may be set.
  void FailCall(uint64_t n, absl::Status status, Repeat repeat = Repeat::kOnce,
                Done done = Done::kNothing);
  // Every call that passes `filter`, counted or not, fails from now on.
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
  // Ends the stalls that hold up calls on `path`.
  void ReleaseCalls(std::string_view path);
  // How many calls are waiting; WaitUntilStalled is false if there were never `n` within `timeout`.
  int stalled() const;
  bool WaitUntilStalled(int n, absl::Duration timeout = absl::Seconds(30)) const;
  // Calls that pass `filter` take this much longer; zero ends it.
  void DelayCalls(FileCallFilter filter, absl::Duration delay);

  // Faults, counts and stalls are those of this one.
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
  friend class FaultyWritableFile;
  friend class FaultyRandomAccessFile;
  friend class FaultyLogFile;

  struct Fault {
    uint64_t call = 0;  // 0: by the filter, not by the count
    Repeat repeat = Repeat::kOnce;
    FileCallFilter filter;
    absl::Status status;
    Done done = Done::kNothing;
  };
  struct Stall {
    FileCallFilter filter;
    bool one_file = false;
    std::string file;  // the one, once it is known
  };
  struct Delay {
    FileCallFilter filter;
    absl::Duration duration;
  };
  // What becomes of a call: it is made if `status` is OK, and otherwise fails with it.
  struct Verdict {
    absl::Status status;
    Done done = Done::kAll;
  };

  // What HoldDirectory returns: `root` judges its calls, and has its files.
  FaultyFileSystem(FaultyFileSystem* root, std::unique_ptr<FileSystem> base);

  const Stall* FindStall(FileCall kind, std::string_view path, std::string_view other_path)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Stalls, counts and judges a call that is about to be made.
  Verdict Judge(FileCall kind, std::string_view path, std::string_view other_path = {});
  // Makes the call, or fails as Judge says. `call` returns an absl::Status or StatusOr.
  template <typename Call>
  auto Run(FileCall kind, std::string_view path, std::string_view other_path, Call call)
      -> decltype(call());
  // The same for one that writes `data`, which may be cut.
  template <typename Write>
  absl::Status RunWrite(FileCall kind, std::string_view path, std::string_view data, Write write);

  const std::unique_ptr<FileSystem> held_;  // null: somebody else's is below this one
  FileSystem* const base_;
  FaultyFileSystem* const root_ = this;
  const Options options_;

  mutable Mutex mutex_;
  mutable CondVar stall_changed_;
  FileCallFilter counted_ ABSL_GUARDED_BY(mutex_);
  uint64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Fault> faults_ ABSL_GUARDED_BY(mutex_);
  std::vector<Stall> stalls_ ABSL_GUARDED_BY(mutex_);
  int stalled_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Delay> delay_ ABSL_GUARDED_BY(mutex_);
  std::set<FaultyLogFile*> log_files_ ABSL_GUARDED_BY(mutex_);  // that are open
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_FAULTY_FILE_SYSTEM_H_
