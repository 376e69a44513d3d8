// The writer of a commit log. log_format.h describes its bytes, log_replay.h reads it, and
// log_directory.h removes it.
//
// Threads: one thread at a time, the appending thread, calls Append, Reserve, Flush, Close,
// StartNewSegment and StartNextSegment (group_commit.h ensures this). The thread that replaces it
// calls SwitchFile. Everything else may be called from any thread at any time.
//
// Two files. The active segment and the spare are the two log files; one of them is in use. If a
// call on the active file stalls, another thread becomes the appending thread and calls SwitchFile.
// The spare becomes active. It begins with a switch record and copies of the records at risk in the
// slow file; the switch record states the log offset from which the copies replace the slow file.
// At risk is everything that is not known to be synced, if it fits into half a segment. Otherwise,
// if the stalled call is a write, it is the records of that write. When the stalled call returns,
// its thread finds that a new turn has begun and changes nothing; the result of its call is
// ignored. Only one call is left stalled at a time: if the other file is slow too, all callers wait
// for it.
//
// Which thread changes what. Bytes: the appending thread writes to the active segment, and
// SwitchFile to the segment that it has taken; nothing is written to a spare, or to an ended
// segment, except by a stalled call that was left behind. Names of files, and STATE: the thread
// that holds prepare_mutex_, in upkeep (PrepareSpare, RemoveFreeSegments, Attest), in erasing
// (PrepareFreshSpare), in a rotation that finds no spare (Append, Reserve, StartNextSegment), and
// in StartNewSegment. Fields:
//
//   live_.back()  is followed by the next segment in a rotation, in EndSwitch and in
//                 StartNewSegment: all three run on the appending thread.
//   live_.front() goes to retired_ in ReleaseThrough, on any thread. Upkeep takes it from there.
//   spare_        has the number after live_.back()'s. A rotation, SwitchFile and StartNewSegment
//                 take it, and then it is theirs alone. Upkeep and erasing make it, or take it and
//                 make another one with its number. Between BeginMaking and EndMaking there is no
//                 spare: a rotation waits for prepare_mutex_, and a switch is not planned. So
//                 live_.back() stays.
//   copying_      SwitchFile has taken the spare. Its number is in use: upkeep makes no spare and
//                 erasing does nothing, until the switch has ended one way or the other.
//   syncing_      of one Sync at a time, on any thread. Nobody begins one while switching_.
//   flushing_     of the appending thread's Flush.
//
// Close is for the appending thread, when nothing is appended any more. Upkeep may run beside it.
//
// Invariants:
//
// 1. After Append (and Flush, if NeedsFlush()) has returned OK, the record survives a crash of the
//    process, and the log before it is complete. After Sync it survives a crash of the machine.
// 2. The name of a segment is durable before the end record of the segment before it, or its own
//    first record, is written. So an end record whose next segment is missing means data loss, not
//    a crash.
// 3. Before the file of a released segment is touched, STATE durably says that the segment is not
//    needed: `low` is above its number.
// 4. A log offset counts as synced only after every segment that recovery would read up to there
//    was synced. Recovery does not read what follows the `end_` of a segment.
// 5. The bytes of a segment do not change while a Ref to it exists.
// 6. A switch record is written after all copies that it covers, and is never older than a
//    successful sync that began before it: from the time when SwitchFile determines what is at
//    risk, no earlier call can advance the synced offset.
//
// What a crash leaves, step by step:
//
//  * Create: the directory, with or without STATE, and with no segment or an empty one. Create
//    never returned, so no data is lost.
//  * While spare n + 1 is made: segment.tmp, or m.log with m < low, or n + 1.log already. A crash
//    of the machine may lose the rename; then m.log may come to hold records of segment n + 1.
//    Whatever n + 1.log holds, it is a segment without valid records after one without an end
//    record: the log ends in n.
//  * End record of n torn: the log ends there; n + 1 has no record yet.
//  * End record of n lost in a crash of the machine, records in n + 1 found: the log ends in n,
//    unless one of those records says that more was synced.
//  * Switch from n to n + 1, before the switch record: n + 1 may hold copies, but has no record at
//    its beginning. n has no end record, and contains everything that was acknowledged: the log
//    ends in n. If the copies cannot be written this is final, and n + 1.log is replaced.
//  * Switch record written: the log continues from its offset in n in n + 1, which contains
//    everything from there on. The bytes of n after that offset are ignored: they may be torn,
//    missing, unreadable or complete, and written before, or much later by the stalled call.
//  * The machine crashes before n + 1 is synced. Switch record lost: the log ends in n, where no
//    record after the offset was acknowledged as synced. Copies torn: the log ends there, for the
//    same reason.
//  * Switch record lost or damaged after n + 1 was synced: later records of n + 1, or STATE, show
//    it.
//  * m released, `low` not durable: m is read as before; it still exists, and Sync still syncs it.
//    `low` torn in one slot of STATE: the other slot is valid.
//  * m removed, kept, or its removal lost: it is not read, because `low` is above it.
//  * Large segment renamed over a spare with the same number: either one; neither has records.
//  * Close: its end record torn or lost: the log ends there as after any crash.
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

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "commitlog/log_format.h"
#include "commitlog/log_segment.h"
#include "commitlog/log_state.h"
#include "commitlog/segment_store.h"

