#include "serving/data_server.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

#include "bigtable/row.h"
#include "bigtable/row_mutation.h"

#include "base/published.h"
#include "base/shortcuts.h"
#include "base/status.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "read/cell_cursor.h"
#include "read/filter_evaluator.h"
#include "read/filter_node.h"
#include "read/row_ranges.h"
#include "rows/row_storage.h"
#include "rpc/cell_block.h"
#include "rpc/filter_format.h"
#include "rpc/row_conflict.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

MutateResponse Moved() { return {.verdict = MutateResponse::Verdict::kMoved, .statuses = {}}; }
MutateResponse All(size_t n, const absl::Status& status) {
  return {.verdict = MutateResponse::Verdict::kDone,
          .statuses = std::vector<absl::Status>(n, status)};
}

// Checks the limits of RowMutation, and sets takes_server_time.
absl::Status CheckLimits(size_t max_row_size, EncodedMutation* checked) {
  const EncodedMutation& mutation = *checked;
  if (mutation.row.empty() || mutation.row.size() > max_row_size) {
    return absl::InvalidArgumentError(Cat("a row key must have 1 to ", max_row_size,
                                          " bytes, and one has ", mutation.row.size()));
  }
  if (mutation.size() > RowMutation::kMaxSize) {
    return absl::InvalidArgumentError(
        Cat("a mutation must be at most ", RowMutation::kMaxSize, " bytes"));
  }
  checked->takes_server_time = false;
  OperationReader reader(mutation.operations);
  MutationOperation operation;
  uint32_t count = 0;
  for (; reader.Next(&operation); ++count) {
    if (operation.qualifier.size() > RowMutation::kMaxQualifierSize ||
        operation.value.size() > RowMutation::kMaxValueSize ||
        count == RowMutation::kMaxOperations) {
      return absl::InvalidArgumentError(Cat("the mutation of row ", Quoted(mutation.row),
                                            " is beyond the limits of RowMutation"));
    }
    checked->takes_server_time |= operation.takes_server_time();
  }
  return reader.ok() ? absl::OkStatus()
                     : absl::InvalidArgumentError("the mutation is not well formed");
}

// The part of a range after one of its rows, in the direction of the scan; nothing if it is empty.
std::optional<RowRange> RestBehind(const RowRange& range, std::string_view row, bool reverse) {
  RowRange rest = reverse ? RowRange::RightOpen(range.begin(), row)
                          : RowsBetween(Cat(row, std::string_view("\0", 1)), range.end());
  if (rest.empty()) return std::nullopt;
  return rest;
}

// The part of a range after the tablet's rows, in the direction of the scan; nothing if it is
// empty.
std::optional<RowRange> Rest(const RowRange& range, const RowRange& tablet, bool reverse) {
  if (reverse) {
    if (tablet.begin() <= range.begin()) return std::nullopt;
    return RowRange::RightOpen(range.begin(), tablet.begin());
  }
  if (!tablet.end().has_value()) return std::nullopt;
  if (range.end().has_value() && *range.end() <= *tablet.end()) return std::nullopt;
  return RowsBetween(*tablet.end(), range.end());
}

// The tablet in which a scan begins; null if it is not on this server.
std::shared_ptr<Tablet> FirstTablet(const ServerTablets& tablets, const ScanRequest& request) {
  return request.reverse ? tablets.FindBefore(request.table_id, request.range.end())
                         : tablets.Find(request.table_id, request.range.begin());
}

// Adds the row at whose first cell the cursor stands, and leaves the cursor at the row's end. After
// an error nothing is added.
absl::Status AddRow(CellCursor* cells, CellBlockBuilder* block) {
  bool is_new_row = true;
  do {
    block->Add({cells->row(), cells->family().name, cells->qualifier(), cells->timestamp(),
                cells->value()},
               std::exchange(is_new_row, false));
  } while (cells->NextInRow());
  if (!cells->status().ok()) block->DropRow();
  return cells->status();
}

