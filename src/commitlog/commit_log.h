// The writer of a commit log (log_format.h has its bytes, log_replay.h its reader, log_directory.h
// removes it).
//
// Who may call what: Append, Flush, Close and StartNewSegment from one thread at a time
// (group_commit.h sees to that), the appending thread; SwitchFile from the one that takes its
// place; everything else from any thread at any time.
//
// Two files. The active segment and the spare are the two log files of which one is in use. When a
// call on the active one stalls, another thread becomes the appending one and calls SwitchFile: the
// spare becomes active and begins with what is at stake in the slow file, logged again, and with a
// switch record, which says from which log offset on it does so. At stake is everything that is not
// known to be synced, if it fits into half a segment; otherwise, if it is a write that stalls, what
// was to be written. The thread that stalls finds, when its call returns, that another turn has
// begun, and changes nothing; what its call has returned is of no interest any more. One call is
// left stalled at a time: when the other file is slow, too, everybody waits for it.
//
// What always holds:
//
//  1. After Append (and Flush, if NeedsFlush()) has returned OK the record survives the process,
//     and everything before it in the log is complete. After Sync it survives the machine.
//  2. The name of a segment is durable before the seal of the segment before it, or its own first
//     record, is written. So a seal whose successor is missing is a loss and not a crash.
//  3. Before the file of a released segment is touched, STATE says durably that the segment is not
//     needed: `low` is above its number.
//  4. A log offset is called synced only after every segment that recovery would read up to there
//     was synced. What is behind the `end_` of a segment recovery does not read.
//  5. The bytes of a segment do not change while anybody has a Ref to it.
//  6. A switch record is written after all that it stands for, and is never older than a success of
//     a sync that began before it: from the moment on when SwitchFile looks what is at stake, no
//     call that began earlier makes anything known to be synced.
//
// What a crash leaves, step by step:
//
//   Create: the directory, with or without STATE, and without a segment or with one that is
//     empty. Create never returned: nobody needs it.
//   Spare n + 1 in the making: segment.tmp, or m.log with m < low, or n + 1.log already; the rename
//     may be lost with the machine, then m.log may come to hold records of segment n + 1. Whatever
//     n + 1.log holds, it is a segment without records behind an unsealed one: the log ends in n.
//   Seal of n torn: the log ends there; n + 1 has no record yet.
//   Seal of n lost with the machine, records in n + 1 found: the log ends in n, unless one of them
//     says that more was synced.
//   Switch from n to n + 1, before the switch record: n + 1 may hold copies, but no record stands
//     at its beginning; n is not sealed, and complete as far as it was acknowledged: the log ends
//     in n. So it does for good if the copies cannot be written; n + 1.log is replaced then.
//   Switch record written: the log goes on from its offset in n to n + 1, where everything from
//     there on is, and whatever n holds behind that offset is not looked at: torn, missing, in
//     error or complete, written before or, by the call that stalled, long after.
//   The machine dies before n + 1 is synced: the switch record lost: the log ends in n, where
//     nothing behind the offset was acknowledged as synced. Copies torn: the log ends there, for
//     the same reason.
//   Switch record lost or broken after n + 1 was synced: later records of n + 1, or STATE, know it.
//   m released, `low` not durable: m is read as before; it is still there, and still synced by
//     Sync. `low` torn in one slot of STATE: the other slot holds.
//   m removed, or kept, or a removal that is lost: not read, `low` is above it.
//   Large segment renamed over a spare with the same number: one of the two, neither with records.
//   Close: its seal torn or lost: the log ends there as after any crash.
#ifndef BIGTABLE_COMMITLOG_COMMIT_LOG_H_
#define BIGTABLE_COMMITLOG_COMMIT_LOG_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/mutex.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "commitlog/log_format.h"
#include "commitlog/log_segment.h"
#include "commitlog/log_state.h"
#include "commitlog/segment_store.h"

