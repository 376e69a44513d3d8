// Sorts the commit log of a lost server by (table, row, sequence number), so that its tablets can
// be distributed over many servers while the log is read only once (section 6 of the paper).
//
// ReplayLog reads the log once, in order. It alone determines where the log ends and what is
// DataLoss. Its records are divided into pieces of a fixed size. While one piece is filled, others
// are sorted and written, each by a thread. The manifest is written after ReplayLog has found the
// log valid and every piece is written. A sort that was interrupted or failed has no manifest, and
// is repeated.
//
// Sequence numbers ascend, from record to record and within one that is cut. Anything else is
// DataLoss. So the sorted log contains each number once, and the sequence numbers of pieces do not
// overlap.
//
// Memory: `threads` + 1 pieces, each of `piece_size` or one larger record; for each thread the
// block that it writes, of 64 KiB or one larger record.
//
// Nothing is synced: if the machine crashes, the log still exists and is sorted again.
#ifndef BIGTABLE_RECOVERY_LOG_SORTER_H_
#define BIGTABLE_RECOVERY_LOG_SORTER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/mutex.h"
#include "base/sequence.h"
#include "commitlog/log_format.h"
#include "recovery/log_piece.h"
#include "recovery/log_replay.h"
#include "recovery/sorted_log_format.h"

namespace bigtable {

struct RecordKey {
  uint64_t table_id = 0;
  std::string_view row;  // must be a part of the payload
};
// Returns the key of a record, since the log does not know the contents of its payloads. An error
// ends the sort and is returned, with the sequence number added. Called on the thread that reads
// the log.
using RecordKeyFunction =
    absl::FunctionRef<absl::Status(RecordType, std::string_view payload, RecordKey* key)>;

// Takes a record of the sorted log, and copies it. `batch` is as in SortedRecord.
using AddRecord = absl::FunctionRef<absl::Status(RecordType, SequenceNumber sequence,
                                                 std::string_view payload, SequenceNumber batch)>;

// Splits a record into the records that it consists of: calls `add` for each, in the order of their
// sequence numbers. Errors of `add` must be returned.
using RecordCutter = std::function<absl::Status(RecordType, SequenceNumber sequence,
                                                std::string_view payload, AddRecord add)>;

struct SortLogOptions {
  // Bytes of a piece: payloads, plus about 50 bytes for each record.
  uint64_t piece_size = uint64_t{64} << 20;
  // How many threads sort and write pieces, besides the calling thread, which reads the log. At
  // least 1.
  size_t threads = 2;
  // The file system for the sorted log; null: the log's file system.
  FileSystem* sorted_file_system = nullptr;
  // For logs in which a record may be about several rows; null: each record is about one row.
  RecordCutter cutter;
};

struct SortLogStatistics {
  uint64_t segments_read = 0;       // each counted once
  uint64_t records_read = 0;        // each counted once, after the cutter
  uint64_t payload_bytes_read = 0;  // of these records
  uint64_t pieces = 0;
  uint64_t bytes_written = 0;  // of pieces and manifest
};

// Sorts the log in `log_directory` into `sorted_directory`, which may be the same directory. It is
// created if it does not exist; its parent must exist. Output of an earlier sort there is removed
// first. After OK, a SortedLog can be opened there. After an error there is none, and the output is
// removed as far as possible. Errors are those of ReplayLog, of `key_of`, and of writing.
//
// One call at a time for each sorted_directory. The log must have no writer.
absl::StatusOr<SortLogStatistics> SortLog(FileSystem* file_system, std::string_view log_directory,
                                          const ReplayOptions& replay_options,
                                          RecordKeyFunction key_of,
                                          const std::string& sorted_directory,
                                          const SortLogOptions& options);

// The part of SortLog after ReplayLog: takes records, one call at a time, until Finish. If it is
// destroyed earlier, its output stays, without a manifest.
class LogSorter {
 public:
  // `directory` exists and contains no sorted log or part of one. `key_of` must outlive this. The
  // options must be valid.
  LogSorter(FileSystem* file_system, std::string directory, RecordKeyFunction key_of,
            const SortLogOptions& options);
  ~LogSorter();
  LogSorter(const LogSorter&) = delete;
  LogSorter& operator=(const LogSorter&) = delete;

  // Waits if the threads cannot keep up. Also returns an error of writing an earlier piece. After
  // any error the sort has ended: only the destructor may be called. A `batch` (SortedRecord) that
  // ends before the record, or more than LogPiece::kMaxLeftOfBatch after it, is DataLoss.
  absl::Status Add(RecordType type, SequenceNumber sequence, std::string_view payload,
                   SequenceNumber batch = 0);

  // Writes the rest, and the manifest. `end` is the result of ReplayLog. Called once, and last.
  absl::StatusOr<SortLogStatistics> Finish(const LogEnd& end);

 private:
  struct Job {
    size_t index = 0;  // in summaries_
    std::unique_ptr<LogPiece> piece;
  };

  // Passes piece_ to a thread, as soon as one is free, and takes an empty piece.
  absl::Status Submit() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WriteManifest(const SortedManifest& manifest);

  void Do(Job job) ABSL_LOCKS_EXCLUDED(mutex_);
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  bool TakeJob(Job* job) ABSL_LOCKS_EXCLUDED(mutex_);
  void JobDone(Job job, absl::StatusOr<SortedPieceSummary> written) ABSL_LOCKS_EXCLUDED(mutex_);
  void StopThreads() ABSL_LOCKS_EXCLUDED(mutex_);

  FileSystem* const file_system_;
  const std::string directory_;
  const RecordKeyFunction key_of_;
  const SortLogOptions options_;

  // Used only by the adding thread.
  std::unique_ptr<LogPiece> piece_;  // being filled
  SequenceNumber last_sequence_ = 0;
  SortLogStatistics statistics_;
  std::vector<std::thread> threads_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  size_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;                        // jobs that wait or run
  std::vector<std::unique_ptr<LogPiece>> free_ ABSL_GUARDED_BY(mutex_);  // empty, for reuse
  std::vector<SortedPieceSummary> summaries_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // the first one
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_LOG_SORTER_H_
