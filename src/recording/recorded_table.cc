#include "recording/recorded_table.h"

#include <algorithm>

#include "recording/recorded_streams.h"

namespace bigtable {

using CallKind = RecordedCall::Kind;

absl::Status RecordedTable::Apply(const RowMutation& mutation, const WriteOptions& options) {
  CallBuilder call = Begin(CallKind::kApply);
  absl::Status status = table_->Apply(mutation, options);
  call.AddMutation(mutation);
  call.SetOptions(options);
  call.End(status.code());
  return status;
}

std::vector<absl::Status> RecordedTable::ApplyBatch(absl::Span<const RowMutation> mutations,
                                                    const WriteOptions& options) {
  CallBuilder call = Begin(CallKind::kApplyBatch);
  std::vector<absl::Status> statuses = table_->ApplyBatch(mutations, options);
  for (const RowMutation& mutation : mutations) call.AddMutation(mutation);
  call.SetOptions(options);
  const auto failed = std::find_if(statuses.begin(), statuses.end(),
                                   [](const absl::Status& status) { return !status.ok(); });
  call.End(failed == statuses.end() ? absl::StatusCode::kOk : failed->code());
  return statuses;
}

absl::StatusOr<bool> RecordedTable::CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                                      const RowMutation& if_matched,
                                                      const RowMutation& if_not,
                                                      const WriteOptions& options) {
  CallBuilder call = Begin(CallKind::kCheckAndMutateRow);
  absl::StatusOr<bool> matched =
      table_->CheckAndMutateRow(row, predicate, if_matched, if_not, options);
  call.AddRow(row);
  call.SetFilter(predicate);
  call.AddMutation(if_matched);
  call.AddMutation(if_not);
  call.SetOptions(options);
  if (matched.ok() && *matched) call.CountRow();
  call.End(matched.status().code());
  return matched;
}

absl::StatusOr<Row> RecordedTable::ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                      const WriteOptions& options) {
  CallBuilder call = Begin(CallKind::kReadModifyWriteRow);
  absl::StatusOr<Row> row = table_->ReadModifyWriteRow(rules, options);
  call.AddRules(rules);
  call.SetOptions(options);
  if (row.ok()) call.CountRow(*row);
  call.End(row.status().code());
  return row;
}

absl::Status RecordedTable::MutateRowAtomically(
    std::string_view row, const Filter& filter,
    absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
    const WriteOptions& options) {
  CallBuilder call = Begin(CallKind::kMutateRowAtomically);
  const auto recorded = [&](const Row& read) {
    absl::StatusOr<RowMutation> mutation = function(read);
    call.DropMutations();
    if (mutation.ok()) call.AddMutation(*mutation);
    return mutation;
  };
  absl::Status status = table_->MutateRowAtomically(row, filter, recorded, options);
  call.AddRow(row);
  call.SetFilter(filter);
  call.SetOptions(options);
  call.End(status.code());
  return status;
}

absl::StatusOr<Row> RecordedTable::ReadRow(std::string_view row, const Filter& filter,
                                           const ReadOptions& options) {
  CallBuilder call = Begin(CallKind::kReadRow);
  absl::StatusOr<Row> read = table_->ReadRow(row, filter, options);
  call.EndReadRow(row, filter, options, read);
  return read;
}

std::unique_ptr<RowSource> RecordedTable::ReadRows(const RowSet& rows, const Filter& filter,
                                                   const ReadOptions& options) {
  CallBuilder call = Begin(CallKind::kReadRows);
  call.AddRead(rows, filter, options);
  return std::make_unique<RecordedRows>(table_->ReadRows(rows, filter, options), std::move(call));
}

// The token is the engine's; the rows that are read say where it was.
std::unique_ptr<RowSource> RecordedTable::ResumeRows(std::string_view token, const Filter& filter,
                                                     const ReadOptions& options) {
  CallBuilder call = Begin(CallKind::kReadRows);
  call.SetFilter(filter);
  call.SetOptions(options);
  return std::make_unique<RecordedRows>(table_->ResumeRows(token, filter, options), std::move(call),
                                        /*begins_at_first_row=*/true);
}

absl::Status RecordedTable::DropRowRange(const RowRange& rows, const CallOptions& options) {
  CallBuilder call = Begin(CallKind::kDropRowRange);
  absl::Status status = table_->DropRowRange(rows, options);
  call.AddRange(rows);
  call.End(status.code());
  return status;
}

std::unique_ptr<ScannerBackend> RecordedTable::NewScanner(ReadOptions options) {
  return std::make_unique<RecordedScanner>(table_->NewScanner(options), recorder_, number_,
                                           options);
}

}  // namespace bigtable