namespace bigtable {

struct CommitLogOptions {
  // Size of a segment file: a multiple of 4096, at least 16 KiB. A larger record gets a segment of
  // its own, which is not reused.
  uint64_t segment_size = uint64_t{16} << 20;
  // How many released segments are kept, mapped and warm, for reuse.
  size_t max_free_segments = 4;
  // Charged with the mapped bytes of all segments, including spare and free ones, and with the
  // buffers of segments that are in use and not mapped. May be null.
  std::shared_ptr<MemoryBudget> budget = nullptr;
  // The least time after which a call on a log file counts as a stall. If syncs are slow, the limit
  // is eight times their recent duration, so that a slow disk is not mistaken for a stalled file.
  absl::Duration stall_timeout = absl::Milliseconds(20);
};

struct AppendedRecord {
  // The payload in the mapping, valid while the segment is referenced; data() is null if the file
  // system does not map log files.
  std::string_view payload;
  // The segment that contains it; null if payload.data() is. To pin it, make a Ref before
  // ReleaseThrough of the record's sequence number.
  LogSegment* segment = nullptr;
};

class CommitLog {
 public:
  struct Statistics {
    uint64_t records = 0;
    uint64_t bytes = 0;  // of records, with headers
    uint64_t syncs = 0;  // Sync calls that called the file system
    uint64_t segments_created = 0;
    uint64_t segments_reused = 0;
    uint64_t stalls =
        0;  // writes and syncs that took longer than `stall_timeout`, and have returned
    uint64_t switches = 0;  // to the other file
  };

  // Starts a new log in `directory`, whose parent exists and which contains no log. When this
  // returns OK, the empty log survives a crash of the machine. An old log cannot be continued:
  // replay it, and start a new one in a directory of its own.
  static absl::StatusOr<std::unique_ptr<CommitLog>> Create(FileSystem* file_system,
                                                           std::string directory,
                                                           CommitLogOptions options);
  // Acts like a crash if Close has not returned OK. Pinned segments stay readable.
  ~CommitLog();
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  // Adds a record whose payload is the concatenation of `parts` (at most kMaxPayloadSize bytes).
  // `type` is one that IsUsers. `sequence` is the largest sequence number in the record; it must
  // be larger than that of the previous record and than the released one. `out` may be null.
  //
  // An error leaves the log unchanged. For example, ResourceExhausted: there is no space, or no
  // memory, for a next segment large enough for the record. The same record may be retried, and
  // smaller ones may fit, unless the log has failed().
  // The limits end a wait for another thread that makes the next segment.
  absl::Status Append(RecordType type, SequenceNumber sequence,
                      std::span<const std::string_view> parts, AppendedRecord* out,
                      const CallLimits& limits = {}) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // Makes room for a record with a payload of this size: after OK, the next Append of at most so
  // many bytes does not fail for lack of space. Errors are those of Append.
  absl::Status Reserve(uint64_t payload_size, const CallLimits& limits = {})
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // Writes appended records to files that are not mapped. An error makes the log fail: see
  // StartNewSegment.
  absl::Status Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  bool NeedsFlush() const { return unflushed_.load(std::memory_order_relaxed); }
  const std::string& directory() const { return directory_; }
  // Whether every Append, Flush and Sync returns an error until StartNewSegment.
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  // Makes everything durable that was appended, and flushed if needed, before the call. Makes no
  // system call if it is durable already. An error makes the log fail.
  absl::Status Sync();

