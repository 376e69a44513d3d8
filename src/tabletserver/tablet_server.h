// A tablet server: its tablets, the commit log that they share, and the way of a write through both
// (sections 5.3 and 6 of the paper).
//
// A write runs on the caller's thread. Callers that come at the same time form a group
// (commitlog/group_commit.h), and one of them, the leader, does for all: sequence numbers, one
// record each into the log, one sync if any asks for it, the memtables, and then the visible
// sequence number. If a call on the log's file stalls, one of those who wait takes over from the
// leader, in the log's other file (commitlog/commit_log.h). So there is one writer at a time, and
// readers see a group only when it is whole. Changes of a tablet's memtables and schema run in the
// same queue.
//
// A server whose lock is lost acknowledges nothing: it looks at the lock before a group goes to the
// log, and again after that, when it waits until it has the lock again, or has ended. What was
// logged by a server that ended is Unavailable, and found by who replays the log only if nobody has
// noted what the server had acknowledged (cluster/server_directory.h).
//
// When the log or a sync fails, the write and all later ones return the error until Resume(): what
// is in memory is sound, but what the log holds is not known. A write that the log has no room for
// leaves the log as it was, and fails alone.
#ifndef BIGTABLE_TABLETSERVER_TABLET_SERVER_H_
#define BIGTABLE_TABLETSERVER_TABLET_SERVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/options.h"
#include "bigtable/statistics.h"

#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/sequence.h"
#include "base/steady_time.h"
#include "commitlog/commit_log.h"
#include "commitlog/group_commit.h"
#include "monitoring/call_timer.h"
#include "monitoring/server_counters.h"
#include "tablet/mutation_format.h"
#include "tablet/tablet.h"
#include "tabletserver/rotated_tablets.h"
#include "tabletserver/server_lock.h"

namespace bigtable {

// Mutations of one tablet that go to the log together.
struct WriteRequest {
  Tablet* tablet = nullptr;
  // The schema that they were checked against, which lives as long as the call.
  const TableLayout* layout = nullptr;
  absl::Span<const EncodedMutation> mutations;
  bool is_batch = false;  // all of them are applied, and found again after a crash, or none
  Durability durability = Durability::kBuffered;
  CallLimits limits;                   // looked at once more before they go to the log
  const CallSample* sample = nullptr;  // null: it is not measured
};

struct TabletServerOptions {
  // Bytes at which a memtable is rotated, and of a log segment.
  uint64_t memtable_size = 0;
  uint64_t log_segment_size = 0;
  // The log is kept shorter than this by writing out the memtables that need its oldest segments.
  uint64_t max_log_bytes = 0;
};

class TabletServer final {
 public:
  // `environment` is the base of the tablets' own; name, visible and sync_log are filled in here.
  // `sequences` and `info_log` outlive the server. `wake` is called when there is background work.
  TabletServer(TabletServerOptions options, TabletEnvironment environment,
               SequenceSource* sequences, InfoLog* info_log, std::function<void()> wake);
  ~TabletServer();

  // Starts the log in `directory` as the server `name`, which no other had before, and takes the
  // server's lock in `lock_service`, which outlives it (null: it needs none). Until then the server
  // has no name, and can only read and replay. May be called while others read.
  absl::Status StartLog(std::string name, std::string directory,
                        LockService* lock_service = nullptr,
                        absl::Duration lease = absl::InfiniteDuration());
  // Whether it may serve: it has its lock, or needs none. Any thread.
  bool serving() const { return !has_log() || lock_ == nullptr || lock_->held(); }
  // Renews its lock, or tries to get it back. One thread at a time.
  ServerLock::State RenewLock();
  // Somebody has found that it is not serving: has the background look at that soon.
  void RequestLock() const { wake_(); }
  // Its file is fenced, so it will never serve again: whoever waits for its lock goes on.
  void MarkEnded() { ended_ = true; }
  bool ended() const { return ended_; }
  // After that: whatever it has begun has ended when this returns, and it touches its log no more,
  // but for a call on a log file that has stalled and was left behind by a switch: what that still
  // does to its file is no part of the log. visible() and last_acknowledged() are final then.
  void WaitForEnd();
  // Of a server that has ended: nobody will read its log. A call that stalls keeps it until it
  // returns.
  void DropLog();