// The same with a filter that needs the whole row.
absl::Status AddFilteredRow(CellCursor* cells, const Pin<TabletVersion>& version,
                            FilterEvaluator* filter, CellBlockBuilder* block) {
  Row row;
  RowBuilder builder(&row, cells->row(), version.Clone());
  MergedRow source(cells, MergedRow::From::kThisCell);
  const absl::Status status = filter->ReadRow(&source, SIZE_MAX, &builder);
  builder.Finish();
  BT_RETURN_IF_ERROR(status);
  bool is_new_row = true;
  for (const Cell& cell : row.cells()) {
    block->Add({row.key(), cell.family, cell.qualifier, cell.timestamp.micros(), cell.value,
                cell.labels.empty() ? std::string_view() : *cell.labels.begin()},
               std::exchange(is_new_row, false));
  }
  return absl::OkStatus();
}

}  // namespace

bool DataServer::IsFor(std::string_view server) const {
  // A server that is being started has no name yet.
  return (path_->writes() != DataPath::Writes::kLogged || server_->log().started()) &&
         server_->name() == server;
}

// --- Writes ---

absl::StatusOr<MutateResponse> DataServer::Mutate(const MutateRequest& request) {
  if (!IsFor(request.server)) {
    return MutateResponse{.verdict = MutateResponse::Verdict::kOtherServer, .statuses = {}};
  }
  if (path_->writes() == DataPath::Writes::kRefused) {
    return absl::FailedPreconditionError("the database was opened read-only");
  }
  const CallLimits limits{.deadline = Deadline::In(request.timeout)};
  return outcomes_.Run(request.id, limits, [&] { return Apply(request, limits); });
}

MutateResponse DataServer::Apply(const MutateRequest& request, const CallLimits& limits) {
  if (!server_->state().serving()) {
    server_->state().RequestRenewal();
    return Moved();
  }
  if (request.unchanged_since.has_value() && (request.is_batch || request.mutations.size() != 1)) {
    return All(request.mutations.size(),
               absl::InvalidArgumentError(Cat("a precondition is for one mutation, and there are ",
                                              request.mutations.size())));
  }
  MutateResponse response = All(request.mutations.size(), absl::OkStatus());
  const absl::Span<absl::Status> statuses = absl::MakeSpan(response.statuses);
  std::vector<EncodedMutation> mutations = request.mutations;
  std::shared_ptr<Tablet> tablet;
  // A row of METADATA is a row of a user's table after the table's id.
  const size_t max_row_size =
      RowMutation::kMaxRowSize + (request.table_id == kMetadataTableId ? kMostIdBytes : 0);
  for (size_t i = 0; i < mutations.size(); ++i) {
    statuses[i] = CheckLimits(max_row_size, &mutations[i]);
    if (!statuses[i].ok()) continue;
    const std::string_view row = mutations[i].row;
    if (tablet == nullptr) tablet = server_->tablets().Find(request.table_id, row);
    if (tablet == nullptr || !tablet->rows().Contains(row)) return Moved();
  }
  if (tablet == nullptr) return response;
  if (const absl::Status taken = TakeOfQuotas(request, mutations, statuses); !taken.ok()) {
    for (absl::Status& status : statuses) status.Update(taken);
    return response;
  }
  const CallSample sample{.weight = 1};
  WriteRequest write{.tablet = tablet.get(),
                     .mutations = mutations,
                     .statuses = statuses,
                     .is_batch = request.is_batch,
                     .unchanged_since = request.unchanged_since.value_or(kUnconditional),
                     .durability = request.durability,
                     .limits = limits,
                     .caller = request.caller,
                     .sample = &sample};
  if (!path_->Apply(&write)) return Moved();
  if (request.unchanged_since.has_value() && IsConflict(statuses[0])) {
    return {.verdict = MutateResponse::Verdict::kConflict, .statuses = {}};
  }
  return response;
}