namespace bigtable {

struct CommitLogOptions {
  // Size of a segment file: a multiple of 4096, at least 16 KiB. A record that does not fit gets a
  // segment of its own, which is not used again.
  uint64_t segment_size = uint64_t{16} << 20;
  // How many released segments are kept, mapped and warm, to be used again.
  size_t max_free_segments = 4;
  // Is charged with the mapped bytes of all segments, spare and free ones too, and with the memory
  // of those that are filled and not mapped. May be null.
  std::shared_ptr<MemoryBudget> budget = nullptr;
  // How long a call on a log file may take at least before it is said to stall. Where syncs take
  // long it is eight times what they took lately, so that a slow disk is not mistaken for a slow
  // file.
  absl::Duration stall_timeout = absl::Milliseconds(20);
};

struct AppendedRecord {
  // The payload inside the mapping, as long as the segment is referred to; data() is null where the
  // file system does not map log files.
  std::string_view payload;
  // Where it lives, null together with payload.data(). Make a Ref to pin it, before ReleaseThrough
  // of the record's sequence number.
  LogSegment* segment = nullptr;
};

class CommitLog {
 public:
  struct Statistics {
    uint64_t records = 0;
    uint64_t bytes = 0;  // of the records, headers included
    uint64_t syncs = 0;  // Sync calls that reached the file system
    uint64_t segments_created = 0;
    uint64_t segments_reused = 0;
    uint64_t stalls =
        0;  // writes and syncs that took longer than `stall_timeout`, and have returned
    uint64_t switches = 0;  // to the other file
  };

  // Starts a new log in `directory`, whose parent exists and in which there is no log. When this
  // returns OK, the empty log survives the death of the machine. There is no way to go on with an
  // old log: replay it, and start a new one in a directory of its own.
  static absl::StatusOr<std::unique_ptr<CommitLog>> Create(FileSystem* file_system,
                                                           std::string directory,
                                                           CommitLogOptions options);
  // Like a crash if Close has not returned OK. Pinned segments stay readable.
  ~CommitLog();
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  // Adds a record: `parts` one after the other are its payload (at most kMaxPayloadSize bytes).
  // `type` is kMutation or kBatch. `sequence` is the largest sequence number in the record, and
  // larger than that of the record before and than what was released. `out` may be null.
  //
  // An error leaves the log as it was, whatever it is: there is no next segment, say, because it
  // would be too large for the free space (ResourceExhausted). The same record may be tried again,
  // and smaller ones may have room, unless the log has failed().
  absl::Status Append(RecordType type, SequenceNumber sequence,
                      std::span<const std::string_view> parts, AppendedRecord* out);

  // Writes what was appended to files that are not mapped. An error makes the log fail: see
  // StartNewSegment.
  absl::Status Flush();
  bool NeedsFlush() const { return unflushed_.load(std::memory_order_relaxed); }
  // Whether it answers everything with an error until StartNewSegment.
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  // Makes everything durable that was appended, and flushed where that is needed, before the call.
  // Costs no system call if it is. An error makes the log fail.
  absl::Status Sync();

  // How long those who wait for the appending thread shall wait still, when its call of Flush or
  // Sync has been running for so long; not positive if it is time for SwitchFile.
  absl::Duration StallTimeout(absl::Duration running) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes the caller the appending thread, in place of one that is in Flush or Sync, which then may
  // return anything and must not be followed by another call. Goes on in the other file; if that
  // is not possible (there is no spare, or a second call stalls, or too much is at stake), waits
  // for the call that stalls. After OK everything that was appended needs no Flush; it is not
  // synced.
  absl::Status SwitchFile();

  // A log that failed answers every Append and Sync with the error: after a failed write or sync
  // nothing is known about the bytes since the last success, and to sync again could succeed
  // without having written them. The way out: write out every memtable with records of this log
  // (their bytes in memory are sound), make that durable, ReleaseThrough the last sequence number
  // appended, and call this. FailedPrecondition if something is not released. Then the log goes on
  // in a new segment, and STATE says that nothing before it is needed. A log whose own records say
  // what was written out (METADATA's) has to make that durable in another way, such as by writing
  // out the root tablet's memtable too. Does nothing to a log that has not failed.
  absl::Status StartNewSegment();

  // Makes the log fail with `status`, which is not OK: its user cannot stand by a record that was
  // appended, and takes the way out above. The first failure stays.
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Syncs everything and marks the end, so that replay knows that nothing is missing. Then only
  // queries and ReleaseThrough are allowed.
  absl::Status Close();