  // How much longer a waiting thread should wait if the appending thread's call of Flush or Sync
  // has been running for this long. Not positive: it is time for SwitchFile.
  absl::Duration StallTimeout(absl::Duration running) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes the caller the appending thread, in place of one that is in Flush or Sync. That call may
  // then return anything, and its thread must not make another. Continues in the other file. If
  // that is impossible (there is no spare, a second call stalls, or too much is at risk), waits for
  // the stalled call. After OK no appended record needs Flush; they are not synced.
  absl::Status SwitchFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // A failed log returns its error from every Append and Sync: after a failed write or sync,
  // nothing is known about the bytes since the last success, and another sync could succeed without
  // having written them. To continue: flush every memtable with records of this log (their bytes in
  // memory are intact), make that durable, call ReleaseThrough with the last appended sequence
  // number, and call this. FailedPrecondition if a record is not released. The log then continues
  // in a new segment, and STATE says that earlier ones are not needed. If a log's own records name
  // the flushed files (METADATA's log), the flush must be made durable in another way, such as by
  // flushing the root tablet's memtable too. Does nothing to a log that has not failed.
  // The limits end waits for other threads; here and in upkeep they do not end the own calls.
  absl::Status StartNewSegment(const CallLimits& limits = {})
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // Two steps after which nothing is left of earlier records, once they are released. First the
  // spare is replaced by a new file that has never had other records; from then on the files of the
  // segments up to the active one are removed, not reused. After an error, call it again; the log
  // may have no spare until then, or until PrepareSpare. False: SwitchFile is writing to the spare,
  // and nothing was done. Call it again after the switch, which may have to wait for a slow file.
  absl::StatusOr<bool> PrepareFreshSpare(const CallLimits& limits = {})
      ABSL_LOCKS_EXCLUDED(prepare_mutex_, mutex_);
  // Then the log continues in the spare: for the appending thread. If an append has done that
  // since, it continues in one more new file, which does no harm.
  absl::Status StartNextSegment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(prepare_mutex_, mutex_);

  // Makes the log fail with `status`, which is not OK: its user cannot guarantee an appended
  // record, and recovers as described above. The first failure stays.
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Syncs everything and writes an end record, so that replay knows that nothing is missing.
  // Afterwards only queries and ReleaseThrough are allowed.
  absl::Status Close() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // Records up to `sequence` are no longer needed: their data is durable elsewhere, and METADATA
  // says so, in a record that was attested. Cheap; PrepareSpare handles the files.
  void ReleaseThrough(SequenceNumber sequence);
  // Whether ReleaseThrough(sequence) would release a segment.
  bool ReleasesSegment(SequenceNumber sequence) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Writes the synced offset to STATE. No later record proves that the last record was synced;
  // after this returns OK, replay knows it, and damage to that record is DataLoss. For a log whose
  // records make another log's records unnecessary. Costs two syncs of a small file, or nothing if
  // nothing was synced since.
  absl::Status Attest(const CallLimits& limits = {});

