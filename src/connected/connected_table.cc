#include "connected/connected_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "backend/option_limits.h"
#include "backend/read_checks.h"
#include "backend/write_checks.h"
#include "base/call_limits.h"
#include "base/checksum.h"
#include "base/status.h"
#include "base/strings.h"
#include "connected/connected_scanner.h"
#include "connected/not_connected.h"
#include "rows/resume_token.h"
#include "rows/row_storage.h"

namespace bigtable {
namespace {

// What RowReader::ResumeToken knows the table by. No table of an embedded database has such a
// number.
uint64_t TokenIdOf(std::string_view name) { return Checksum(name) | uint64_t{1} << 63; }

absl::Status CheckWrite(const WriteOptions& options) {
  if (options.durability.value_or(Durability::kSync) > Durability::kSync) {
    return DurabilityError(*options.durability);
  }
  return LimitsOf(options).Check();
}

absl::Status CheckMutation(const RowMutation& mutation) {
  BT_RETURN_IF_ERROR(mutation.status());
  if (mutation.operation_count() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("the mutation has no operations");
}

absl::Status CheckRead(const Filter& filter, const ReadOptions& options) {
  BT_RETURN_IF_ERROR(CheckFilterAndLimits(filter, options));
  BT_RETURN_IF_ERROR(LimitsOf(options).Check());
  if (options.snapshot == nullptr) return absl::OkStatus();
  return absl::UnimplementedError(
      "ReadOptions::snapshot is for an embedded database; the service that this one is connected "
      "to has no snapshots");
}

}  // namespace

absl::Status ConnectedTable::Apply(const RowMutation& mutation, const WriteOptions& options) {
  BT_RETURN_IF_ERROR(CheckWrite(options));
  BT_RETURN_IF_ERROR(CheckMutation(mutation));
  return service_->Apply(mutation, options);
}

std::vector<absl::Status> ConnectedTable::ApplyBatch(absl::Span<const RowMutation> mutations,
                                                     const WriteOptions& options) {
  std::vector<absl::Status> statuses(mutations.size(), CheckWrite(options));
  bool is_any_valid = false;
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (statuses[i].ok()) statuses[i] = CheckMutation(mutations[i]);
    is_any_valid |= statuses[i].ok();
  }
  if (is_any_valid) service_->ApplyBatch(mutations, options, absl::MakeSpan(statuses));
  return statuses;
}

absl::StatusOr<bool> ConnectedTable::CheckAndMutateRow(std::string_view row,
                                                       const Filter& predicate,
                                                       const RowMutation& if_matched,
                                                       const RowMutation& if_not,
                                                       const WriteOptions& options) {
  BT_RETURN_IF_ERROR(CheckWrite(options));
  BT_RETURN_IF_ERROR(CheckRowKey(row));
  BT_RETURN_IF_ERROR(CheckMutationOf(row, if_matched));
  BT_RETURN_IF_ERROR(CheckMutationOf(row, if_not));
  BT_RETURN_IF_ERROR(CheckEitherMutates(if_matched, if_not));
  BT_RETURN_IF_ERROR(predicate.status());
  return service_->CheckAndMutateRow(row, predicate, if_matched, if_not, options);
}

absl::StatusOr<Row> ConnectedTable::ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                       const WriteOptions& options) {
  BT_RETURN_IF_ERROR(CheckWrite(options));
  BT_RETURN_IF_ERROR(CheckRules(rules));
  return service_->ReadModifyWriteRow(rules, options);
}

absl::StatusOr<Row> ConnectedTable::ReadRow(std::string_view row, const Filter& filter,
                                            const ReadOptions& options) {
  BT_RETURN_IF_ERROR(CheckRowKey(row));
  BT_RETURN_IF_ERROR(CheckRead(filter, options));
  // These are for reads of several rows.
  ReadOptions one = options;
  one.reverse = false;
  one.row_limit = 1;
  Row result;
  const auto rows = service_->ReadRows({RowRange::Single(row)}, filter, one);
  BT_ASSIGN_OR_RETURN(const bool has_cells, rows->Next(&result));
  if (!has_cells) RowBuilder(&result, row, {}).Finish();
  if (options.cell_limit > 0) {
    RowBuilder::Truncate(&result, static_cast<size_t>(options.cell_limit));
  }
  return result;
}

std::vector<absl::StatusOr<Row>> ConnectedTable::GetRows(absl::Span<const std::string_view> rows,
                                                         const Filter& filter,
                                                         const ReadOptions& options) {
  std::vector<absl::StatusOr<Row>> results;
  results.reserve(rows.size());
  absl::Status status;  // of the streams
  while (results.size() < rows.size() && status.ok()) {
    const absl::Span<const std::string_view> left = rows.subspan(results.size());
    status = GetSome(left.subspan(0, RowsOfRequest(left)), filter, options, &results);
  }
  while (results.size() < rows.size()) results.emplace_back(status);
  return results;
}

