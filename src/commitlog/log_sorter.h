// Sorts the commit log of a server that is gone by (table, row, sequence number), so that its
// tablets can go to many servers while the log is read once (section 6 of the paper).
//
// The log is read once, in order, by ReplayLog, which alone decides where it ends and what is
// DataLoss. What it delivers is cut into pieces of a fixed size; while one is filled, others are
// sorted and written, by a thread each. The manifest is written when ReplayLog has said that the
// log is sound and every piece is written: a sort that was cut short, or that failed, has none, and
// is done again.
//
// Duplicates. A record may be in the log twice, when its writer could not know whether the first
// copy got there. What is delivered has ascending sequence numbers, but for such copies: a number
// that is not above all before it is passed over if it was there before, and is DataLoss if it was
// not, or so long ago that this is not known any more (kRememberedNumbers records at least). So
// each number is in the sorted log once, and pieces do not overlap in sequence numbers.
//
// Memory: `threads` + 1 pieces, each of `piece_size` or of a single record that is larger; for each
// thread the block that it writes, of 64 KiB or such a record; for remembered numbers at most 16
// MiB.
//
// Nothing is synced: if the machine dies, the log is still there and is sorted again.
#ifndef BIGTABLE_COMMITLOG_LOG_SORTER_H_
#define BIGTABLE_COMMITLOG_LOG_SORTER_H_

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
#include "commitlog/log_piece.h"
#include "commitlog/log_replay.h"
#include "commitlog/sorted_log_format.h"

namespace bigtable {

struct RecordKey {
  uint64_t table_id = 0;
  std::string_view row;  // must be a part of the payload
};
// Says what a record is about: the log does not know what is in its payloads. An error ends the
// sort and is returned, with the sequence number added. Called on the thread that reads the log.
using RecordKeyFunction =
    absl::FunctionRef<absl::Status(RecordType, std::string_view payload, RecordKey* key)>;

// Cuts a record into those that it consists of: calls `add` for each, in the order of their
// sequence numbers. What `add` is given it has copied when it returns; its errors are to be
// returned.
using RecordCutter = std::function<absl::Status(
    RecordType, SequenceNumber sequence, std::string_view payload,
    absl::FunctionRef<absl::Status(RecordType, SequenceNumber sequence, std::string_view payload)>
        add)>;

struct SortLogOptions {
  // Bytes of a piece: payloads, and some 50 bytes for each record.
  uint64_t piece_size = uint64_t{64} << 20;
  // How many threads sort and write pieces, besides the caller's, which reads the log. At least 1.
  size_t threads = 2;
  // Where the sorted log goes; null: where the log is.
  FileSystem* sorted_file_system = nullptr;
  // For logs in which a record may be about more than one row; null: each is about one.
  RecordCutter cutter;
};

struct SortLogStatistics {
  uint64_t segments_read = 0;       // each of them once
  uint64_t records_read = 0;        // each of them once, as they were cut
  uint64_t payload_bytes_read = 0;  // of these records
  uint64_t duplicates = 0;          // records_read that were there before and are not written
  uint64_t pieces = 0;
  uint64_t bytes_written = 0;  // of pieces and manifest
};

// Sorts the log in `log_directory` into `sorted_directory`, which may be the same, and is created
// if only its parent exists. What an earlier sort left there is removed first. After OK, a
// SortedLog can be opened there; after an error there is none, and as much as possible of what was
// written is removed. Errors are those of ReplayLog, of `key_of`, and of writing.
//
// One call at a time for each sorted_directory. The log is not written to any more.
absl::StatusOr<SortLogStatistics> SortLog(FileSystem* file_system, std::string_view log_directory,
                                          const ReplayOptions& replay_options,
                                          RecordKeyFunction key_of,
                                          const std::string& sorted_directory,
                                          const SortLogOptions& options);

// The part of SortLog behind ReplayLog: takes records, one call at a time, until Finish. Where it
// is destroyed before, what it wrote stays, without a manifest.
class LogSorter {
 public:
  static constexpr size_t kRememberedNumbers = size_t{1} << 20;

  // `directory` exists and has no sorted log in it, nor parts of one. `key_of` lives as long as
  // this. The options are within their bounds.
  LogSorter(FileSystem* file_system, std::string directory, RecordKeyFunction key_of,
            const SortLogOptions& options);
  ~LogSorter();
  LogSorter(const LogSorter&) = delete;
  LogSorter& operator=(const LogSorter&) = delete;

  // Waits if all threads are behind. Also returns an error of writing an earlier piece. After any
  // error the sort is over: nothing but the destructor is to be called.
  absl::Status Add(RecordType type, SequenceNumber sequence, std::string_view payload);

  // Writes what is left, and the manifest. `end` is what ReplayLog said of the log. Called once,
  // and last.
  absl::StatusOr<SortLogStatistics> Finish(const LogEnd& end);

 private:
  struct Job {
    size_t index = 0;  // in summaries_
    std::unique_ptr<LogPiece> piece;
  };

  // Whether the number is a copy's; notes it if not.
  absl::StatusOr<bool> IsDuplicate(SequenceNumber sequence);
  // Hands piece_ to a thread, as soon as one is free, and takes an empty one.
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

  // The adding thread's own.
  std::unique_ptr<LogPiece> piece_;      // that is being filled
  std::vector<SequenceNumber> numbers_;  // the last ones, ascending
  SortLogStatistics statistics_;
  std::vector<std::thread> threads_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  size_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;  // jobs that wait or are being done
  std::vector<std::unique_ptr<LogPiece>> free_ ABSL_GUARDED_BY(mutex_);  // empty, to be used again
  std::vector<SortedPieceSummary> summaries_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // the first one
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_SORTER_H_