  // Whether StartLog has succeeded. Before, nobody writes to the server.
  bool has_log() const { return has_log_.load(std::memory_order_acquire); }
  // Only if it has a log, or on the thread that starts it.
  const std::string& name() const { return environment_.server; }
  const TabletEnvironment* environment() const { return &environment_; }
  TabletEnvironment* mutable_environment() { return &environment_; }

  // --- Tablets ---

  void AddTablet(std::shared_ptr<Tablet> tablet);
  // The tablet takes no more writes.
  void RemoveTablet(const TabletId& id);
  // Replaces a tablet by two, in its turn among the writes (Tablet::Split), and calls `publish`
  // before anybody writes to them. What it has rotated for that waits for the server's next flush.
  void SplitTablet(const std::shared_ptr<Tablet>& tablet, std::string_view row,
                   absl::FunctionRef<void(const Tablet::Halves&)> publish);
  // The tablet takes no more writes, and its memtables are rotated, so that it can be served by
  // another server, or as another tablet.
  void StopTablet(Tablet* tablet);
  // Has nothing to do any more with a tablet that has moved.
  void ForgetTablet(const Tablet& tablet);
  // Before a tablet that was elsewhere, with mutations up to `sequence`, is read here.
  void AdvanceVisible(SequenceNumber sequence);
  // Lets go of what a removed tablet holds, once no work on it is under way.
  void Empty(Tablet* tablet);
  // In its turn among the writes.
  void SetLayout(Tablet* tablet, const std::shared_ptr<const TableLayout>& layout);
  // The tablet of a table that has `row`; null if it is not on this server.
  std::shared_ptr<Tablet> FindTablet(uint64_t table_id, std::string_view row) const;
  // The one that has the table's last rows before `row`, or its last rows if that is none; null if
  // it is not on this server.
  std::shared_ptr<Tablet> FindTabletBefore(uint64_t table_id,
                                           const std::optional<std::string>& row) const;
  std::vector<std::shared_ptr<Tablet>> Tablets() const;

  // --- Writes ---

  // Applies each mutation by itself, unless they are a batch, which must be well formed, and
  // returns a status for each in `statuses`; those that are not OK before are passed over. If the
  // tablet has another schema than `request.layout` by then, the mutations are checked against
  // that. False, and nothing is applied, if the tablet is stopped or has moved, or the server has
  // lost its lock: then the rows are to be looked for again.
  [[nodiscard]] bool Apply(const WriteRequest& request, absl::Span<absl::Status> statuses);
  // The families that the mutation names must be there: NotFound, with those that are.
  // InvalidArgument if it is not well formed, or empty.
  static absl::Status Check(const TableLayout& layout, const EncodedMutation& mutation);

  // Of a server that is only read: what is written stays in its memtables. It was checked.
  void ApplyInMemory(Tablet* tablet, const EncodedMutation& mutation);

  // The last mutation that readers see.
  SequenceNumber visible() const { return visible_.load(std::memory_order_acquire); }
  // Recovery has brought the tablets up to here.
  void SetVisible(SequenceNumber sequence) {
    ABSL_ASSERT(sequence >= visible() && "what readers see only grows");
    visible_.store(sequence, std::memory_order_release);
  }
  // The last mutation of this server's own log that was acknowledged; zero if there is none. Not
  // visible(), which other servers' numbers raise (AdvanceVisible): above this the log may have
  // what was refused.
  SequenceNumber last_acknowledged() const {
    return last_acknowledged_.load(std::memory_order_acquire);
  }
  // Waits until everything that was given a sequence number before the call is visible.
  void WaitForWrites() {
    queue_.RunExclusive([] {});
  }

  // --- Freezing memtables; these wait for their turn among the writes. ---

  // Rotates the active memtables of the tablet, so that background work writes them out.
  void RotateAll(Tablet* tablet);
  void RotateEverything();
  // Has the largest active memtables written out, which together have half of what all have, and
  // what waits, because memory is short. (One alone would hardly help where there are many.)
  void RotateLargest();

