// The threads that write memtables out, merge runs and look after the logs, for all servers of a
// database (section 5.4 of the paper).
//
// Nobody queues work: each thread looks at the tablets for something to do, and sleeps when there
// is nothing. So nothing is forgotten when a compaction fails or a thread is late, and what is most
// needed is done first. One minor and one other compaction of a locality group run at a time. All
// that is rotated on a server is written out together (tablet/minor_compaction.h).
//
// What fails:
// * A flush is tried again after pauses that grow (base/retry_pause.h), while other servers' go on
//   and writes are taken as long as there is memory. It stops the writes to its server, until
//   Resume, only if METADATA may or may not have what was to be committed.
// * A compaction of a locality group is tried again in the same way, while all others go on. In the
//   same case as above all compactions stop: nothing can be committed until Resume.
// * An input that is damaged (DataLoss), or that could not be read kMostReadTries times in a row,
//   is quarantined (tablet/file_quarantine.h): compactions leave it alone until Resume.
// A pause ends at once when somebody asks for the flush, on Resume, and, if space was missing, when
// a compaction or a deleted table has made some.
#ifndef BIGTABLE_TABLETSERVER_BACKGROUND_WORK_H_
#define BIGTABLE_TABLETSERVER_BACKGROUND_WORK_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/options.h"
#include "bigtable/statistics.h"

#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/retry_pause.h"
#include "compaction/policy.h"
#include "tablet/minor_compaction.h"
#include "tabletserver/tablet_server.h"
#include "tabletserver/work_speed.h"

namespace bigtable {

// Thread-safe.
class BackgroundWork {
 public:
  struct Counters {
    uint64_t minor_compactions = 0;
    uint64_t minor_bytes_written = 0;
    uint64_t merging_compactions = 0;
    uint64_t merging_bytes_read = 0;
    uint64_t merging_bytes_written = 0;
    uint64_t major_compactions = 0;
    uint64_t moved_bytes = 0;
    uint64_t dropped_bytes = 0;
  };

