// The writer of a commit log. log_format.h describes its bytes, log_replay.h reads it, and
// log_directory.h removes it.
//
// Threads: one thread at a time, the appending thread, calls Append, Reserve, Flush, Close,
// StartNewSegment and StartNextSegment (group_commit.h ensures this). The thread that replaces it
// calls SwitchFile. Everything else may be called from any thread at any time. Close is for the
// appending thread, when nothing is appended any more. Upkeep may run beside it.
//
// A CommitLog has little state of its own. It consists of four parts. Each states its threads, its
// invariants, and what a crash leaves of its steps; a part knows only those above it here:
//
//   SegmentChain   which segments there are, how far they are released and synced, and the two
//                  locks (segment_chain.h)
//   LogAppender    where the next record goes, and what is in no file yet; of the appending thread
//                  alone, without a lock (log_appender.h)
//   LogCalls       flushes, syncs, the rotation to the spare and the switch to it when a call
//                  stalls, and the failure of the log (log_calls.h); under the chain's `mutex`
//   LogUpkeep      the spare, the files of released segments, and STATE (log_upkeep.h); under the
//                  chain's `prepare_mutex`. It knows the chain only
//
// The chain is a part of its own because the three others change it: upkeep makes the spare, a
// rotation or a switch makes it the active segment, any thread releases it, and upkeep takes it
// back.
//
// What holds of the whole:
//
// 1. After Append (and Flush, if NeedsFlush()) has returned OK, the record survives a crash of the
//    process, and the log before it is complete. After Sync it survives a crash of the machine.
//
// What a crash leaves:
//
//  * Create: the directory, with or without STATE, and with no segment or an empty one. Create
//    never returned, so no data is lost.
//  * While the log is written: the steps of a rotation are in log_calls.h, those of a switch in
//    switch_writer.h, and those of upkeep, which makes a spare, writes STATE and removes files, in
//    log_upkeep.h.
//  * Close: its end record torn or lost: the log ends there as after any crash.
#ifndef BIGTABLE_COMMITLOG_COMMIT_LOG_H_
#define BIGTABLE_COMMITLOG_COMMIT_LOG_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "commitlog/log_appender.h"
#include "commitlog/log_calls.h"
#include "commitlog/log_format.h"
#include "commitlog/log_upkeep.h"
#include "commitlog/segment_chain.h"

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
  absl::Status Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) { return calls_.Flush(); }
  bool NeedsFlush() const { return appender_.needs_flush(); }
  const std::string& directory() const { return directory_; }
  // Whether every Append, Flush and Sync returns an error until StartNewSegment.
  bool failed() const { return calls_.failed(); }

  // Makes everything durable that was appended, and flushed if needed, before the call. Makes no
  // system call if it is durable already. An error makes the log fail.
  absl::Status Sync() { return calls_.Sync(); }

  // How much longer a waiting thread should wait if the appending thread's call of Flush or Sync
  // has been running for this long. Not positive: it is time for SwitchFile.
  absl::Duration StallTimeout(absl::Duration running) const ABSL_LOCKS_EXCLUDED(chain_.mutex) {
    return calls_.StallTimeout(running);
  }
  // Makes the caller the appending thread, in place of one that is in Flush or Sync. That call may
  // then return anything, and its thread must not make another. Continues in the other file. If
  // that is impossible (there is no spare, a second call stalls, or too much is at risk), waits for
  // the stalled call. After OK no appended record needs Flush; they are not synced.
  absl::Status SwitchFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return calls_.SwitchFile();
  }

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
      ABSL_LOCKS_EXCLUDED(chain_.prepare_mutex, chain_.mutex);
  // Then the log continues in the spare: for the appending thread. If an append has done that
  // since, it continues in one more new file, which does no harm.
  absl::Status StartNextSegment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(chain_.prepare_mutex, chain_.mutex);

  // Makes the log fail with `status`, which is not OK: its user cannot guarantee an appended
  // record, and recovers as described above. The first failure stays.
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(chain_.mutex) { calls_.Fail(status); }

  // Syncs everything and writes an end record, so that replay knows that nothing is missing.
  // Afterwards only queries and ReleaseThrough are allowed.
  absl::Status Close() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // Records up to `sequence` are no longer needed: their data is durable elsewhere, and METADATA
  // says so, in a record that was attested. Cheap; PrepareSpare handles the files.
  void ReleaseThrough(SequenceNumber sequence);
  // Whether ReleaseThrough(sequence) would release a segment.
  bool ReleasesSegment(SequenceNumber sequence) const ABSL_LOCKS_EXCLUDED(chain_.mutex);

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
  bool NeedsUpkeep() const { return chain_.needs_upkeep() || upkeep_.has_returns(); }

  // Bytes of the segments that are neither spare nor free: live, or released and still pinned.
  uint64_t LiveBytes() const { return upkeep_.bytes_in_use(); }
  // Bytes of the segments that are not released: what recovery would read.
  uint64_t NeededBytes() const { return chain_.needed_bytes(); }
  // The smallest sequence number in the oldest segment that is not released; 0 if no record is
  // needed. Flush the memtables with this number first to shorten the log.
  SequenceNumber OldestNeeded() const;
  // The sequence number of the last record that needs no Flush, 0 before the first.
  SequenceNumber last_sequence() const { return appender_.last_sequence(); }
  // The log offset after that record, and the offset up to which everything is durable.
  uint64_t end_offset() const { return appender_.end_offset(); }
  uint64_t synced_offset() const { return chain_.synced(); }
  // The number of records, for the appending thread.
  uint64_t records() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return appender_.records();
  }
  Statistics statistics() const;

 private:
  CommitLog(FileSystem* file_system, std::string directory, CommitLogOptions options);
  absl::Status Start() ABSL_LOCKS_EXCLUDED(chain_.prepare_mutex, chain_.mutex);

  absl::Status CheckAppend(RecordType type, SequenceNumber sequence, uint64_t payload_size) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Continues in a next segment that has room for a record of this size.
  absl::Status NextSegment(uint64_t record_size, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  const std::string directory_;
  // Destroyed from the last to the first: a part before those that it knows, and upkeep, which
  // closes the files that return later, before the chain drops its segments.
  SegmentChain chain_;
  LogAppender appender_;
  LogCalls calls_;
  LogUpkeep upkeep_;
  bool closed_ ABSL_GUARDED_BY(server_writer) = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_COMMIT_LOG_H_