size_t ConnectedTable::RowsOfRequest(absl::Span<const std::string_view> rows) {
  constexpr size_t kMostRows = 1000;
  constexpr size_t kMostBytes = 1 << 20;
  size_t count = 0;
  for (size_t bytes = 0; count < std::min(rows.size(), kMostRows); ++count) {
    bytes += rows[count].size();
    if (count > 0 && bytes > kMostBytes) break;
  }
  return count;
}

absl::Status ConnectedTable::GetSome(absl::Span<const std::string_view> rows, const Filter& filter,
                                     const ReadOptions& options,
                                     std::vector<absl::StatusOr<Row>>* results) {
  std::vector<size_t> order(rows.size());  // by row
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rows[a] < rows[b]; });
  const auto is_repeated = [&](size_t a, size_t b) { return rows[a] == rows[b]; };
  const bool is_one_stream =
      options.cell_limit == 0 && CheckRead(filter, options).ok() &&
      std::adjacent_find(order.begin(), order.end(), is_repeated) == order.end() &&
      std::all_of(rows.begin(), rows.end(),
                  [](std::string_view row) { return CheckRowKey(row).ok(); });
  if (!is_one_stream) {
    for (const std::string_view row : rows) results->push_back(ReadRow(row, filter, options));
    return absl::OkStatus();
  }
  ReadOptions all = options;
  all.reverse = false;
  all.row_limit = 0;
  RowSet set;
  for (const std::string_view row : rows) set.Append(row);
  const size_t begin = results->size();
  results->resize(begin + rows.size());
  const auto stream = service_->ReadRows(set.Normalized(), filter, all);
  Row row;
  absl::StatusOr<bool> has_row = stream->Next(&row);
  for (const size_t i : order) {
    absl::StatusOr<Row>& result = (*results)[begin + i];
    if (!has_row.ok()) {
      result = has_row.status();
    } else if (*has_row && row.key() == rows[i]) {
      result = std::exchange(row, Row());
      has_row = stream->Next(&row);
    } else {
      RowBuilder(&result.emplace(), rows[i], {}).Finish();
    }
  }
  return has_row.status();
}

std::unique_ptr<RowSource> ConnectedTable::ReadRows(const RowSet& rows, const Filter& filter,
                                                    const ReadOptions& options) {
  return ReadRanges(rows.Normalized(), filter, options);
}

std::unique_ptr<RowSource> ConnectedTable::ResumeRows(std::string_view token, const Filter& filter,
                                                      const ReadOptions& options) {
  return ReadRanges(RangesOfToken(token, TokenIdOf(name()), name(), options.reverse), filter,
                    options);
}

std::unique_ptr<ConnectedReader> ConnectedTable::ReadRanges(
    absl::StatusOr<std::vector<RowRange>> ranges, const Filter& filter,
    const ReadOptions& options) {
  if (ranges.ok()) {
    if (const absl::Status checked = CheckRead(filter, options); !checked.ok()) ranges = checked;
  }
  return std::make_unique<ConnectedReader>(service_.get(), TokenIdOf(name()), std::move(ranges),
                                           filter, options);
}

std::unique_ptr<ScannerBackend> ConnectedTable::NewScanner(ReadOptions options) {
  return std::make_unique<ConnectedScanner>(shared_from_this(), std::move(options));
}

absl::Status ConnectedTable::DropRowRange(const RowRange& rows, const CallOptions& options) {
  BT_RETURN_IF_ERROR(LimitsOf(options).Check());
  return rows.empty() ? absl::OkStatus() : service_->DropRowRange(rows, options);
}

absl::StatusOr<ChangeRound> ConnectedTable::ReadChanges(const ChangeRequest& /*request*/) {
  return NotConnectedError("Table::ReadChanges");
}

absl::Status ConnectedTable::SetChangeReader(std::string_view /*reader*/,
                                             std::optional<std::string_view> /*position*/,
                                             const CallOptions& /*options*/) {
  return NotConnectedError("Table::SetChangeReader");
}

absl::StatusOr<IngestSummary> ConnectedTable::Ingest(absl::Span<const std::string> /*files*/,
                                                     const IngestOptions& /*options*/) {
  return NotConnectedError("Table::Ingest");
}

absl::StatusOr<std::vector<RowKeySample>> ConnectedTable::SampleRowKeys(
    const CallOptions& options) {
  BT_RETURN_IF_ERROR(LimitsOf(options).Check());
  return service_->SampleRowKeys(options);
}

absl::Status ConnectedTable::MutateRowAtomically(
    std::string_view /*row*/, const Filter& /*filter*/,
    absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> /*function*/,
    const WriteOptions& /*options*/) {
  return NotConnectedError("Table::MutateRowAtomically");
}

absl::StatusOr<std::vector<uint64_t>> ConnectedTable::ApproximateSizes(
    absl::Span<const RowRange> /*ranges*/, const CallOptions& /*options*/) {
  return NotConnectedError("Table::ApproximateSizes");
}

}  // namespace bigtable