  // No record up to `sequence` is needed any more: what they say is durable elsewhere, and METADATA
  // says so durably, in what was attested. Cheap; the files are dealt with in PrepareSpare.
  void ReleaseThrough(SequenceNumber sequence);
  // Whether that would release a segment.
  bool ReleasesSegment(SequenceNumber sequence) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Writes into STATE up to where the log is synced. That the last record was synced is said by no
  // record behind it; from the return of OK on replay knows it, and damage to it is DataLoss. For a
  // log whose records say that another log's are not needed any more. Costs two syncs of a small
  // file, or nothing if nothing was synced since.
  absl::Status Attest();

  // The background work: has the next segment ready, so that Append need not create it, and takes
  // back the files of segments that are released and unpinned. Call it when NeedsUpkeep(), after
  // ReleaseThrough, and now and then. An error harms nothing: call it again.
  absl::Status PrepareSpare();
  // Gives back the space of free segments: for a log that is not written to for a while.
  absl::Status RemoveFreeSegments();
  bool NeedsUpkeep() const {
    return needs_upkeep_.load(std::memory_order_relaxed) || returns_->any();
  }

  // Bytes of the segments that are neither spare nor free: live, or released and still pinned.
  uint64_t LiveBytes() const { return returns_->bytes_in_use(); }
  // Bytes of the segments that are not released: what recovery would read.
  uint64_t NeededBytes() const { return needed_bytes_.load(std::memory_order_relaxed); }
  // The smallest sequence number in the oldest segment that is not released, 0 if no record is
  // needed: what to write out first to make the log shorter.
  SequenceNumber OldestNeeded() const;
  // The sequence number of the last record that needs no Flush, 0 before the first.
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  // The log offset behind that record, and the one up to which everything is durable.
  uint64_t end_offset() const { return end_.load(std::memory_order_acquire); }
  uint64_t synced_offset() const { return synced_.load(std::memory_order_acquire); }
  Statistics statistics() const;

 private:
  // Records of a segment, one behind the other, and what keeps their bytes.
  struct Piece {
    Ref<LogSegment> segment;
    std::shared_ptr<const char> memory;
    uint64_t begin = 0;  // in the file
    uint64_t end = 0;
    uint64_t size() const { return end - begin; }
  };
  // A call of Flush or Sync under way.
  struct Call {
    uint64_t turn = 0;
    std::vector<Piece> pieces;  // what is written; of a sync, only the segments count
    uint64_t end = 0;           // the log offset up to which it works
  };
  // What SwitchFile does.
  struct Switch {
    uint64_t from = 0;          // the log offset of which the switch record speaks
    std::vector<Piece> pieces;  // what stands from there on
    Ref<LogSegment> to;
    uint64_t end = 0;                   // in `to`, behind the copies
    SequenceNumber first_sequence = 0;  // of the copies
  };

  CommitLog(FileSystem* file_system, std::string directory, CommitLogOptions options);
  absl::Status Start() ABSL_LOCKS_EXCLUDED(prepare_mutex_, mutex_);