  // The background work: prepares the next segment, so that Append need not create it (unless a
  // switch is about to continue in one), and takes back the files of segments that are released and
  // not pinned. Call it when NeedsUpkeep(), after ReleaseThrough, and periodically. After an error,
  // call it again; no harm is done.
  absl::Status PrepareSpare(const CallLimits& limits = {});
  // Removes the files of free segments: for a log that is not written to for a while.
  absl::Status RemoveFreeSegments(const CallLimits& limits = {});
  bool NeedsUpkeep() const {
    return needs_upkeep_.load(std::memory_order_relaxed) || returns_->any();
  }

  // Bytes of the segments that are neither spare nor free: live, or released and still pinned.
  uint64_t LiveBytes() const { return returns_->bytes_in_use(); }
  // Bytes of the segments that are not released: what recovery would read.
  uint64_t NeededBytes() const { return needed_bytes_.load(std::memory_order_relaxed); }
  // The smallest sequence number in the oldest segment that is not released; 0 if no record is
  // needed. Flush the memtables with this number first to shorten the log.
  SequenceNumber OldestNeeded() const;
  // The sequence number of the last record that needs no Flush, 0 before the first.
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  // The log offset after that record, and the offset up to which everything is durable.
  uint64_t end_offset() const { return end_.load(std::memory_order_acquire); }
  uint64_t synced_offset() const { return synced_.load(std::memory_order_acquire); }
  // The number of records, for the appending thread.
  uint64_t records() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return records_.load(std::memory_order_relaxed);
  }
  Statistics statistics() const;

 private:
  // A range of records of a segment, and the reference that keeps its bytes.
  struct Piece {
    Ref<LogSegment> segment;
    std::shared_ptr<const char> memory;
    uint64_t begin = 0;  // in the file
    uint64_t end = 0;
    uint64_t size() const { return end - begin; }
  };
  // A running call of Flush or Sync.
  struct Call {
    uint64_t turn = 0;
    std::vector<Piece> pieces;  // what is written; a sync uses only the segments
    uint64_t end = 0;           // the log offset that it covers
  };
  // The plan of SwitchFile.
  struct Switch {
    uint64_t from = 0;          // the log offset in the switch record
    std::vector<Piece> pieces;  // the records from there on
    Ref<LogSegment> to;
    uint64_t end = 0;                   // in `to`, after the copies
    SequenceNumber first_sequence = 0;  // of the copies
  };

  CommitLog(FileSystem* file_system, std::string directory, CommitLogOptions options);
  absl::Status Start() ABSL_LOCKS_EXCLUDED(prepare_mutex_, mutex_);

