#include "routing/remote_calls.h"

#include <algorithm>
#include <utility>

#include "backend/option_limits.h"
#include "base/status.h"
#include "base/strings.h"
#include "routing/snapshot_impl.h"
#include "rows/row_storage.h"
#include "rpc/answer.h"
#include "rpc/filter_format.h"
#include "rpc/move_wait.h"
#include "rpc/request_slots.h"
#include "rpc/row_conflict.h"
#include "serving/server_end.h"

namespace bigtable {
namespace {

using Verdict = MutateResponse::Verdict;

// --- Writes ---

absl::Status Unknown(const RemoteTablet& tablet, std::string_view why) {
  return absl::UnavailableError(Cat("no response from server ", tablet.server, ", and ", why,
                                    "; whether the write was applied is unknown"));
}

// Sends the request until there is a response. A lost server that can still be reached may report
// the outcome, so the request is repeated a few more times after its end.
absl::StatusOr<MutateResponse> Send(const TableImpl& table, const RemoteTablet& tablet,
                                    MutateRequest request, const CallLimits& limits) {
  constexpr int kTriesAfterEnd = 5;
  bool was_lost = false;
  int tries_after_end = 0;
  for (MoveWait wait;;) {
    request.timeout = limits.deadline.left();
    absl::StatusOr<MutateResponse> response = tablet.service->Mutate(request);
    if (response.ok()) {
      if (response->verdict == Verdict::kOtherServer && was_lost) {
        return Unknown(tablet, "the server was replaced");
      }
      BT_RETURN_IF_ERROR(CheckAnswer(request, *response));
      return response;
    }
    const absl::Status& error = response.status();
    if (!IsLost(error)) return was_lost ? Unknown(tablet, ToStd(error.message())) : error;
    was_lost = true;
    if (HasEnded(table.database->session.get(), tablet.server) &&
        ++tries_after_end == kTriesAfterEnd) {
      return Unknown(tablet, "the server was lost");
    }
    const absl::Status waited = wait.Wait(limits);
    if (!waited.ok()) return Unknown(tablet, ToStd(waited.message()));
  }
}

}  // namespace

RemoteWrites::RemoteWrites(const TableImpl* table, Durability durability, const CallLimits* limits,
                           SequenceNumber unchanged_since)
    : table_(table),
      durability_(durability),
      limits_(limits),
      unchanged_since_(unchanged_since),
      slot_(&table->database->slots) {}

bool RemoteWrites::Apply(const RemoteTablet& tablet, absl::Span<const EncodedMutation> mutations,
                         bool has_looked, absl::Span<absl::Status> statuses) {
  // METADATA names a lost server until others have its tablets. A write that is not sent to a lost
  // server has no unknown outcome.
  if (has_looked && HasEnded(table_->database->session.get(), tablet.server))
    tablet.is_stale = true;
  if (tablet.is_stale) return false;
  MutateRequest request;
  request.server = tablet.server;
  request.table_id = table_->route->table_id();
  request.id = slot_.Next();
  request.durability = durability_;
  if (unchanged_since_ != kUnconditional) request.unchanged_since = unchanged_since_;
  request.caller = table_->caller;
  request.mutations.assign(mutations.begin(), mutations.end());
  const absl::StatusOr<MutateResponse> response =
      Send(*table_, tablet, std::move(request), *limits_);
  if (response.ok() && response->verdict == Verdict::kDone) {
    std::copy(response->statuses.begin(), response->statuses.end(), statuses.begin());
    return true;
  }
  if (response.ok() && response->verdict == Verdict::kConflict) {
    if (unchanged_since_ != kUnconditional) {
      statuses[0] = ConflictError();
    } else {
      std::fill(
          statuses.begin(), statuses.end(),
          absl::InternalError(Cat("server ", tablet.server,
                                  " has checked a precondition that the write did not have")));
    }
    return true;
  }
  tablet.is_stale = true;
  if (response.ok()) return false;
  std::fill(statuses.begin(), statuses.end(), response.status());
  return true;
}

// --- Reads ---

namespace {

// The memory of a response's cells, kept as long as a Row or a cursor refers to it.
class ReceivedCells final : public RefCounted {
 public:
  explicit ReceivedCells(std::string cells) : cells_(std::move(cells)) {}
  std::string_view cells() const { return cells_; }

