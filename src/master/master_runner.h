// Keeps a master running: when one has lost its lock, another is started. Calls go to the one there
// is; while there is none they wait.
#ifndef BIGTABLE_MASTER_MASTER_RUNNER_H_
#define BIGTABLE_MASTER_MASTER_RUNNER_H_

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "master/master.h"

namespace bigtable {

// Thread-safe.
class MasterRunner {
 public:
  // `cluster` outlives this. `progress` is called after each compaction, and now and then.
  MasterRunner(Cluster* cluster, std::function<void()> progress)
      : cluster_(cluster), progress_(std::move(progress)) {}
  ~MasterRunner() { Stop(); }
  MasterRunner(const MasterRunner&) = delete;
  MasterRunner& operator=(const MasterRunner&) = delete;

  // The first master, on this thread, and then whatever goes on in the background.
  absl::Status Start();
  // Everything in the background ends, and lost servers are replaced. The error of that.
  absl::Status Shutdown();

  // The master; waits until there is one. Errors of the limits.
  absl::StatusOr<std::shared_ptr<Master>> Get(const CallLimits& limits);
  // The same without waiting: null if there is none.
  std::shared_ptr<Master> Find() const;

  // For tests: called before each step of a master.
  void SetOnStep(std::function<void()> on_step);

 private:
  absl::StatusOr<std::shared_ptr<Master>> StartMaster(bool opening);
  void Loop();
  // Deletes masters that have given up and that no call is made of any more.
  void DeleteRetired();
  void Stop();

  Cluster* const cluster_;
  const std::function<void()> progress_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::shared_ptr<Master> master_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Master> starting_ ABSL_GUARDED_BY(mutex_);  // has not begun yet
  std::vector<std::shared_ptr<Master>> retired_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_step_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_RUNNER_H_
