// Traces: what was done for a sample of the requests, and where their time went (section 9 of the
// paper). See DatabaseOptions::trace_one_of.
#ifndef BIGTABLE_TRACE_H_
#define BIGTABLE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/export.h"

namespace bigtable {

// What a traced request did with one SSTable.
struct FileTrace {
  uint64_t number = 0;
  // The filter or row index excluded the file, so no block of it was read. Only reads of one row
  // check filters.
  bool filtered_out = false;
  // Blocks that were in memory: in place in the mapping, or of an in-memory locality group.
  uint64_t blocks_in_place = 0;
  // Blocks that were used for the first time: brought into the mapping and verified, or loaded with
  // all others of an in-memory locality group. Also blocks of a mapped file that were not in memory
  // and were read by position.
  uint64_t blocks_first_touched = 0;
  // Blocks that were found in the block cache, and those that were not found and had to be read or
  // decompressed.
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  // Stored size of the blocks that were used for the first time or missed.
  uint64_t bytes_read = 0;
  // Time to get all these blocks.
  absl::Duration block_time;
};

// One request. Plain value. A write spends its time in `held_back`, `queue`, `log`, `sync` and
// `memtable`, in this order; the rest of `duration` is overhead before and after.
struct RequestTrace {
  enum class Request : uint8_t {
    kReadRow,             // Table::ReadRow
    kReadRows,            // a stream of Table::ReadRows, until the RowReader is destroyed
    kScan,                // a stream of a Scanner, until that is destroyed
    kApply,               // Table::Apply
    kApplyBatch,          // Table::ApplyBatch
    kCheckAndMutateRow,   // Table::CheckAndMutateRow; all tries together
    kReadModifyWriteRow,  // Table::ReadModifyWriteRow; all tries together
  };
  // Longer row keys are truncated.
  static constexpr size_t kMostRowBytes = 256;

  Request request = Request::kReadRow;
  std::string table;
  std::string row;  // for a batch, the first; for streams, none
  absl::Time begin;
  absl::Duration duration;
  // The result of the request; for a batch, the first error.
  absl::Status status;

  // Writes.
  uint64_t mutations = 0;
  absl::Duration held_back;  // stalled: memory or compactions could not keep up
  absl::Duration queue;      // waiting for the writes of others
  // The group of writes in which this one was committed, and the times of the group. A batch is one
  // write for each tablet that it touches, one after another; their values are added up.
  uint64_t group_size = 0;
  absl::Duration log;       // appending its records to the log
  absl::Duration sync;      // syncing the log, if any write of the group requires it
  absl::Duration memtable;  // inserting into memtables

  // Reads.
  bool scan_cache_hit = false;  // then nothing else was read
  // What the filter excluded, so that no block of it was read: whether only a part of the rows can
  // match its row regex; locality groups of which no family can pass; files of other groups of
  // which no timestamp can pass. For streams, in all tablets.
  bool narrowed_rows = false;
  uint64_t excluded_groups = 0;
  uint64_t excluded_files = 0;
  uint64_t memtables = 0;  // read
  uint64_t rows = 0;       // returned
  uint64_t cells = 0;      // returned
  // Time in calls of a stream; the rest of `duration` was spent in the caller. For ReadRow, all.
  absl::Duration inside;
  // In the order in which they were read. For streams, only files of which a block was read.
  std::vector<FileTrace> files;
};

// Receives traces. Called when a request has ended, on its thread, so possibly from several threads
// at once. The engine holds no lock during the call, but the request returns only after the sink
// does. It must not call the database. What it throws is logged.
class BIGTABLE_EXPORT TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Takes the trace of a request that has ended. The trace is valid during the call.
  virtual void OnTrace(const RequestTrace& trace) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRACE_H_