 private:
  const std::string cells_;
};

// A valid rest of a range has the same far end, and is smaller than the range.
bool IsRestOf(const RowRange& rest, const RowRange& range, bool reverse) {
  if (rest.empty()) return false;
  if (!reverse) return rest.end() == range.end() && range.begin() < rest.begin();
  return rest.begin() == range.begin() && rest.end().has_value() &&
         (!range.end().has_value() || *rest.end() < *range.end());
}

// Reads as much of the request's range as fits in one message, from the server of its first row.
absl::StatusOr<ScanResponse> Scan(const TableImpl& table, ScanRequest* request,
                                  const CallLimits& limits) {
  for (MoveWait wait;;) {
    BT_RETURN_IF_ERROR(limits.Check());
    const std::shared_ptr<const ServedTable> known = table.route->Share();
    const size_t index = request->reverse ? known->FindBefore(request->range.end())
                                          : known->Find(request->range.begin());
    const RemoteTablet* const tablet = known->tablets()[index].remote.get();
    if (tablet != nullptr && !tablet->is_stale) {
      request->server = tablet->server;
      request->timeout = limits.deadline.left();
      absl::StatusOr<ScanResponse> response = tablet->service->Scan(*request);
      if (!response.ok() && !IsLost(response.status())) return response;
      if (response.ok() && !response->superseded) {
        if (response->rest.has_value() &&
            !IsRestOf(*response->rest, request->range, request->reverse)) {
          return absl::InternalError(
              Cat("server ", tablet->server, " has read rows that were not requested"));
        }
        return response;
      }
      tablet->is_stale = true;
    }
    // In reverse, the known tablets may end far before the range does: look up tablet after tablet.
    const std::string_view row =
        request->reverse ? known->BeginOf(index) : std::string_view(request->range.begin());
    BT_RETURN_IF_ERROR(table.Relocate(row, &wait, limits));
  }
}

ScanRequest RequestOf(const TableImpl& table, const ReadOptions& options) {
  ScanRequest request;
  request.table_id = table.route->table_id();
  request.verify_checksums = options.verify_checksums;
  request.fill_cache = options.fill_cache;
  request.caller = table.caller;
  return request;
}

Cell CellOf(const ReadCell& cell) {
  return {cell.family, cell.qualifier, Timestamp(cell.timestamp), cell.value,
          CellLabels(cell.label)};
}

}  // namespace

absl::StatusOr<Row> ReadRowRemotely(const TableImpl& table, std::string_view row,
                                    const Filter& filter, const ReadOptions& options,
                                    const CallLimits& limits, SequenceNumber* sequence) {
  BT_RETURN_IF_ERROR(table.CheckRead(filter, options, limits));
  BT_ASSIGN_OR_RETURN(const std::string encoded, EncodeFilter(filter));
  ScanRequest request = RequestOf(table, options);
  request.range = RowRange::Single(row);
  request.filter = encoded;
  if (options.snapshot != nullptr) {
    request.sequence = options.snapshot->sequence();
    request.now = SnapshotImpl::TimeOf(*options.snapshot);
  }
  BT_ASSIGN_OR_RETURN(ScanResponse response, Scan(table, &request, limits));
  BT_RETURN_IF_ERROR(response.status);
  if (sequence != nullptr) *sequence = response.sequence;
  const auto cells = MakeRef<const ReceivedCells>(std::move(response.cells));
  Row result;
  RowBuilder builder(&result, row, Pin<TabletVersion>());
  for (CellBlockReader reader(cells->cells()); reader.Next();) {
    if (reader.cell().row != row) {
      return absl::InternalError(Cat("row ", Quoted(row), " was requested, and the response has ",
                                     Quoted(reader.cell().row)));
    }
    builder.AddInPlace(CellOf(reader.cell()), cells.get());
  }
  builder.Finish();
  if (options.cell_limit > 0) {
    RowBuilder::Truncate(&result, static_cast<size_t>(options.cell_limit));
  }
  return result;
}

absl::Status RemoteSnapshot::Fix(const TableImpl& table, const Filter& filter,
                                 const ReadOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_RETURN_IF_ERROR(table.CheckRead(filter, options, limits));
  BT_ASSIGN_OR_RETURN(layout_, table.database->schemas->Find(table.name(), limits));
  // Or another table of this name.
  if (layout_ == nullptr || layout_->table_id != table.route->table_id()) {
    return table.DeletedError();
  }
  held_ = options.snapshot;
  if (held_ == nullptr) {
    const std::shared_ptr<SnapshotList>& snapshots = table.database->parts.snapshots;
    held_ = std::make_shared<const SnapshotImpl>(snapshots, snapshots->Take());
  }
  now_ = SnapshotImpl::TimeOf(*held_);
  return absl::OkStatus();
}

RemoteCursor::RemoteCursor(const TableImpl* table, const RemoteSnapshot* snapshot,
                           const Filter& filter, const ReadOptions& options,
                           std::vector<RowRange> ranges)
    : table_(table),
      snapshot_(snapshot),
      limits_(LimitsOf(options)),
      row_limit_(static_cast<uint64_t>(options.row_limit)),
      request_(RequestOf(*table, options)),
      left_(std::move(ranges)) {
  request_.reverse = options.reverse;
  request_.max_bytes = kChunkBytes;
  if (!options.reverse) std::reverse(left_.begin(), left_.end());
  absl::StatusOr<std::string> encoded = EncodeFilter(filter);
  if (encoded.ok()) filter_ = *std::move(encoded);
  status_ = encoded.status();
}

bool RemoteCursor::Fail(const absl::Status& status) {
  status_ = status;
  return false;
}

bool RemoteCursor::Next() {
  while (status_.ok()) {
    while (std::exchange(at_row_, false) || reader_.Next()) {
      if (!reader_.is_new_row()) {
        if (!skip_row_) return true;
        continue;
      }
      skip_row_ = false;
      if (row_limit_ > 0 && rows_ == row_limit_) return false;
      const std::string_view row = reader_.cell().row;
      const bool is_in_order =
          last_row_.empty() || (request_.reverse ? row < last_row_ : last_row_ < row);
      if (!is_in_order || !asked_.Contains(row)) {
        return Fail(absl::InternalError(
            Cat("a response has row ", Quoted(row), ", which was not requested there")));
      }
      last_row_ = row;
      ++rows_;
      if (const absl::Status ended = limits_.Check(); !ended.ok()) return Fail(ended);
      return true;
    }
    if (!reader_.ok()) return FailMalformed();
    if (row_limit_ > 0 && rows_ == row_limit_) return false;
    if (!chunk_status_.ok()) return Fail(chunk_status_);
    if (!Fetch()) return false;
  }
  return false;
}

bool RemoteCursor::NextInRow() {
  if (!reader_.Next()) return reader_.ok() ? false : FailMalformed();
  at_row_ = reader_.is_new_row();
  return !at_row_;
}

bool RemoteCursor::FailMalformed() {
  return Fail(absl::InternalError("the cells of a response are not well formed"));
}

bool RemoteCursor::NextRow(Row* row) {
  if (!Next()) return false;
  *row = Row();
  RowBuilder builder(row, cell().row, Pin<TabletVersion>());
  do {
    builder.AddInPlace(CellOf(cell()), owner().get());
  } while (NextInRow());
  builder.Finish();
  broke_off_ = !status_.ok();
  return !broke_off_;
}

bool RemoteCursor::Fetch() {
  if (left_.empty()) return false;
  request_.range = std::move(left_.back());
  left_.pop_back();
  request_.filter = filter_;
  request_.sequence = snapshot_->sequence();
  request_.now = snapshot_->now();
  request_.row_limit = row_limit_ == 0 ? 0 : row_limit_ - rows_;
  absl::StatusOr<ScanResponse> response = Scan(*table_, &request_, limits_);
  if (!response.ok()) return Fail(response.status());
  if (response->rest.has_value()) left_.push_back(*std::move(response->rest));
  asked_ = request_.range;
  chunk_status_ = response->status;
  const auto cells = MakeRef<const ReceivedCells>(std::move(response->cells));
  owner_ = cells;
  reader_ = CellBlockReader(cells->cells());
  last_row_ = {};
  return true;
}

}  // namespace bigtable
