// The state of a FaultyFileSystem: which of its calls are counted, fail, wait or are delayed.
// Shared by the file system, the results of HoldDirectory, and the files of both. Thread-safe.
#ifndef BIGTABLE_TESTING_FAULT_PLAN_H_
#define BIGTABLE_TESTING_FAULT_PLAN_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/mutex.h"

namespace bigtable {

class FaultPlan {
 public:
  using Repeat = FaultyFileSystem::Repeat;
  using Done = FaultyFileSystem::Done;

  // Like the methods of FaultyFileSystem.
  void CountCalls(FileCallFilter filter);
  uint64_t calls() const;
  void FailCall(uint64_t n, absl::Status status, Repeat repeat, Done done);
  void FailCalls(FileCallFilter filter, absl::Status status, Done done);
  void ClearFaults();
  uint64_t faults() const;
  void Stall(FileCallFilter filter, bool one_file, uint64_t first);
  void ReleaseCalls();
  void ReleaseCalls(std::string_view path);
  void ReleaseCalls(std::thread::id thread);
  int stalled() const;
  bool IsStalled(std::thread::id thread) const;
  bool WaitUntilStalled(int n, absl::Duration timeout) const;
  void DelayCalls(FileCallFilter filter, absl::Duration delay);

  // Makes the call, or fails it according to the faults. `call` returns an absl::Status or
  // StatusOr.
  template <typename Call>
  auto Run(FileCall kind, std::string_view path, std::string_view other_path, Call call)
      -> decltype(call()) {
    const Verdict verdict = Judge(kind, path, other_path);
    if (verdict.status.ok()) return call();
    if (verdict.done == Done::kAll) (void)call();
    return verdict.status;
  }
  // The same for a call that writes `data`, of which it may write only a part.
  template <typename Write>
  absl::Status RunWrite(FileCall kind, std::string_view path, std::string_view data, Write write) {
    const Verdict verdict = Judge(kind, path, {});
    if (verdict.status.ok()) return write(data);
    if (verdict.done == Done::kHalf) data = data.substr(0, data.size() / 2);
    if (verdict.done != Done::kNothing) (void)write(data);
    return verdict.status;
  }

  // Log files are matched by their latest name. `path` belongs to the file, and is read and changed
  // only by these calls.
  void AddLogFile(std::string* path);
  void RemoveLogFile(std::string* path);
  void Renamed(std::string_view from, std::string_view to);
  std::string PathOf(const std::string& path) const;

 private:
  struct Fault {
    uint64_t call = 0;  // 0: selected by the filter, not by the count
    Repeat repeat = Repeat::kOnce;
    FileCallFilter filter;
    absl::Status status;
    Done done = Done::kNothing;
  };
  struct Stalling {
    FileCallFilter filter;
    bool one_file = false;
    uint64_t skip = 0;  // how many more calls do not wait
    std::string file;   // the file, once it is known
  };
  struct Delay {
    FileCallFilter filter;
    absl::Duration duration;
  };
  // The decision about a call: it is made if `status` is OK, and otherwise fails with it.
  struct Verdict {
    absl::Status status;
    Done done = Done::kAll;
  };

  // Whether the call has to wait. `is_new`: it has not waited yet.
  bool IsStalled(FileCall kind, std::string_view path, std::string_view other_path, bool is_new)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Delays, stalls and counts a call, and decides whether it fails.
  Verdict Judge(FileCall kind, std::string_view path, std::string_view other_path);

  mutable Mutex mutex_;
  mutable CondVar stall_changed_;
  FileCallFilter counted_ ABSL_GUARDED_BY(mutex_);
  uint64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Fault> faults_ ABSL_GUARDED_BY(mutex_);
  std::vector<Stalling> stalls_ ABSL_GUARDED_BY(mutex_);
  std::multiset<std::thread::id> stalled_ ABSL_GUARDED_BY(mutex_);  // whose calls wait
  std::optional<Delay> delay_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string*> log_files_ ABSL_GUARDED_BY(mutex_);  // the paths of open log files
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_FAULT_PLAN_H_
