// Traces: of a sample of the requests, what was done for them and where their time went (section 9
// of the paper). See DatabaseOptions::trace_one_of.
#ifndef BIGTABLE_TRACE_H_
#define BIGTABLE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace bigtable {

// What a traced request had to do with one SSTable.
struct FileTrace {
  uint64_t number = 0;
  // The filter or row index said that what is read is not in the file: no block was looked at.
  // Asked by reads of one row only.
  bool filtered_out = false;
  // Blocks that were at hand: in place in the mapping, or of a locality group in memory.
  uint64_t blocks_in_place = 0;
  // Blocks that were touched for the first time: brought into the mapping and verified, or loaded
  // with all others of a locality group in memory. And those of a mapped file that were not in
  // memory and were read by position.
  uint64_t blocks_first_touched = 0;
  // Blocks that were found in the block cache; and those that were not, and had to be read or
  // decompressed.
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  // As stored, of the blocks that were first touched or missed.
  uint64_t bytes_read = 0;
  // What getting at all these blocks took.
  absl::Duration block_time;
};

// One request. Plain value. A write spends its time in `held_back`, `queue`, `log`, `sync` and
// `memtable`, in this order; what is left of `duration` is the way there and back.
struct RequestTrace {
  enum class Request : uint8_t {
    kReadRow,     // Table::ReadRow
    kReadRows,    // a stream of Table::ReadRows, until the RowReader is destroyed
    kScan,        // a stream of a Scanner, until that is destroyed
    kApply,       // Table::Apply
    kApplyBatch,  // Table::ApplyBatch
  };
  // Longer row keys are cut.
  static constexpr size_t kMostRowBytes = 256;

  Request request = Request::kReadRow;
  std::string table;
  std::string row;  // of a batch the first one; of streams none
  absl::Time begin;
  absl::Duration duration;
  // What the request returned; of a batch the first error.
  absl::Status status;

  // Writes.
  uint64_t mutations = 0;
  absl::Duration held_back;  // because memory or compactions were behind
  absl::Duration queue;      // behind the writes of others
  // The group of writes that this one went to the log with, and what the group took. A batch is a
  // write for each tablet that it goes to, one after another, and their figures are added up.
  uint64_t group_size = 0;
  absl::Duration log;       // its records into the log
  absl::Duration sync;      // of the log, if any of the group asked for it
  absl::Duration memtable;  // inserting into memtables

  // Reads.
  bool scan_cache_hit = false;  // then nothing else was looked at
  uint64_t memtables = 0;       // looked at
  uint64_t rows = 0;            // returned
  uint64_t cells = 0;           // returned
  // Time in calls of a stream; what is left of `duration` was the caller's own. Of ReadRow all.
  absl::Duration inside;
  // In the order in which they were looked at. Of streams those that a block was read of.
  std::vector<FileTrace> files;
};

// Receives traces. Called when the request has ended, on its thread, so from several at once; the
// engine holds no lock then, but the request returns only when the sink does. It must not call the
// database.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void OnTrace(const RequestTrace& trace) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRACE_H_
