// Users' calls on tablets that are reached by messages (rpc/data_service.h): the counterpart of
// routing/table_impl.cc and routing/scanner_impl.cc for tablets that are not called in place.
//
// A message or its response may be lost. The request is then sent again, a write under the same
// number, by which the server recognises it. After the response `superseded` or
// Verdict::kOtherServer the tablet is looked up again in METADATA, and the next try is a new
// request. The outcome of a write is unknown only if its server is lost for good, according to the
// lock service, or if the call's limits end the tries. The error is then Unavailable, and says so.
//
// Only tests call this so far, with services of their own (LocationCache::SetRemote); the transport
// for servers in other processes follows.
//
// Call everything here inside the database's gate.
#ifndef BIGTABLE_ROUTING_REMOTE_CALLS_H_
#define BIGTABLE_ROUTING_REMOTE_CALLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/snapshot.h"

#include "base/call_limits.h"
#include "base/ref_counted.h"
#include "routing/served_table.h"
#include "routing/table_impl.h"
#include "rpc/cell_block.h"
#include "rpc/data_service.h"
#include "rpc/request_slots.h"
#include "schema/mutation_format.h"

namespace bigtable {

// The writes of one call, with one request for each tablet.
class RemoteWrites {
 public:
  // All outlive this. `unchanged_since`: for one mutation (MutateRequest::unchanged_since); if the
  // precondition fails, the status is ConflictError.
  RemoteWrites(const TableImpl* table, Durability durability, const CallLimits* limits,
               SequenceNumber unchanged_since);

  // Sets a status for each mutation. Returns false if nothing was applied, because the tablet is
  // superseded or its server was replaced: look the tablet up again. `has_looked`: this call has
  // looked the tablet up.
  bool Apply(const RemoteTablet& tablet, absl::Span<const EncodedMutation> mutations,
             bool has_looked, absl::Span<absl::Status> statuses);

 private:
  const TableImpl* const table_;
  const Durability durability_;
  const CallLimits* const limits_;
  const SequenceNumber unchanged_since_;
  RequestSlots::Lease slot_;
};

// Table::ReadRow, with the limits of `options`, converted when the call began. The Row owns the
// memory of the response. `sequence`, unless it is null, is set to the read sequence.
absl::StatusOr<Row> ReadRowRemotely(const TableImpl& table, std::string_view row,
                                    const Filter& filter, const ReadOptions& options,
                                    const CallLimits& limits, SequenceNumber* sequence);

// The snapshot of a read of many rows. There is always one, since the read takes several messages.
// One thread at a time.
class RemoteSnapshot {
 public:
  // Errors of TableImpl::BeginRead.
  absl::Status Fix(const TableImpl& table, const Filter& filter, const ReadOptions& options);
  // Gives up the snapshot. Only layout() may be called from here on.
  void Release() { held_ = nullptr; }

  // The table's schema at the time of Fix().
  const TableLayout& layout() const { return *layout_; }
  SequenceNumber sequence() const { return held_->sequence(); }
  // When the snapshot was taken, for MaxAge.
  int64_t now() const { return now_; }

 private:
  std::shared_ptr<const TableLayout> layout_;
  int64_t now_ = 0;
  std::shared_ptr<const Snapshot> held_;
};

// The cells of ranges, in chunks, wherever their tablets are by then. One thread at a time.
class RemoteCursor {
 public:
  // The size of a chunk, approximately. A larger row is one chunk.
  static constexpr uint64_t kChunkBytes = 256 << 10;

  // `table` and `snapshot` outlive the cursor. `ranges` are as RowSet::Normalized() has them.
  RemoteCursor(const TableImpl* table, const RemoteSnapshot* snapshot, const Filter& filter,
               const ReadOptions& options, std::vector<RowRange> ranges);
  RemoteCursor(const RemoteCursor&) = delete;
  RemoteCursor& operator=(const RemoteCursor&) = delete;

  // Advances to the next cell. False at the end, after an error, or after as many rows as the
  // options allow: see status().
  bool Next();
  // Advances to the next cell of the same row. False at the end of the row; no request is sent,
  // because a chunk has whole rows. Requires that the last call of either function returned true.
  bool NextInRow();
  void SkipRow() { skip_row_ = true; }
  // An alternative to these: reads the next row as a whole. The Row owns the memory of its chunk.
  bool NextRow(Row* row);
  // After an error of NextRow: whether it came within a row, whose key the Row has then.
  bool broke_off() const { return broke_off_; }

  // The cell, valid until Next(), or as long as a reference to the owner is held.
  const ReadCell& cell() const { return reader_.cell(); }
  bool is_new_row() const { return reader_.is_new_row(); }
  const Ref<const RefCounted>& owner() const { return owner_; }

  const absl::Status& status() const { return status_; }

 private:
  // Requests the next chunk. False at the end, or after an error.
  bool Fetch();
  bool Fail(const absl::Status& status);
  bool FailMalformed();

  const TableImpl* const table_;
  const RemoteSnapshot* const snapshot_;
  const CallLimits limits_;
  const uint64_t row_limit_;
  std::string filter_;
  ScanRequest request_;
  std::vector<RowRange> left_;  // in reverse order: the next one is last
  absl::Status status_;
  absl::Status chunk_status_;  // the status that follows the chunk
  uint64_t rows_ = 0;
  bool skip_row_ = false;
  bool broke_off_ = false;
  bool at_row_ = false;  // at the first cell of the next row, which Next() returns

  RowRange asked_;  // the range that the chunk was requested for
  Ref<const RefCounted> owner_;
  CellBlockReader reader_;
  std::string_view last_row_;  // of the chunk
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_REMOTE_CALLS_H_