  // `info_log` outlives this.
  explicit BackgroundWork(InfoLog* info_log) : info_log_(info_log) {}
  ~BackgroundWork() { Stop(); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  // The servers, which outlive this, in the order in which their memtables are most urgent.
  // `on_progress` is called after each compaction. ResourceExhausted: some of its threads cannot be
  // started; it is to be stopped.
  absl::Status Start(std::vector<TabletServer*> servers, int compaction_threads,
                     std::function<void()> on_progress);
  // The servers from now on; work on tablets of others is not begun any more.
  void SetServers(std::vector<TabletServer*> servers);
  // The database is going to be closed: calls that wait here end with FailedPrecondition, whatever
  // they wait for, and merging compactions are cancelled, also those of calls. Memtables are still
  // flushed. Then Stop, which returns when all threads have ended. What is rotated stays.
  void BeginClosing();
  void Stop();
  // There may be something to do. Cheap; from any thread.
  void Wake();

  // Rotates the tablet's memtables and waits until all is written out, or the tablet has moved;
  // then its rows are to be looked for again. Or until a flush of the server has failed: returns
  // the error, and it is tried again without the caller.
  absl::Status FlushTablet(TabletServer* server, const std::shared_ptr<Tablet>& tablet,
                           const CallLimits& limits);
  // Writes out everything that is rotated on a server, on this thread, even if the server has an
  // error.
  absl::Status FlushNow(TabletServer* server);
  // Major compaction of each group, on this thread. Ends early if the tablet has moved. DataLoss
  // if groups are left out, because of a file that is damaged; others are compacted.
  absl::Status CompactTablet(TabletServer* server, const std::shared_ptr<Tablet>& tablet,
                             const CallLimits& limits);
  // Waits until no work on a tablet is under way, and keeps the threads from beginning any until
  // ReleaseTablet; memtables are still written out while it waits for a merging compaction. After
  // an error it is not claimed: those of the limits; FailedPrecondition if the database is being
  // closed.
  absl::Status ClaimTablet(const Tablet* tablet, const CallLimits& limits);
  void ReleaseTablet(const Tablet* tablet);
  // Writes out what is rotated of a tablet that the caller has claimed, on this thread.
  absl::Status FlushClaimed(TabletServer* server, const std::shared_ptr<Tablet>& tablet);
  // Waits until no work on a tablet is under way. None is begun any more, because its server does
  // not have it any more.
  void WaitForTablet(const Tablet* tablet);

  absl::Status WaitUntilQuiet(const CallLimits& limits);
  // Whether there are memtables that are going to be written out.
  bool HasFlushes() const;
  bool IsStopping() const;
  // Waits for progress of some kind, for `most` at most.
  void WaitForProgress(absl::Duration most);
  // The most sorted runs that a group has.
  size_t MostRuns() const { return most_runs_.load(std::memory_order_relaxed); }
  // How fast flushes and merging compactions go just now, in the bytes that what they write has
  // taken, or would take, in memtables and log, a second.
  double FlushSpeed() const { return flush_speed_.Now(); }
  double CompactionSpeed() const { return compaction_speed_.Now(); }

  void PauseCompactions();
  void ContinueCompactions();
  void CancelCompactions();

  // What stopped all merging compactions, if anything did.
  absl::Status compaction_error() const;
  // Goes on with them, and with whatever is in a pause, also with files that were quarantined.
  void ClearError();
  // There is more space than before: what has failed without it is tried again at once.
  void RetryForSpace();
  // Whether flushes of the server have failed, and none has succeeded since.
  bool IsFlushFailing(const TabletServer* server) const;
  // Why memtables cannot be written out, if that has gone on for so long that nobody should wait
  // for their memory any more.
  absl::Status StuckFlush() const;
  std::vector<FailingWork> Failing() const;
  Counters counters() const;

 private:
  // A locality group of a tablet.
  using WorkId = std::pair<const Tablet*, size_t>;
  // One whose runs can be merged.
  struct Work {
    TabletServer* server = nullptr;
    std::shared_ptr<Tablet> tablet;
    size_t group = 0;
    CompactionPick pick;

    WorkId id() const { return {tablet.get(), group}; }
  };
  // Memtables of a server that can be written out together: all of them if they are not very many.
  struct FlushWork {
    static constexpr size_t kMostTogether = 256;

    FlushWork() = default;
    FlushWork(TabletServer* s, std::vector<ImmutableMemtables> f);

    TabletServer* server = nullptr;
    std::vector<ImmutableMemtables> immutable;  // until RunFlush
    std::vector<WorkId> ids;
    bool is_in_doubt = false;  // after RunFlush has failed: MinorCompaction::is_in_doubt
  };
  // What has failed, and is tried again.
  struct Trouble {
    RetryPause pause;
    absl::Status status;  // of the last try
    absl::Time since;     // the first one, for those who read it
    int64_t begin = 0;    // the same, as NowNanos
    uint64_t last = 0;    // the number of the last failure, among all of flushes
    // Of a compaction, whose place an other tablet may have taken in memory.
    std::weak_ptr<const Tablet> tablet;
    std::string server;

    void Failed(const absl::Status& failed, absl::Duration took = absl::ZeroDuration());
  };
  // What of a claimed tablet the threads keep away from.
  enum class Claim { kMergingCompactions, kAll };
  using WorkSet = std::set<WorkId>;

  // How long a flush waits for a claimed tablet that it could take along.
  static constexpr absl::Duration kClaimTimeout = absl::Milliseconds(100);
  // How long writers wait for memtables that cannot be written out.
  static constexpr absl::Duration kStuck = absl::Seconds(5);
  // After these, with pauses of six seconds in all, an input is taken for unreadable for good.
  static constexpr uint64_t kMostReadTries = 8;

  void FlushLoop();
  void CompactLoop();
  void UpkeepLoop();
  static bool IsWorkedOn(const WorkSet& set, const Tablet* tablet);
  // Shortens `*wait` to the time after which there may be something without any change.
  bool FindFlush(FlushWork* work, absl::Duration* wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Also by flushes.
  bool IsClaimed(const Tablet* tablet) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Among the tablets that have changed since they were looked at.
  bool FindCompaction(Work* work, absl::Duration* wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // All are to be looked at again: time has passed.
  void LookAtAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // An error is not one of a tablet that was removed.
  absl::Status RunFlush(FlushWork* work);
  absl::Status RunCompaction(const Work& work, bool major, const CallLimits& limits);
  // Once for a locality group of a table: see MinorCompaction::Part::HasFutureCells.
  void WarnOfFutureCells(const MinorCompaction::Part& part) ABSL_LOCKS_EXCLUDED(mutex_);
  // What a compaction reads, and how CompactionSpeed counts that.
  static uint64_t InputBytes(const Work& work);
  uint64_t AsInMemory(uint64_t file_bytes) const;
  void NoteExpansion(uint64_t in_memory, uint64_t file_bytes);
  // Compactions that wait for the rate limit look whether they are cancelled.
  void WakeLimited() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // FailedPrecondition if the database is being closed, for calls that are about to wait.
  absl::Status CheckOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteFlush(const FlushWork& work, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void NoteCompaction(const Work& work, const CompactionOutcome& outcome,
                      const absl::Status& status, absl::Duration took) ABSL_LOCKS_EXCLUDED(mutex_);
  void QuarantineInput(const Work& work, uint64_t number, const absl::Status& status)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void StopCompactions(const Work& work, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // What concerns tablets that are not what they were is forgotten.
  void ForgetOldTroubles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AnyTrouble() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the flush is done, or its tablet or server is not what it was, or it has failed
  // since the failure with number `last`.
  absl::Status AwaitFlush(TabletServer* server, const Tablet& tablet, size_t group,
                          SequenceNumber through, uint64_t last, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What the upkeep of a server's log has to do.
  void Upkeep(TabletServer* server) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a compaction of either kind for the tablet and its server.
  static void Count(CompactionCounters* tablet, CompactionCounters* server,
                    LatencyRecorder* durations, const CompactionOutcome& outcome,
                    const absl::Status& status, int64_t nanos);
  // Waits for a change. Errors of the limits, and FailedPrecondition if the database is being
  // closed.
  absl::Status WaitForChange(const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finished(WorkSet* set, const std::vector<WorkId>& ids);
  void CountRuns();

  InfoLog* const info_log_;
  std::function<void()> on_progress_;
  std::atomic<size_t> most_runs_{0};
  std::atomic<bool> cancel_{false};
  WorkSpeed flush_speed_;
  WorkSpeed compaction_speed_;
  std::atomic<double> expansion_{1};  // bytes of memtables for a byte of what they were flushed to

  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t wakes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<TabletServer*> servers_ ABSL_GUARDED_BY(mutex_);
  WorkSet flushing_ ABSL_GUARDED_BY(mutex_);
  WorkSet compacting_ ABSL_GUARDED_BY(mutex_);
  // Times are as NowNanos.
  std::optional<int64_t> looked_at_all_ ABSL_GUARDED_BY(mutex_);
  std::map<const Tablet*, Claim> claims_ ABSL_GUARDED_BY(mutex_);
  // Of the servers whose flush waits for a claimed tablet.
  std::map<const TabletServer*, int64_t> held_since_ ABSL_GUARDED_BY(mutex_);
  std::map<const TabletServer*, Trouble> flush_troubles_ ABSL_GUARDED_BY(mutex_);
  std::map<WorkId, Trouble> compaction_troubles_ ABSL_GUARDED_BY(mutex_);
  std::map<const TabletServer*, RetryPause> upkeep_pauses_ ABSL_GUARDED_BY(mutex_);
  uint64_t flush_failures_ ABSL_GUARDED_BY(mutex_) = 0;
  int pauses_ ABSL_GUARDED_BY(mutex_) = 0;
  int cancelling_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;   // for calls
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;  // for the threads too
  absl::Status compaction_error_ ABSL_GUARDED_BY(mutex_);
  Counters counters_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<uint64_t, size_t>> warned_of_ ABSL_GUARDED_BY(mutex_);  // table, group

  std::vector<std::thread> threads_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_BACKGROUND_WORK_H_
