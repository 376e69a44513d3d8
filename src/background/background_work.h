// The threads that flush memtables, merge sorted runs and maintain the logs, for all servers of a
// database (section 5.4 of the paper).
//
// There is no work queue: each thread looks at the tablets for work, and sleeps when there is none.
// So no work is forgotten when a compaction fails or a thread is late, and the most urgent work is
// done first. A locality group has at most one minor compaction at a time, and as many others as
// its policy wants, if they are apart (compaction_plan.h). All that is rotated on a server is
// flushed together (minor_compaction.h).
//
// Failures (background_failures.cc):
// * A flush is retried after pauses that grow (base/retry_pause.h). Meanwhile other servers flush,
//   and writes are accepted as long as there is memory. A flush stops the writes to its server,
//   until Resume, only if METADATA may or may not have taken its commit.
// * A compaction of a locality group is retried in the same way, while all others continue. If
//   METADATA may or may not have taken its commit, all compactions stop until Resume, because
//   nothing else can be committed.
// * An input that is damaged (DataLoss), or that could not be read kMostReadTries times in a row,
//   is quarantined (tablet/file_quarantine.h): compactions leave it alone until Resume.
// A pause ends at once when a caller requests the flush, on Resume, and, if space was missing, when
// a compaction or a deleted table has freed some. A compaction that fails after a Resume, but began
// before it, is retried at once and not recorded: what made it fail may be mended.
//
// Lock order: a turn among the writes of a server, then `mutex_`, then the other locks of a server
// and of a Tablet. The choice of a compaction may read indexes of files under it; no other I/O.
#ifndef BIGTABLE_BACKGROUND_BACKGROUND_WORK_H_
#define BIGTABLE_BACKGROUND_BACKGROUND_WORK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "absl/types/span.h"

#include "bigtable/options.h"
#include "bigtable/statistics.h"

