// The writer of a commit log (log_format.h has its bytes, log_replay.h its reader, log_directory.h
// removes it).
//
// Who may call what: Append, Close and StartNewSegment from one thread at a time (group_commit.h
// sees to that); everything else from any thread at any time.
//
// What always holds:
//
//  1. After Append has returned OK the record survives the death of the process, and everything
//     before it in the log is complete. After Sync it survives the death of the machine.
//  2. The name of a segment is durable before the seal of the segment before it is written. So a
//     seal whose successor is missing is a loss and not a crash.
//  3. Before the file of a released segment is touched, STATE says durably that the segment is not
//     needed: `low` is above its number.
//  4. A log offset is called synced only after every segment that recovery would read up to there
//     was synced.
//  5. The bytes of a segment do not change while anybody has a Ref to it.
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

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

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
  // Is charged with the mapped bytes of all segments, spare and free ones too. May be null.
  std::shared_ptr<MemoryBudget> budget = nullptr;
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
  // ResourceExhausted or Unavailable because there is no next segment leaves the log as it was: try
  // again. An error in writing makes it fail: see StartNewSegment.
  absl::Status Append(RecordType type, SequenceNumber sequence,
                      std::span<const std::string_view> parts, AppendedRecord* out);

  // Makes everything durable that was appended before the call. Costs no system call if it is.
  // An error makes the log fail.
  absl::Status Sync();

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
  // says so durably. Cheap; the files are dealt with in PrepareSpare.
  void ReleaseThrough(SequenceNumber sequence);

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
  // The sequence number of the last record, 0 before the first.
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  // The log offset behind the last record, and the one up to which everything is durable.
  uint64_t end_offset() const { return end_.load(std::memory_order_acquire); }
  uint64_t synced_offset() const { return synced_.load(std::memory_order_acquire); }
  Statistics statistics() const;

 private:
  CommitLog(FileSystem* file_system, std::string directory, CommitLogOptions options);
  absl::Status Start() ABSL_LOCKS_EXCLUDED(prepare_mutex_, mutex_);

  // Append and what it calls.
  absl::Status CheckAppend(RecordType type, SequenceNumber sequence, uint64_t payload_size) const;
  absl::Status Write(RecordType type, SequenceNumber sequence, uint64_t payload_size,
                     std::span<const std::string_view> parts, AppendedRecord* out);
  absl::Status NextSegment(uint64_t record_size);
  absl::Status SwitchToSpare(uint64_t least_size, bool* switched) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WriteSeal(uint64_t next_number);
  void Activate(Ref<LogSegment> segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // PrepareSpare and what it calls.
  absl::Status Prepare(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  absl::Status MakeSpare(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  absl::Status StateReleased() ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);
  LogState State() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Status failure() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Failed(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_) {
    Fail(status);
    return status;
  }

  FileSystem* const file_system_;
  const std::string directory_;
  const CommitLogOptions options_;
  const uint64_t secret_;
  const Ref<SegmentReturns> returns_;

  // The appending thread's own.
  LogSegment* active_ = nullptr;  // live_.back()
  char* mapping_ = nullptr;       // active_'s
  uint64_t position_ = 0;         // in active_, where the next record goes
  bool closed_ = false;
  std::string buffer_;  // a record on its way to a file that is not mapped

  // Written by the appending thread.
  std::atomic<uint64_t> end_{0};
  std::atomic<SequenceNumber> last_sequence_{0};
  std::atomic<uint64_t> records_{0};
  std::atomic<uint64_t> bytes_{0};

  std::atomic<uint64_t> synced_{0};
  std::atomic<uint64_t> syncs_{0};
  std::atomic<SequenceNumber> released_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> needs_upkeep_{true};
  std::atomic<uint64_t> needed_bytes_{0};  // of live_

  // Locks are taken in this order. Who needs a spare and finds none waits for prepare_mutex_.
  Mutex prepare_mutex_ ABSL_ACQUIRED_BEFORE(sync_mutex_);
  SegmentStore store_ ABSL_GUARDED_BY(prepare_mutex_);
  LogStateFile state_file_ ABSL_GUARDED_BY(prepare_mutex_);
  Mutex sync_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);  // one sync at a time

  // Held shortly; the only I/O under it is the seal of a segment that is not mapped.
  mutable Mutex mutex_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  // Those that are released, while STATE does not say so yet; those in use; both oldest first.
  std::deque<Ref<LogSegment>> retired_ ABSL_GUARDED_BY(mutex_);
  std::deque<Ref<LogSegment>> live_ ABSL_GUARDED_BY(mutex_);
  Ref<LogSegment> spare_ ABSL_GUARDED_BY(mutex_);  // number: live_.back()'s + 1
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_COMMIT_LOG_H_
