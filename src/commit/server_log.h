// The commit log of a server and its upkeep: segments that no memtable needs are released, the next
// segment is prepared, and the listener is notified of new ones.
//
// Threads: appending() is for the leader of a group of writes, or a thread that has its turn among
// them; so are ReportSegments, StartNewSegment and StartNextSegment. One thread at a time calls
// TrimIfIdle. Everything else is thread-safe.
//
// What always holds:
// 1. A server has one log in its life. Before Use() it has none; after Drop() it has none.
// 2. A segment is released only when no memtable of the server's tablets needs it, and after what
//    METADATA has committed about that was attested (TabletEnvironment::attest_commits).
// 3. Once the server has ended and WaitForUpkeep() has returned, nothing here touches the log's
//    files but MakeDurable().
//
// Lock order: `upkeep_mutex_`, and `end_mutex_`, before the locks of CommitLog and `mutex_`.
// `mutex_` is held briefly; no other lock of the server is taken under it.
#ifndef BIGTABLE_COMMIT_SERVER_LOG_H_
#define BIGTABLE_COMMIT_SERVER_LOG_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/event_listener.h"

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "base/steady_time.h"
#include "base/thread_roles.h"
#include "commit/server_tablets.h"
#include "commit/serving_state.h"
#include "commit/visible_sequence.h"
#include "commitlog/commit_log.h"
#include "tablet/tablet_environment.h"

namespace bigtable {

class ServerLog {
 public:
  // All outlive this.
  ServerLog(const TabletEnvironment* environment, const ServerTablets* tablets,
            const VisibleSequence* visible, const ServingState* state)
      : environment_(environment), tablets_(tablets), visible_(visible), state_(state) {}
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  // The server begins to write to this log. Called once; the server has its name by then.
  void Use(std::shared_ptr<CommitLog> log) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Whether Use() was called. Before that, nothing writes to the server.
  bool started() const { return started_.load(std::memory_order_acquire); }
  // For the leader, once the log has started.
  CommitLog* appending() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) { return appending_; }
  // For all other threads, and for a leader whose call may outlast its lead: null before Use() and
  // after Drop().
  std::shared_ptr<CommitLog> Get() const {
    MutexLock lock(&mutex_);
    return log_;
  }

  // Notifies the listener of the segments that the log has begun since the last call; `was_ended`:
  // the one before the newest has its end record. For the leader.
  void ReportSegments(bool was_ended) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The way out of a failure of the log (CommitLog::StartNewSegment). No record is needed: all that
  // was applied is in SSTables, and the rest was never acknowledged. In a turn among the writes.
  absl::Status StartNewSegment(const CallLimits& limits = {})
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // CommitLog::StartNextSegment. In a turn among the writes.
  absl::Status StartNextSegment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // CommitLog::PrepareFreshSpare. A server that has ended, or has no log, is ready.
  absl::StatusOr<bool> PrepareFreshSpare(const CallLimits& limits = {});

  // --- Upkeep. The limits end waits for other threads, not calls of the file system. ---

  bool NeedsUpkeep() const;
  // Releases segments that no memtable needs, and prepares the next one.
  absl::Status Maintain(const CallLimits& limits = {});
  // After OK, damage to what was logged and synced so far is an error of recovery
  // (CommitLog::Attest). Unavailable: the server has ended, and no other serves its tablets yet.
  absl::Status Attest(const CallLimits& limits = {});
  // Maintains the log, and frees the space of the segments that are kept for reuse.
  absl::Status Trim(const CallLimits& limits = {});
  // Frees that space if nothing was logged for some seconds. Called now and then.
  absl::Status TrimIfIdle();

  // Bytes of the segments that are needed or pinned.
  uint64_t LiveBytes() const;
  CommitLog::Statistics statistics() const;

  // --- The end ---

  // All memtables are flushed: writes the end record.
  absl::Status Close();
  // Returns when the upkeep that is under way has ended. If the server has ended, none follows.
  void WaitForUpkeep() { const LimitedMutexLock lock(&upkeep_mutex_); }
  // Of a server that has ended, after WaitForUpkeep(), and whose log is still needed: makes the log
  // survive a crash of the machine as it is. It is synced through the files that are open: through
  // other descriptors a sync could succeed after one that failed, without having written the data.
  // If that fails, for which `*unsynced` is the reason, the segments are replaced by copies
  // (CopyLog), and the server has no log any more, as after Drop(). An error: the log may not be
  // durable; call it again. Waits for a sync that stalls.
  absl::Status MakeDurable(absl::Status* unsynced);
  // Of a server that has closed or ended: drops the reference to the log. A call on a file of the
  // log that stalls keeps the log until it returns. No MakeDurable() replaces files after this.
  void Drop();

 private:
  absl::Status RemoveFreeSegments(const CallLimits& limits);
  void DropReference() ABSL_EXCLUSIVE_LOCKS_REQUIRED(end_mutex_);
  void Notify(void (EventListener::*function)(const LogSegmentEvent&), uint64_t number);

  const TabletEnvironment* const environment_;
  const ServerTablets* const tablets_;
  const VisibleSequence* const visible_;
  const ServingState* const state_;

  CommitLog* appending_ = nullptr;  // log_; set before started_
  std::string directory_;           // of the log; set before started_
  std::atomic<bool> started_{false};
  std::atomic<bool> is_copied_{false};  // by MakeDurable(), and still needed
  uint64_t notified_segment_ ABSL_GUARDED_BY(server_writer) = 0;  // of ReportSegments
  // Of TrimIfIdle: where the log ended at the last call, and since when it has ended there.
  uint64_t idle_end_ = 0;
  SteadyTime idle_since_;

  LimitedMutex upkeep_mutex_;  // held while segments of the log are released, removed or attested
  Mutex end_mutex_;            // held while the log of a server that has ended is made durable

  mutable Mutex mutex_;
  std::shared_ptr<CommitLog> log_ ABSL_GUARDED_BY(mutex_);
  CommitLog::Statistics last_statistics_ ABSL_GUARDED_BY(mutex_);  // after Drop()
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_SERVER_LOG_H_
