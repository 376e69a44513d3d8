// Keeps a master running: when one has lost its lock, another is started. Calls go to the one there
// is; while there is none they wait.
//
// Three threads, so that none waits for what another has to bring about: one starts masters, one
// deletes those that have given up, whose threads may have something to wait for yet, and one seals
// servers that are lost, for which both may wait. Each master begins on a thread of its own, which
// is left behind if the master loses its lock meanwhile: it may wait for a server of METADATA that
// only the next master replaces.
#ifndef BIGTABLE_MASTER_MASTER_RUNNER_H_
#define BIGTABLE_MASTER_MASTER_RUNNER_H_

#include <cstdint>
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
  // `cluster` outlives this. `progress` is called after each compaction, and every now and then.
  MasterRunner(Cluster* cluster, std::function<void()> progress)
      : cluster_(cluster), progress_(std::move(progress)) {}
  ~MasterRunner() { Stop(); }
  MasterRunner(const MasterRunner&) = delete;
  MasterRunner& operator=(const MasterRunner&) = delete;

  // The first master, on this thread, and then whatever goes on in the background.
  absl::Status Start();
  // Everything in the background ends, and lost servers are replaced. The error of that.
  absl::Status Shutdown();
  // After a Start that has failed: everything in the background ends, and so does the master.
  void Abandon();

  // The master; waits until there is one. Errors of the limits, and what keeps a master from being
  // started, unless that is another master. FailedPrecondition: the database is being closed.
  absl::StatusOr<std::shared_ptr<Master>> Get(const CallLimits& limits);
  // The same without waiting: null if there is none.
  std::shared_ptr<Master> Find() const;

  // For tests: called before each step of a master.
  void SetOnStep(std::function<void()> on_step);

 private:
  // A master that begins.
  struct Beginning {
    std::thread thread;
    std::shared_ptr<Master> master;  // null once it has begun, or has failed
    absl::StatusOr<std::shared_ptr<Master>> begun = absl::UnavailableError("it has not begun yet");
    bool is_over = false;  // the thread has nothing to do any more
  };

  absl::StatusOr<std::shared_ptr<Master>> CreateMaster(bool opening);
  // One that is there and has begun, unless it has lost its lock before.
  absl::StatusOr<std::shared_ptr<Master>> BeginNext();
  void Begin(Beginning* beginning);
  // Deletes what is over, or all of it once it is.
  void EndBeginnings(bool all);
  enum class End { kWhenClosing, kWhenStopped };
  absl::StatusOr<std::shared_ptr<Master>> Await(const CallLimits& limits, End end);
  void StartLoop();
  void DeleteLoop();
  void FenceLoop();
  // Masters that have given up and that no call is made of any more.
  std::vector<std::shared_ptr<Master>> TakeRetired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Stop();

  Cluster* const cluster_;
  const std::function<void()> progress_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::function<void()> on_step_ ABSL_GUARDED_BY(mutex_);  // before the masters, who call it
  std::shared_ptr<Master> master_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Master>> retired_ ABSL_GUARDED_BY(mutex_);
  uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;  // of starting a master, and the last one
  absl::Status last_failure_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;  // nothing is left that waits for a server's end
  std::vector<std::unique_ptr<Beginning>> beginnings_;  // the starting thread's
  std::thread starter_, deleter_, fencer_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_RUNNER_H_
