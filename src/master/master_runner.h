// Keeps a master running: when one has lost its lock, it starts another. Calls go to the current
// master, and wait while there is none.
//
// It has three threads, so that none waits for the work of another. One starts masters. One deletes
// masters that have given up, whose threads may still have to wait for something. One fences lost
// servers, and the other two may wait for it. Each master begins on a thread of its own. This
// thread is abandoned if the master loses its lock meanwhile, because it may wait for a server of
// METADATA that only the next master replaces.
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
#include "base/info_log.h"
#include "base/mutex.h"
#include "cluster/closing_state.h"
#include "cluster/cluster.h"
#include "master/master.h"

namespace bigtable {

// Thread-safe.
class MasterRunner {
 public:
  // `cluster` outlives this, and `closing` and `info_log` are of it. `progress` is called after
  // each compaction, and from time to time.
  MasterRunner(Cluster* cluster, const ClosingState* closing, InfoLog* info_log, bool read_only,
               std::function<void()> progress)
      : cluster_(cluster),
        closing_(closing),
        info_log_(info_log),
        read_only_(read_only),
        progress_(std::move(progress)) {}
  ~MasterRunner() { Stop(); }
  MasterRunner(const MasterRunner&) = delete;
  MasterRunner& operator=(const MasterRunner&) = delete;

  // Starts the first master, on this thread, and then the background threads.
  absl::Status Start();
  // Stops everything in the background, and replaces lost servers. Returns the error of that.
  absl::Status Shutdown();
  // After a failed Start: stops everything in the background, and ends the master.
  void Abandon();

  // The current master; waits until there is one. Errors of the limits, and the error that prevents
  // a master from starting, unless it is that another master has the lock. FailedPrecondition: the
  // database is being closed.
  absl::StatusOr<std::shared_ptr<Master>> Get(const CallLimits& limits);
  // The same without waiting: null if there is none.
  std::shared_ptr<Master> Find() const;

  // For tests: called before each step of a master.
  void SetOnStep(std::function<void()> on_step);

 private:
  // A master that is beginning.
  struct Beginning {
    std::thread thread;
    std::shared_ptr<Master> master;  // null once it has begun, or has failed
    absl::StatusOr<std::shared_ptr<Master>> begun = absl::UnavailableError("it has not begun yet");
    bool is_over = false;  // the thread has no more to do
  };

  absl::StatusOr<std::shared_ptr<Master>> CreateMaster(bool opening);
  // Returns a new master once it has begun. Unavailable if it loses its lock before.
  absl::StatusOr<std::shared_ptr<Master>> BeginNext();
  void Begin(Beginning* beginning);
  // Joins the threads that have ended. `all`: waits for all of them.
  void EndBeginnings(bool all);
  enum class End { kWhenClosing, kWhenStopped };
  absl::StatusOr<std::shared_ptr<Master>> Await(const CallLimits& limits, End end);
  void StartLoop();
  void DeleteLoop();
  void FenceLoop();
  // Masters that have given up and that no call uses any more.
  std::vector<std::shared_ptr<Master>> TakeRetired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Stop();

  Cluster* const cluster_;
  const ClosingState* const closing_;
  InfoLog* const info_log_;
  const bool read_only_;
  const std::function<void()> progress_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::function<void()> on_step_ ABSL_GUARDED_BY(mutex_);  // before the masters, which call it
  std::shared_ptr<Master> master_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Master>> retired_ ABSL_GUARDED_BY(mutex_);
  uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;  // to start a master; with the last error
  absl::Status last_failure_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;  // nothing still waits for the end of a server
  std::vector<std::unique_ptr<Beginning>> beginnings_;  // used by the starting thread
  std::thread starter_, deleter_, fencer_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_RUNNER_H_
