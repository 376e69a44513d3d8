#include "connected/connected_table.h"

#include <algorithm>
#include <utility>

#include "backend/read_checks.h"
#include "base/call_limits.h"
#include "base/checksum.h"
#include "base/status.h"
#include "base/strings.h"
#include "routing/database_impl.h"
#include "rows/resume_token.h"
#include "rows/row_storage.h"

namespace bigtable {
namespace {

// What RowReader::ResumeToken knows the table by. No table of an embedded database has such a
// number.
uint64_t TokenIdOf(std::string_view name) { return Checksum(name) | uint64_t{1} << 63; }

absl::Status CheckWrite(const WriteOptions& options) {
  if (options.durability.value_or(Durability::kSync) > Durability::kSync) {
    return TableImpl::DurabilityError(*options.durability);
  }
  return LimitsOf(options).Check();
}

absl::Status CheckMutation(const RowMutation& mutation) {
  BT_RETURN_IF_ERROR(mutation.status());
  if (mutation.operation_count() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("the mutation has no operations");
}

absl::Status CheckMutationOf(std::string_view row, const RowMutation& mutation) {
  if (mutation.row() == row) return mutation.status();
  return absl::InvalidArgumentError(Cat("the operation is on row ", Quoted(row),
                                        ", and its mutation is of row ", Quoted(mutation.row())));
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

absl::Status NotConnectedError(std::string_view call) {
  return absl::UnimplementedError(
      Cat(call,
          " is for an embedded database; the service that this one is connected to has no "
          "such call"));
}

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
  if (if_matched.operation_count() == 0 && if_not.operation_count() == 0) {
    return absl::InvalidArgumentError(
        Cat("both mutations of row ", Quoted(row), " are empty; one must have an operation"));
  }
  BT_RETURN_IF_ERROR(predicate.status());
  return service_->CheckAndMutateRow(row, predicate, if_matched, if_not, options);
}

absl::StatusOr<Row> ConnectedTable::ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                       const WriteOptions& options) {
  BT_RETURN_IF_ERROR(CheckWrite(options));
  BT_RETURN_IF_ERROR(rules.status());
  if (rules.rule_count() == 0) {
    return absl::InvalidArgumentError(Cat("a ReadModifyWrite must have a rule, and that of row ",
                                          Quoted(rules.row()), " has none"));
  }
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

std::unique_ptr<ConnectedReader> ConnectedTable::ReadRows(
    absl::StatusOr<std::vector<RowRange>> ranges, const Filter& filter,
    const ReadOptions& options) {
  if (ranges.ok()) {
    if (const absl::Status checked = CheckRead(filter, options); !checked.ok()) ranges = checked;
  }
  return std::make_unique<ConnectedReader>(service_.get(), TokenIdOf(name_), std::move(ranges),
                                           filter, options);
}

std::unique_ptr<ConnectedReader> ConnectedTable::ResumeRows(std::string_view token,
                                                            const Filter& filter,
                                                            const ReadOptions& options) {
  return ReadRows(RangesOfToken(token, TokenIdOf(name_), name_, options.reverse), filter, options);
}

absl::Status ConnectedTable::DropRowRange(const RowRange& rows, const CallOptions& options) {
  BT_RETURN_IF_ERROR(LimitsOf(options).Check());
  return rows.empty() ? absl::OkStatus() : service_->DropRowRange(rows, options);
}

absl::StatusOr<std::vector<RowKeySample>> ConnectedTable::SampleRowKeys(
    const CallOptions& options) {
  BT_RETURN_IF_ERROR(LimitsOf(options).Check());
  return service_->SampleRowKeys(options);
}

}  // namespace bigtable