  // --- Upkeep, from background threads ---

  // Gives back log segments that no memtable needs, and has the next one ready.
  absl::Status MaintainLog();
  // What was logged and synced so far is not lost without an error (CommitLog::Attest).
  // Unavailable: the server has ended, and nobody has taken its tablets yet.
  absl::Status AttestLog();
  // Gives back the space of the log segments that are kept to be used again.
  absl::Status TrimLog();
  // The same, if nothing was logged for some seconds; looked at now and then, from one thread.
  absl::Status TrimLogIfIdle();
  bool LogNeedsUpkeep() const {
    const std::shared_ptr<CommitLog> log = Log();
    return log != nullptr && log->NeedsUpkeep();
  }
  // Whether immutable memtables are due to be written out (tabletserver/rotated_tablets.h).
  bool HasImmutable();
  // These, at one moment: what was rotated together is in it together.
  std::vector<ImmutableMemtables> MemtablesToFlush();
  // Bytes of immutable memtables that wait for others to be due.
  uint64_t WaitingBytes() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return rotated_.waiting_bytes(); }
  // Bytes of the log's segments that are needed or pinned.
  uint64_t LogBytes() const {
    const std::shared_ptr<CommitLog> log = Log();
    return log == nullptr ? 0 : log->LiveBytes();
  }
  CommitLog::Statistics LogStatistics() const;
  uint64_t rows_written() const { return rows_written_.load(std::memory_order_relaxed); }
  ServerCounters* counters() { return &counters_; }
  TabletServerStatistics Statistics() const;

  // --- Errors ---

  // From now on writes return this; the first one stays.
  void SetError(const absl::Status& status);
  absl::Status error() const;
  // The first half of Resume: everything in memory is to be written out. The second, once it was:
  // a fresh segment, and writes are allowed again.
  void BeginResume();
  absl::Status FinishResume();

  // Every record is written out: ends the log. Then ReleaseLock gives the lock up, and removes the
  // server's file.
  absl::Status CloseLog();
  absl::Status ReleaseLock();
  // For tests, as if the server's process had died: the lock is free.
  void Abandon() { lock_->Abandon(); }

 private:
  // Whether one of its tablets has rows of this one. For assertions.
  bool HasRowsOf(const Tablet& tablet) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  struct Write;
  // What the leader keeps of a mutation between the log and the memtables.
  struct Logged {
    SequenceNumber sequence;
    int64_t timestamp;
    std::string_view operations;
    LogSegment* segment;
  };

  // When a group had got how far.
  struct GroupTimes {
    int64_t begin;
    int64_t logged;
    int64_t synced;
    int64_t applied;
  };

  void CommitGroup(std::span<GroupCommit::Request* const> group);
  // The same for a group whose leader stalls in SecureLog, on another thread.
  void CommitGroupElsewhere(std::span<GroupCommit::Request* const> group);
  GroupCommit::TakeOver TakeOver();
  // Flushes the log and, if `sync`, syncs it. False if the call has stalled and another thread has
  // done all that was left to do.
  bool SecureLog(std::span<GroupCommit::Request* const> group, bool sync, absl::Status* status);
  absl::Status Secure(CommitLog* log, bool sync);
  // What is left when the log has the group, or has failed.
  void FinishGroup(std::span<GroupCommit::Request* const> group, absl::Status status);
  absl::Status RemoveFreeSegments();
  // With the lock, or once it has it again; false when the server has ended.
  bool AwaitLock() const;
  // Tells the listener if the log is in another segment than when it was last told, and that the
  // one right before it `was_ended`. The leader's.
  void NoteLogSegment(bool was_ended);
  void NotifySegment(void (EventListener::*function)(const LogSegmentEvent&), uint64_t number);
  void NoteTimes(std::span<GroupCommit::Request* const> group, const GroupTimes& times);
  // An error is one of the log, which concerns the whole group; what is wrong with a single
  // mutation, or is too large for the log, is in its own status.
  absl::Status LogWrite(Write* write);
  absl::Status LogMutation(Write* write, size_t i);
  absl::Status LogBatch(Write* write);
  // Appends a record of the write. An error that leaves the log as it was goes to `*refused`.
  absl::Status AppendToLog(RecordType type, SequenceNumber sequence,
                           std::span<const std::string_view> parts, AppendedRecord* record,
                           absl::Status* refused);
  void ApplyToMemtables(Write* write);