#include "background/compaction_picker.h"
#include "background/compaction_plan.h"
#include "background/minor_compaction.h"
#include "background/running_compactions.h"
#include "background/work_meter.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/retry_pause.h"
#include "compaction/policies.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// Thread-safe.
class BackgroundWork {
 public:
  // `info_log` outlives this.
  explicit BackgroundWork(InfoLog* info_log) : info_log_(info_log) {}
  ~BackgroundWork() { Stop(); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  // --- Its threads ---

  // `servers` outlive this; the memtables of the first one are the most urgent. `on_progress` is
  // called after each compaction. ResourceExhausted: a thread could not be started; the caller
  // stops the others.
  absl::Status Start(std::vector<TabletServer*> servers, int compaction_threads,
                     std::function<void()> on_progress);
  // Starts threads that merge SSTables, or ends some, each after the compaction that it runs. Does
  // nothing before Start. Calls come one after the other. ResourceExhausted: a thread could not be
  // started; the number stays.
  absl::Status SetCompactionThreads(int count) ABSL_LOCKS_EXCLUDED(mutex_);
  // Replaces the servers. No more work begins on tablets of other servers.
  void SetServers(std::vector<TabletServer*> servers);
  // The database is about to close: calls that wait here fail with FailedPrecondition, and merging
  // compactions are cancelled, those of calls too. Memtables are still flushed. Then Stop, which
  // returns when all threads have ended. Memtables that are rotated then stay immutable.
  void BeginClosing();
  void Stop();
  bool IsStopping() const;
  // There may be work. Cheap; from any thread.
  void Wake();

  // --- Calls (background_calls.cc) ---

  // What a compaction does that a caller runs, while AreCompactionsStopped(): a call of the program
  // compacts nevertheless, and what the database does on its own does not.
  enum class IfStopped { kCompact, kRefuse };

  // Rotates the memtables of these tablets, which are the server's, and waits until all are
  // flushed, or their tablet is superseded; then the caller looks its rows up again. If a flush of
  // the server fails meanwhile, returns its error; the flush is retried in the background.
  absl::Status FlushTablets(TabletServer* server, absl::Span<const std::shared_ptr<Tablet>> tablets,
                            const CallLimits& limits);
  absl::Status FlushTablet(TabletServer* server, const std::shared_ptr<Tablet>& tablet,
                           const CallLimits& limits) {
    return FlushTablets(server, absl::MakeConstSpan(&tablet, 1), limits);
  }
  // Flushes everything that is rotated on a server, on this thread, even if the server refuses
  // writes. The limits end waits for flushes and claims of other threads.
  absl::Status FlushNow(TabletServer* server, const CallLimits& limits = {});
  // Runs a major compaction of each group, on this thread. Ends early if the tablet is superseded.
  // DataLoss if groups are skipped because of a damaged file; the others are compacted.
  // Unavailable: compactions are stopped, and `if_stopped` refuses.
  absl::Status CompactTablet(TabletServer* server, const std::shared_ptr<Tablet>& tablet,
                             const CallLimits& limits, IfStopped if_stopped = IfStopped::kCompact);
  // While it exists, merges of the table write no common files: a call that rewrites all of its
  // files would leave the bytes that another tablet has written in one meanwhile.
  class OwnFiles {
   public:
    OwnFiles(BackgroundWork* background, uint64_t table_id);
    ~OwnFiles();
    OwnFiles(const OwnFiles&) = delete;
    OwnFiles& operator=(const OwnFiles&) = delete;

   private:
    BackgroundWork* const background_;
    const uint64_t table_id_;
  };
  // Rotates all memtables of the server at once, and waits until these are flushed. Errors as of
  // FlushTablet.
  absl::Status FlushServer(TabletServer* server, const CallLimits& limits);
  // Removes from the server's log the bytes of a table whose memtables are flushed: the log
  // continues in a fresh file, and all other memtables are flushed. Files that a reader has pinned
  // are removed later. Does nothing if the log has had no mutation of the table since it was last
  // erased, nor of a deleted table.
  absl::Status EraseOldLog(TabletServer* server, uint64_t table_id, const CallLimits& limits);
  // Waits until no work on a tablet is under way, and keeps the threads from beginning any until
  // ReleaseTablet. While it waits for a merging compaction, memtables are still flushed. After an
  // error the tablet is not claimed: an error of the limits, or FailedPrecondition if the database
  // is closing.
  absl::Status ClaimTablet(const Tablet* tablet, const CallLimits& limits);
  void ReleaseTablet(const Tablet* tablet);
  // Flushes what is rotated of tablets that the caller has claimed, on this thread.
  absl::Status FlushClaimed(TabletServer* server,
                            absl::Span<const std::shared_ptr<Tablet>> tablets);
  absl::Status FlushClaimed(TabletServer* server, const std::shared_ptr<Tablet>& tablet) {
    return FlushClaimed(server, absl::MakeConstSpan(&tablet, 1));
  }
  // Waits until no work on a tablet is under way. None begins any more, because its server has
  // removed the tablet. Errors of the limits.
  absl::Status WaitForTablet(const Tablet* tablet, const CallLimits& limits);
  void WaitForTablet(const Tablet* tablet) { WaitForTablet(tablet, {}).IgnoreError(); }
  // Waits until there is no work, and frees the space of the logs that only work would need.
  absl::Status WaitUntilQuiet(const CallLimits& limits);
  // Waits for progress of some kind, for `most` at most.
  void WaitForProgress(absl::Duration most);

  // Whether compactions are paused or cancelled, or an error has stopped them.
  bool AreCompactionsStopped() const;
  void PauseCompactions();
  void ContinueCompactions();
  void CancelCompactions();

  // --- What it has done, and what is left ---

  const WorkMeter& meter() const { return meter_; }
  // Whether there are memtables that are due to be flushed.
  bool HasFlushes() const;

  // --- Failures (background_failures.cc) ---

  // The error that stopped all merging compactions, if one did.
  absl::Status compaction_error() const;
  // Resumes merging compactions, ends all pauses, and lifts all quarantines.
  void ClearError();
  // There is more space than before: work that failed for lack of space is retried at once.
  void RetryForSpace();
  // Whether flushes of the server have failed, and none has succeeded since.
  bool IsFlushFailing(const TabletServer* server) const;
  // Why memtables cannot be flushed, if flushes have failed for so long that no writer should wait
  // for their memory any more.
  absl::Status StuckFlush() const;
  std::vector<FailingWork> Failing() const;

 private:
  using WorkId = RunningCompactions::Group;
  // A compaction of a locality group.
  struct Work {
    TabletServer* server = nullptr;
    std::shared_ptr<Tablet> tablet;
    size_t group = 0;
    CompactionPlan plan = {};
    absl::Status refused = {};  // the error of the policy's pick, which was refused
    // Set when it begins.
    RunningCompactions::Handle running = {};
    uint64_t failures = 0;  // those of the group so far
    uint64_t resumed = 0;   // `resumed_` then

    WorkId id() const { return {tablet.get(), group}; }
  };
  // Memtables of a server that can be flushed together: all of them, or kMostTogether. If these are
  // not all that were rotated at a time, the log has to be synced for the others.
  struct FlushWork {
    static constexpr size_t kMostTogether = 4096;

    FlushWork() = default;
    FlushWork(TabletServer* s, std::vector<ImmutableMemtables> f);

    TabletServer* server = nullptr;
    std::vector<ImmutableMemtables> immutable;  // until RunFlush
    std::vector<WorkId> ids;
    bool is_in_doubt = false;  // after RunFlush has failed: MinorCompaction::is_in_doubt
  };
  // Work that has failed and is retried.
  struct FailedWork {
    RetryPause pause;
    absl::Status status;  // of the last try
    absl::Time since;     // the first failure, for statistics
    int64_t begin = 0;    // the same, as NowNanos
    uint64_t last = 0;    // the number of the last failure, among those of all flushes
    // Of a compaction; another tablet may have the address by now.
    std::weak_ptr<const Tablet> tablet;
    std::string server;

    void Failed(const absl::Status& failed, absl::Duration took = absl::ZeroDuration());
  };
  // The work that the threads do not begin on a claimed tablet.
  enum class Claim { kMergingCompactions, kAll };
  using WorkSet = std::set<WorkId>;

  // How long a flush waits for a claimed tablet that it could include.
  static constexpr absl::Duration kClaimTimeout = absl::Milliseconds(100);
  // How long writers wait for memtables that cannot be flushed.
  static constexpr absl::Duration kStuck = absl::Seconds(5);
  // After so many tries, with pauses of six seconds in all, an input is taken to be unreadable.
  static constexpr uint64_t kMostReadTries = 8;

  // --- background_work.cc ---

  void FlushLoop();
  void CompactLoop(size_t number);
  void UpkeepLoop();
  // Does the upkeep of a server's log that is due.
  void Upkeep(TabletServer* server) ABSL_LOCKS_EXCLUDED(mutex_);
  // Shortens `*wait` to the time after which there may be work without any other change.
  bool FindFlush(FlushWork* work, absl::Duration* wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether flushes leave the tablet alone, too.
  bool IsClaimed(const Tablet* tablet) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Searches the tablets that have changed since the last search.
  bool FindCompaction(Work* work, absl::Duration* wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same in one tablet, which is not claimed, and in one of its groups. If something is found,
  // the tablet is searched again later.
  bool FindInTablet(TabletServer* server, const std::shared_ptr<Tablet>& tablet, Work* work,
                    absl::Duration* wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FindIn(TabletServer* server, const std::shared_ptr<Tablet>& tablet, size_t group, Work* work,
              absl::Duration* wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds compactions of other tablets that can be made together with the first one.
  void FindOthers(std::vector<Work>* works) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A policy of the tablet wants to be asked again after this delay.
  static void WaitForPolicy(Tablet* tablet, absl::Duration delay, absl::Duration* wait);
  // Has all tablets searched again, because time has passed. Releases the lock meanwhile.
  void SearchAllTablets() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static SparseFiles FindSparseFiles(absl::Span<TabletServer* const> servers);
  // Between these two, a thread or call works on the groups of a flush, or within the reach of a
  // compaction.
  void BeginFlush(const FlushWork& work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginCompaction(Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishedFlush(const FlushWork& work) ABSL_LOCKS_EXCLUDED(mutex_);
  void FinishedCompactions(absl::Span<const Work> works) ABSL_LOCKS_EXCLUDED(mutex_);
  bool AreStopped() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How many compactions of the group have failed since one has succeeded.
  uint64_t FailuresOf(const Work& work) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool BeganBeforeResume(const Work& work) const ABSL_LOCKS_EXCLUDED(mutex_);
  void CountRuns();
  // Compactions that wait for the rate limiter check whether they are cancelled.
  void WakeLimited() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // --- background_run.cc ---

  // The error is not that of a tablet that was removed.
  absl::Status RunFlush(FlushWork* work);
  absl::Status RunCompaction(Work* work, const CallLimits& limits);
  // Several, which JointMerge takes.
  void RunTogether(std::vector<Work>* works);
  // Counts and records a compaction that has ended, and returns whether it has done something.
  bool NoteCompaction(const Work& work, const CompactionOutcome& outcome,
                      const absl::Status& status, const CallLimits& limits, int64_t nanos);
  void LogUnfiltered(const Work& work, uint64_t cells, bool major) const;
  // Warns once for a locality group of a table: see MinorCompaction::GroupFlush::HasFutureCells.
  void WarnOfFutureCells(const MinorCompaction::GroupFlush& part) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a compaction of either kind for the tablet and its server.
  static void Count(CompactionCounters* tablet, CompactionCounters* server,
                    LatencyRecorder* durations, const CompactionOutcome& outcome,
                    const absl::Status& status, int64_t nanos);

  // --- background_calls.cc ---

  bool IsFlushed(const Tablet* tablet) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until a major compaction of the group can begin. OK too if its tablet has ended.
  absl::Status AwaitCompactions(const Work& work, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A caller will wait for flushes of the server: failed ones are retried at once. Returns the
  // number of the last failure.
  uint64_t BeginWaiting(TabletServer* server) ABSL_LOCKS_EXCLUDED(mutex_);
  // What a caller waits for: it is not what is rotated later, nor what waits to be due.
  struct Immutable {
    std::shared_ptr<Tablet> tablet;
    std::vector<SequenceNumber> last;  // of each group; 0: it has none
  };
  static Immutable ImmutableOf(std::shared_ptr<Tablet> tablet, SequenceNumber due_through);
  absl::Status AwaitFlushes(TabletServer* server, const Immutable& immutable, uint64_t last_failure,
                            const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // FailedPrecondition if the database is closing, for calls that are about to wait.
  absl::Status CheckOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the group is flushed up to `through`, or the tablet is superseded. Returns the
  // error of a flush that has failed since the failure with number `last`, or of the server.
  absl::Status AwaitFlush(TabletServer* server, const Tablet& tablet, size_t group,
                          SequenceNumber through, uint64_t last, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for a change. Errors of the limits, and FailedPrecondition if the database is closing.
  absl::Status WaitForChange(const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // --- background_failures.cc ---

  void RecordFlush(const FlushWork& work, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void RecordCompaction(const Work& work, const CompactionOutcome& outcome,
                        const absl::Status& status, absl::Duration took)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void QuarantineInput(const Work& work, uint64_t number, const absl::Status& status)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void StopCompactions(const Work& work, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Forgets the failures of tablets that are superseded or removed.
  void ForgetOldFailures() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AnyFailure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  InfoLog* const info_log_;
  std::function<void()> on_progress_;
  std::atomic<bool> cancel_{false};
  WorkMeter meter_;

  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t wakes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<TabletServer*> servers_ ABSL_GUARDED_BY(mutex_);
  WorkSet flushing_ ABSL_GUARDED_BY(mutex_);
  RunningCompactions compacting_ ABSL_GUARDED_BY(mutex_);
  // Times are as NowNanos.
  std::optional<int64_t> searched_all_at_ ABSL_GUARDED_BY(mutex_);
  SparseFiles sparse_files_ ABSL_GUARDED_BY(mutex_);           // then
  std::multiset<uint64_t> own_files_ ABSL_GUARDED_BY(mutex_);  // of OwnFiles: tables
  std::map<const Tablet*, Claim> claims_ ABSL_GUARDED_BY(mutex_);
  // For servers whose flush waits for a claimed tablet.
  std::map<const TabletServer*, int64_t> held_since_ ABSL_GUARDED_BY(mutex_);
  std::map<const TabletServer*, FailedWork> failed_flushes_ ABSL_GUARDED_BY(mutex_);
  std::map<WorkId, FailedWork> failed_compactions_ ABSL_GUARDED_BY(mutex_);
  std::map<const TabletServer*, RetryPause> upkeep_pauses_ ABSL_GUARDED_BY(mutex_);
  uint64_t flush_failures_ ABSL_GUARDED_BY(mutex_) = 0;
  int pauses_ ABSL_GUARDED_BY(mutex_) = 0;
  int cancelling_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;   // for calls
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;  // for the threads too
  absl::Status compaction_error_ ABSL_GUARDED_BY(mutex_);
  uint64_t resumed_ ABSL_GUARDED_BY(mutex_) = 0;  // how often; see RecordCompaction
  std::set<std::pair<uint64_t, size_t>> warned_of_ ABSL_GUARDED_BY(mutex_);  // table, group

  // A thread that merges SSTables ends when its number is not among the wanted ones.
  struct Compactor {
    std::thread thread;
    bool has_ended = true;
  };
  size_t wanted_compactors_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Compactor> compactors_ ABSL_GUARDED_BY(mutex_);  // by number

  std::vector<std::thread> threads_;  // the others
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_BACKGROUND_WORK_H_