absl::Status DataServer::TakeOfQuotas(const MutateRequest& request,
                                      absl::Span<const EncodedMutation> mutations,
                                      absl::Span<const absl::Status> statuses) const {
  QuotaControl* const quotas = path_->quotas();
  if (quotas == nullptr || !quotas->limits_rates()) return absl::OkStatus();
  QuotaControl::Demand demand{.table_id = request.table_id, .caller = request.caller};
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (!statuses[i].ok()) continue;
    ++demand.requests;
    demand.bytes += mutations[i].size();
  }
  return quotas->Take(absl::MakeConstSpan(&demand, 1));
}

// --- Reads ---

absl::StatusOr<ScanResponse> DataServer::Scan(const ScanRequest& request) {
  if (request.range.empty()) return absl::InvalidArgumentError("the range to read is empty");
  BT_ASSIGN_OR_RETURN(const Filter filter, DecodeFilter(request.filter));
  ScanResponse response;
  response.superseded = true;
  if (!IsFor(request.server)) return response;
  const std::shared_ptr<Tablet> tablet = FirstTablet(server_->tablets(), request);
  if (tablet == nullptr) return response;
  const CallLimits limits{.deadline = Deadline::In(request.timeout),
                          .cancellation = request.cancellation};
  // All mutations up to the snapshot become visible, except those of a server that was lost.
  if (request.sequence.has_value()) {
    response.status = server_->AwaitVisible(*request.sequence, limits);
    if (!response.status.ok()) {
      response.superseded = false;
      return response;
    }
  }
  const Pin<TabletVersion> version = tablet->Version();
  ReadSpec spec;
  if (!path_->BeginRead(*tablet, *version, {request.sequence, request.now}, &spec)) {
    return response;
  }
  response.superseded = false;
  response.status =
      path_->CheckRead(version->layout(), FilterNode::Of(filter), request.caller, limits);
  if (!response.status.ok()) return response;
  QuotaControl* const quotas = path_->quotas();
  const bool is_limited = quotas != nullptr && quotas->limits_rates();
  QuotaControl::Demand demand{
      .table_id = request.table_id, .caller = request.caller, .requests = 1};
  if (is_limited) response.status = quotas->Begin(demand);
  if (!response.status.ok()) return response;
  response.sequence = spec.sequence;
  spec.filter = FilterNode::Of(filter);
  spec.settings = {.verify_checksums = request.verify_checksums, .fill_cache = request.fill_cache};
  spec.reverse = request.reverse;
  spec.limits = limits;

  FilterEvaluator evaluator(spec);
  response.status = evaluator.Begin(version->budget());
  if (!response.status.ok()) return response;
  const uint64_t max_bytes = std::clamp<uint64_t>(request.max_bytes, 1, ScanRequest::kMostBytes);
  CellCursor cells(version.get(), spec);
  if (IsSingleRow(request.range) && Shortcuts().Has(Shortcut::kSingleRow)) {
    cells.ReadRow(RowProbe(*version, request.range.begin(), spec.filter == nullptr));
  } else {
    cells.ReadRange(Intersection(request.range, tablet->rows()));
  }
  CellBlockBuilder block(&response.cells);
  absl::Status added;
  bool is_full = false;  // the message, or the number of rows
  while (cells.Next()) {
    added = evaluator.needs_row() ? AddFilteredRow(&cells, version, &evaluator, &block)
                                  : AddRow(&cells, &block);
    if (!added.ok()) break;
    if (response.cells.size() >= max_bytes ||
        (request.row_limit > 0 && block.rows() == request.row_limit)) {
      response.rest = RestBehind(request.range, cells.row(), request.reverse);
      is_full = response.rest.has_value();
      break;
    }
  }
  demand.bytes = response.cells.size();
  if (is_limited) quotas->Charge(demand);
  if (is_full) return response;
  response.status = added.ok() ? cells.status() : added;
  if (response.status.ok()) {
    response.rest = Rest(request.range, tablet->rows(), request.reverse);
  }
  return response;
}

}  // namespace bigtable
