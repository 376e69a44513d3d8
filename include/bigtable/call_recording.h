// Recordings of the calls that a program makes: when, which rows, columns and ranges, how many
// bytes were written and returned. bench/replay/run makes the calls again, under other options and
// compaction policies; RecordingReader is for tools of your own.
//
//   auto recorder = bigtable::CallRecorder::Create("/var/tmp/calls");
//   bigtable::DatabaseOptions options;
//   options.recorder = *recorder;
//
// Recorded are the calls on tables, streams, batches and transactions, which are on the way of the
// program's own reads and writes. Calls of an administrator are not, and neither is what observers
// read and write.
#ifndef BIGTABLE_CALL_RECORDING_H_
#define BIGTABLE_CALL_RECORDING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/export.h"
#include "bigtable/file_system.h"
#include "bigtable/filter.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"
#include "bigtable/timestamp.h"

namespace bigtable {

class RecordingFile;

// How rows and qualifiers are recorded.
enum class RecordedKeys : uint8_t {
  kPlain = 0,
  // As 64-bit hashes (XXH3) with a random seed that is not stored. Equal keys stay equal. Lengths
  // stay, but keys of less than eight bytes get eight. The order of keys is lost, so ranges have no
  // ends, and filters are left out. This hides keys from a reader of the file. It is no protection
  // against somebody who knows some keys and computes the seed: XXH3 is not cryptographic.
  kHashed = 1,
};

// Options of CallRecorder::Create.
struct RecordingOptions {
  RecordedKeys keys = RecordedKeys::kPlain;
  // The recording ends before the file exceeds it; at least a mebibyte.
  uint64_t most_bytes = uint64_t{1} << 30;
  // Not owned; null means the machine's own. Must outlive the recorder.
  FileSystem* file_system = nullptr;
};

// How far a recording is. Plain value.
struct RecordingCounts {
  uint64_t calls = 0;  // recorded
  // Not recorded: the file could not be written as fast, or not at all, it is full, or one call was
  // more than 16 MiB.
  uint64_t lost_calls = 0;
  uint64_t bytes = 0;  // of the file
};

// Records the calls of one database (DatabaseOptions::recorder), whose Close() finishes it: a
// second opening with it is refused. Values are not recorded, only their sizes. A call takes 0.2 to
// 0.3 microseconds longer, 0.4 if all processors are busy, and a lock for a short time. A thread of
// the recorder writes the file. Calls never wait for that thread and never fail because of it: if
// it falls behind by 8 MiB, calls are lost, and counted. Thread-safe.
class BIGTABLE_EXPORT CallRecorder {
 public:
  // Creates the file. AlreadyExists if there is one; InvalidArgument for options out of range;
  // errors of the file system.
  static absl::StatusOr<std::shared_ptr<CallRecorder>> Create(std::string_view path,
                                                              const RecordingOptions& options = {});
  // Finishes.
  ~CallRecorder();
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;

  // Ends the recording: later calls are not recorded. Writes, syncs and closes the file, and waits
  // for that; Database::Close logs what went wrong with it. Returns
  // the first error of the file, also when it is called again. Streams record what they have read
  // when they are destroyed, so streams that are still open are missing.
  absl::Status Finish();

  RecordingCounts Counts() const;

 private:
  friend class RecorderAccess;
  explicit CallRecorder(std::unique_ptr<RecordingFile> file);
  std::unique_ptr<RecordingFile> file_;
};

// What a mutation does to a row. Plain value. The numbers are on disk.
struct RecordedOperation {
  enum class Kind : uint8_t {
    kSet = 1,
    kDeleteCell = 2,
    kDeleteColumn = 5,
    kDeleteFamily = 6,
    kDeleteRow = 7,
    kAddToCell = 8,
    kMergeToCell = 9,
    kDeleteTimeRange = 11,
    // Of ReadModifyWrite.
    kAppend = 64,
    kIncrement = 65,
  };

  Kind kind = Kind::kSet;
  std::string family = {};
  std::string qualifier = {};
  // Of a cell, or the beginning of a range of times. None: the time of the write, or there is none.
  std::optional<Timestamp> timestamp = {};
  Timestamp end = {};  // of a range of times
  uint64_t value_size = 0;

  friend bool operator==(const RecordedOperation&, const RecordedOperation&) = default;
};

// The operations on one row. Plain value.
struct RecordedMutation {
  std::string table;
  std::string row;
  std::vector<RecordedOperation> operations;

  friend bool operator==(const RecordedMutation&, const RecordedMutation&) = default;
};

// A call. Plain value.
struct RecordedCall {
  // The numbers are on disk.
  enum class Kind : uint8_t {
    kReadRow = 16,              // Table::ReadRow, Get; Transaction::ReadRow
    kReadRows = 17,             // Table::ReadRows, ResumeRows; Transaction::ReadRows
    kScan = 18,                 // a Scanner
    kApply = 19,                // Table::Apply
    kApplyBatch = 20,           // Table::ApplyBatch
    kApplyWriteBatch = 21,      // Database::Apply
    kCommit = 22,               // Transaction::Commit
    kCheckAndMutateRow = 23,    // `filter` is the predicate; two mutations: if matched, if not
    kReadModifyWriteRow = 24,   // one mutation
    kMutateRowAtomically = 25,  // one mutation: what the function returned last; none: an error
    kDropRowRange = 26,
  };

  Kind kind = Kind::kReadRow;
  std::string table;  // of a batch or transaction, that of its first mutation
  // Threads of the program have small numbers in the order of their first recorded calls.
  uint64_t thread = 0;
  absl::Duration begin;                           // since the recording began
  absl::Duration duration;                        // of a stream, until its end
  absl::StatusCode code = absl::StatusCode::kOk;  // of a batch, of its first error

  // Reads, CheckAndMutateRow, DropRowRange. Of a row, its range. If keys are hashed, a range of
  // several rows has no end.
  std::vector<RowRange> ranges;
  Filter filter;
  bool filter_left_out = false;  // there was one, but keys are hashed, or it was invalid
  bool reverse = false;
  int64_t row_limit = 0;
  int64_t cell_limit = 0;
  // What was returned. A stream that the program ended early has read no more. Of
  // CheckAndMutateRow, rows is 1 if the predicate matched.
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of rows, qualifiers and values

  // Writes.
  std::vector<RecordedMutation> mutations;
  bool synced = false;  // WriteOptions::durability was kSync
};

// Reads a recording from its beginning. One thread at a time.
class BIGTABLE_EXPORT RecordingReader {
 public:
  // NotFound; DataLoss: not a recording, or of a version that this library does not know.
  static absl::StatusOr<std::unique_ptr<RecordingReader>> Open(std::string_view path,
                                                               FileSystem* file_system = nullptr);
  ~RecordingReader();
  RecordingReader(const RecordingReader&) = delete;
  RecordingReader& operator=(const RecordingReader&) = delete;

  RecordedKeys keys() const;
  absl::Time begin() const;

  // Reads the next call, in the order in which calls ended. False at the end, and after an error.
  bool Next(RecordedCall* call);
  // DataLoss names the place of damaged bytes, after which nothing is read.
  const absl::Status& status() const;

  // Up to here: the schemas of the tables of the calls, and the calls that were lost.
  const std::map<std::string, TableSchema>& tables() const;
  uint64_t lost_calls() const;
  // After the end: the file has no end of its own, because the program ended, or is still running.
  bool is_truncated() const;

 private:
  class State;
  explicit RecordingReader(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CALL_RECORDING_H_
