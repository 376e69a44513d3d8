// Users' calls on tablets that are reached by messages (rpc/data_service.h): what client/table.cc
// and client/scanner.cc do where a Tablet is not in reach.
//
// A message or its answer may be lost: it is sent again, a write under the same number, which the
// server knows again. `moved` has the tablet looked up again in METADATA, and the next try is a
// request of its own. Whether a write was made is unknown only if its server is gone for good,
// which the lock service says, or the call's limits end the tries: Unavailable, saying so.
//
// All are to be called inside the database's gate.
#ifndef BIGTABLE_CLIENT_REMOTE_CALLS_H_
#define BIGTABLE_CLIENT_REMOTE_CALLS_H_

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
#include "client/database_impl.h"
#include "client/remote_tablet.h"
#include "rpc/cell_block.h"
#include "rpc/data_service.h"
#include "rpc/request_slots.h"
#include "tablet/mutation_format.h"

namespace bigtable {

// The writes of one call: a request for each tablet.
class RemoteWrites {
 public:
  // All outlive this.
  RemoteWrites(const TableImpl* table, Durability durability, const CallLimits* limits);

  // Sets a status for each mutation. False, and nothing was applied: the tablet is superseded, or
  // its server was replaced, and is to be looked up again. `has_looked`: it was looked up by this
  // call.
  bool Apply(const RemoteTablet& tablet, absl::Span<const EncodedMutation> mutations,
             bool has_looked, absl::Span<absl::Status> statuses);

 private:
  const TableImpl* const table_;
  const Durability durability_;
  const CallLimits* const limits_;
  RequestSlots::Lease slot_;
};

// Table::ReadRow. The Row has the response's memory, and keeps it.
absl::StatusOr<Row> ReadRowRemotely(const TableImpl& table, std::string_view row,
                                    const Filter& filter, const ReadOptions& options);

// What a read of many rows sees: a snapshot, always, since it takes several messages. One thread at
// a time.
class RemoteSnapshot {
 public:
  // Errors of TableImpl::BeginRead.
  absl::Status Fix(const TableImpl& table, const Filter& filter, const ReadOptions& options);
  bool fixed() const { return held_ != nullptr; }

  // The table's schema at the moment.
  const TableLayout& layout() const { return *layout_; }
  SequenceNumber sequence() const { return held_->sequence(); }
  // The present, by this client's clock, if the table has families with MaxAge.
  const std::optional<int64_t>& now() const { return now_; }

 private:
  std::optional<TableLayout> layout_;
  std::optional<int64_t> now_;
  std::shared_ptr<const Snapshot> held_;
};

// The cells of ranges, chunk after chunk, wherever their tablets are by then. One thread at a time.
class RemoteCursor {
 public:
  // A chunk is about this large, or one row.
  static constexpr uint64_t kChunkBytes = 256 << 10;

  // `table` and `moment` outlive the cursor. `ranges` are as RowSet::Normalized() has them.
  RemoteCursor(const TableImpl* table, const RemoteSnapshot* snapshot, const Filter& filter,
               const ReadOptions& options, std::vector<RowRange> ranges);
  RemoteCursor(const RemoteCursor&) = delete;
  RemoteCursor& operator=(const RemoteCursor&) = delete;

  // To the next cell. False at the end, or after an error, or when there were as many rows as the
  // options allow: status().
  bool Next();
  // To the next cell of the same row; false where it ends, without asking for more: a chunk has
  // whole rows. Requires that the last call of either returned true.
  bool NextInRow();
  void SkipRow() { skip_row_ = true; }
  // Instead: the next row, whole. The Row keeps the memory of its chunk.
  bool NextRow(Row* row);

  // The cell, until Next(), or as long as somebody has the owner.
  const ReadCell& cell() const { return reader_.cell(); }
  bool is_new_row() const { return reader_.is_new_row(); }
  const Ref<const RefCounted>& owner() const { return owner_; }

  const absl::Status& status() const { return status_; }

 private:
  // Asks for what comes next; false at the end, or after an error.
  bool Fetch();
  bool Fail(const absl::Status& status);
  bool FailMalformed();

  const TableImpl* const table_;
  const RemoteSnapshot* const snapshot_;
  const CallLimits limits_;
  const uint64_t row_limit_;
  std::string filter_;
  ScanRequest request_;
  std::vector<RowRange> left_;  // the next one last
  absl::Status status_;
  absl::Status chunk_status_;  // what comes after the chunk
  uint64_t rows_ = 0;
  bool skip_row_ = false;
  bool at_row_ = false;  // at the first cell of the row that is next, which Next() is to show

  RowRange asked_;  // what the chunk is of
  Ref<const RefCounted> owner_;
  CellBlockReader reader_;
  std::string_view last_row_;  // of the chunk
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_REMOTE_CALLS_H_