  // --- tablet_server_rotation.cc ---

  // The leader's: full memtables of a tablet that was written to are due.
  void RotateFull(Tablet* tablet);
  // The leader's: the log is too long, and what begins in its older half is due.
  void RotateForLog();
  // The active memtable of a locality group.
  struct Active {
    std::shared_ptr<Tablet> tablet;
    size_t group;
  };
  // Those that are not empty.
  std::vector<Active> ActiveMemtables() const;
  // Rotates what is due, and everything else that is active with it as long as that is worth it.
  void RotateWithOthers(const std::vector<Active>& due, const std::vector<Active>& all,
                        RotationReason reason);
  // With all memtables that are rotated at one moment: they are due now.
  void Rotate(const Active& active, RotationReason reason)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(rotation_mutex_);
  // The same for all of a tablet, unless it has gone.
  void RotateAll(const std::shared_ptr<Tablet>& tablet)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(rotation_mutex_);
  // TabletEnvironment::sync_log.
  absl::StatusOr<SequenceNumber> SyncLog(absl::Span<const ImmutableMemtables> flushed);
  // Whether other memtables have mutations that came before the last one of these, and may be lost.
  bool IsLogNeeded(absl::Span<const ImmutableMemtables> flushed) const;

  const TabletServerOptions options_;
  TabletEnvironment environment_;
  SequenceSource* const sequences_;
  InfoLog* const info_log_;
  const std::function<void()> wake_;

  // For all but the leader, and for a leader whose call may outlast its lead: null before there is
  // a log, and after DropLog.
  std::shared_ptr<CommitLog> Log() const {
    MutexLock lock(&mutex_);
    return shared_log_;
  }

  CommitLog* log_ = nullptr;  // shared_log_; only with has_log()
  std::unique_ptr<ServerLock> lock_;
  std::atomic<bool> has_log_{false};
  std::atomic<bool> ended_{false};
  Mutex upkeep_mutex_;  // held while segments of the log are taken back
  // Of TrimLogIfIdle: the log's end when it was looked at last, and since when it has been there.
  uint64_t idle_log_end_ = 0;
  SteadyTime log_idle_since_;
  GroupCommit queue_;
  std::atomic<SequenceNumber> visible_{0};
  std::atomic<SequenceNumber> last_acknowledged_{0};
  std::atomic<int> measured_{0};  // writes in the queue
  std::atomic<uint64_t> rows_written_{0};
  ServerCounters counters_;

  // The leader's own: who takes over goes on with it, and the one that stalls touches it no more.
  std::string header_;
  std::string batch_;
  std::vector<Logged> logged_;
  size_t next_logged_ = 0;
  GroupTimes times_{};  // if one of the group is measured
  bool upkeep_asked_ = false;
  uint64_t notified_segment_ = 0;       // of NoteLogSegment
  uint64_t rotated_for_log_bytes_ = 0;  // the log's length when RotateForLog was last called

  // Held while memtables are rotated together, and while somebody looks at what is rotated.
  mutable Mutex rotation_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  RotatedTablets rotated_ ABSL_GUARDED_BY(rotation_mutex_);

  mutable Mutex mutex_;
  std::map<TabletId, std::shared_ptr<Tablet>> tablets_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<CommitLog> shared_log_ ABSL_GUARDED_BY(mutex_);
  CommitLog::Statistics log_statistics_ ABSL_GUARDED_BY(mutex_);  // after DropLog
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  SequenceNumber log_synced_ ABSL_GUARDED_BY(mutex_) = 0;  // what SyncLog made durable
  std::atomic<bool> has_error_{false};
  std::atomic<bool> resuming_{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_TABLET_SERVER_H_