  // Append and what it calls.
  absl::Status CheckAppend(RecordType type, SequenceNumber sequence, uint64_t payload_size) const;
  void Store(RecordType type, SequenceNumber sequence, uint64_t payload_size,
             std::span<const std::string_view> parts, AppendedRecord* out);
  absl::Status NextSegment(uint64_t record_size);
  bool SwitchToSpare(uint64_t least_size) ABSL_LOCKS_EXCLUDED(mutex_);
  void StoreEnd(uint64_t next_number);
  void Activate(Ref<LogSegment> segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetPosition(uint64_t position);

  // Flush, Sync and what they call.
  Call BeginFlush() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status EndFlush(const Call& call, absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  bool BeginSync(uint64_t target, Call* call, absl::Status* outcome) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndSync(const Call& call, const absl::Status& status, absl::Duration took)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void EndAbandoned(const Call& call, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For a call that has failed: a file whose sync has failed fails ever after, and what its bytes
  // are after a failed write is not known.
  static void KeepFromReuse(const Call& call);
  absl::Status Timed(absl::FunctionRef<absl::Status()> call, absl::Duration* took);

  // SwitchFile and what it calls.
  bool PlanSwitch(Switch* plan) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Collect(uint64_t from, std::vector<Piece>* pieces, uint64_t* bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool BeginSwitch(Switch* plan) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Repeat(Switch* plan);
  absl::Status CopyRecords(const Piece& piece, Switch* plan);
  absl::Status WriteSwitchRecord(const Switch& plan);
  void EndSwitch(const Switch& plan) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status GoOnInSlowFile() ABSL_LOCKS_EXCLUDED(mutex_);

  // PrepareSpare and what it calls.
  absl::Status Prepare(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  absl::Status MakeSpare(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  absl::Status StateReleased() ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  LogState State() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteState(const LogState& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);

  absl::Status failure() const ABSL_LOCKS_EXCLUDED(mutex_);
  void SetFailure(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How long a call may take before it is said to stall.
  absl::Duration LongestStallTimeout() const;

  FileSystem* const file_system_;
  const std::string directory_;
  const CommitLogOptions options_;
  const uint64_t secret_;
  const Ref<SegmentReturns> returns_;

  // The appending thread's own.
  LogSegment* active_ = nullptr;  // live_.back()
  char* memory_ = nullptr;        // active_'s
  bool mapped_ = false;           // it is active_'s mapping
  bool direct_ = false;           // and nothing before it has to be flushed
  uint64_t position_ = 0;         // in active_, where the next record goes
  uint64_t flushed_ = 0;          // in active_, if it is not mapped: up to where it is written
  SequenceNumber appended_ = 0;   // the last record's sequence number
  bool closed_ = false;
  std::vector<Piece> unflushed_pieces_;  // of the segments before active_

  // Written by the appending thread.
  std::atomic<bool> unflushed_{false};
  std::atomic<uint64_t> end_{0};
  std::atomic<SequenceNumber> last_sequence_{0};
  std::atomic<uint64_t> records_{0};
  std::atomic<uint64_t> bytes_{0};

  std::atomic<uint64_t> synced_{0};
  std::atomic<uint64_t> syncs_{0};
  std::atomic<uint64_t> stalls_{0};
  std::atomic<uint64_t> switches_{0};
  std::atomic<int64_t> usual_sync_{0};  // nanoseconds, a moving average
  std::atomic<SequenceNumber> released_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> needs_upkeep_{true};
  std::atomic<uint64_t> needed_bytes_{0};  // of live_

  // Locks are taken in this order. Who needs a spare and finds none waits for prepare_mutex_.
  Mutex prepare_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  SegmentStore store_ ABSL_GUARDED_BY(prepare_mutex_);
  LogStateFile state_file_ ABSL_GUARDED_BY(prepare_mutex_);
  LogState stated_ ABSL_GUARDED_BY(prepare_mutex_);  // what the file says

  // Held shortly; there is no I/O under it.
  mutable Mutex mutex_;
  CondVar changed_;  // what follows, up to stalled_status_; failure_ and synced_
  // Calls of other turns than turn_ are abandoned. Of this one, there is one sync at a time.
  uint64_t turn_ ABSL_GUARDED_BY(mutex_) = 0;
  bool syncing_ ABSL_GUARDED_BY(mutex_) = false;
  bool flushing_ ABSL_GUARDED_BY(mutex_) = false;
  bool switching_ ABSL_GUARDED_BY(mutex_) = false;
  int abandoned_ ABSL_GUARDED_BY(mutex_) = 0;            // calls that have not returned
  absl::Status stalled_status_ ABSL_GUARDED_BY(mutex_);  // of those that were abandoned last
  uint64_t flushing_from_ ABSL_GUARDED_BY(mutex_) = 0;   // log offsets
  uint64_t flushing_end_ ABSL_GUARDED_BY(mutex_) = 0;

  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  // Those that are released, while STATE does not say so yet; those in use; both oldest first.
  std::deque<Ref<LogSegment>> retired_ ABSL_GUARDED_BY(mutex_);
  std::deque<Ref<LogSegment>> live_ ABSL_GUARDED_BY(mutex_);
  Ref<LogSegment> spare_ ABSL_GUARDED_BY(mutex_);  // number: live_.back()'s + 1
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_COMMIT_LOG_H_