  // Append and its helpers.
  absl::Status CheckAppend(RecordType type, SequenceNumber sequence, uint64_t payload_size) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void Store(RecordType type, SequenceNumber sequence, uint64_t payload_size,
             std::span<const std::string_view> parts, AppendedRecord* out)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  absl::Status NextSegment(uint64_t record_size, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // False if there is no spare of this size. An error leaves the log unchanged.
  absl::StatusOr<bool> SwitchToSpare(uint64_t least_size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) ABSL_LOCKS_EXCLUDED(mutex_);
  void StoreEnd(uint64_t next_number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The log continues in live_.back(), which has its memory. Allocates nothing.
  void Activate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer, mutex_);
  void SetPosition(uint64_t position) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // Flush, Sync and their helpers.
  Call BeginFlush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status EndFlush(const Call& call, absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  bool BeginSync(uint64_t target, Call* call, absl::Status* outcome) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndSync(const Call& call, const absl::Status& status, absl::Duration took)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void EndAbandoned(const Call& call, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For a call that failed: a file whose sync failed never syncs again, and after a failed write
  // its bytes are unknown.
  static void KeepFromReuse(const Call& call);
  absl::Status Timed(absl::FunctionRef<absl::Status()> call, absl::Duration* took);

  // SwitchFile and its helpers.
  bool PlanSwitch(Switch* plan) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Collect(uint64_t from, std::vector<Piece>* pieces, uint64_t* bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool BeginSwitch(Switch* plan) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Repeat(Switch* plan);
  absl::Status CopyRecords(const Piece& piece, Switch* plan);
  absl::Status WriteSwitchRecord(const Switch& plan) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void EndSwitch(const Switch& plan) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status GoOnInSlowFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // PrepareSpare and its helpers.
  absl::Status Prepare(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  absl::Status MakeSpare(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  // Takes the spare, if there is one, and returns the number of the segment that is to be made. Not
  // while copying_.
  uint64_t BeginMaking(Ref<LogSegment>* spare)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_, mutex_);
  // `spare` is null if none could be made.
  void EndMaking(Ref<LogSegment> spare) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status PersistReleased() ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  LogState State() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteState(const LogState& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);

  absl::Status failure() const ABSL_LOCKS_EXCLUDED(mutex_);
  void SetFailure(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The time after which a call counts as a stall.
  absl::Duration LongestStallTimeout() const;

  FileSystem* const file_system_;
  const std::string directory_;
  const CommitLogOptions options_;
  const uint64_t secret_;
  const Ref<SegmentReturns> returns_;

  // Used only by the appending thread.
  LogSegment* active_ ABSL_GUARDED_BY(server_writer) = nullptr;  // live_.back()
  char* memory_ ABSL_GUARDED_BY(server_writer) = nullptr;        // of active_
  bool mapped_ ABSL_GUARDED_BY(server_writer) = false;           // memory_ is active_'s mapping
  bool direct_ ABSL_GUARDED_BY(server_writer) =
      false;  // mapped_, and nothing before it has to be flushed
  uint64_t position_ ABSL_GUARDED_BY(server_writer) = 0;  // position of the next record in active_
  uint64_t flushed_ ABSL_GUARDED_BY(server_writer) =
      0;  // written up to here in active_, if it is not mapped
  SequenceNumber appended_ ABSL_GUARDED_BY(server_writer) = 0;  // the last record's sequence number
  bool closed_ ABSL_GUARDED_BY(server_writer) = false;
  std::vector<Piece> unflushed_pieces_
      ABSL_GUARDED_BY(server_writer);  // of the segments before active_

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

  // Locks are taken in this order. A thread that needs a spare and finds none waits for
  // prepare_mutex_.
  LimitedMutex prepare_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  SegmentStore store_ ABSL_GUARDED_BY(prepare_mutex_);
  LogStateFile state_file_ ABSL_GUARDED_BY(prepare_mutex_);
  LogState persisted_state_ ABSL_GUARDED_BY(prepare_mutex_);  // the contents of the file

  // Held for short times; no I/O is done under it.
  mutable Mutex mutex_;
  CondVar changed_;  // signals the fields below, up to stalled_status_, and failure_ and synced_
  // Calls of earlier turns than turn_ are abandoned. Within a turn there is one sync at a time.
  uint64_t turn_ ABSL_GUARDED_BY(mutex_) = 0;
  bool syncing_ ABSL_GUARDED_BY(mutex_) = false;
  bool flushing_ ABSL_GUARDED_BY(mutex_) = false;
  bool switching_ ABSL_GUARDED_BY(mutex_) = false;       // SwitchFile runs
  bool copying_ ABSL_GUARDED_BY(mutex_) = false;         // it has taken the spare
  int abandoned_ ABSL_GUARDED_BY(mutex_) = 0;            // calls that have not returned
  absl::Status stalled_status_ ABSL_GUARDED_BY(mutex_);  // of the calls abandoned last
  uint64_t flushing_from_ ABSL_GUARDED_BY(mutex_) = 0;   // log offsets
  uint64_t flushing_end_ ABSL_GUARDED_BY(mutex_) = 0;

  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  // Segments that are released but not yet in STATE; segments in use. Both oldest first.
  std::deque<Ref<LogSegment>> retired_ ABSL_GUARDED_BY(mutex_);
  std::deque<Ref<LogSegment>> live_ ABSL_GUARDED_BY(mutex_);
  Ref<LogSegment> spare_ ABSL_GUARDED_BY(mutex_);  // number: live_.back()'s + 1
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_COMMIT_LOG_H_
