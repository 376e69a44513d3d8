#include "bigtable/transaction.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/cord.h"

#include "bigtable/database.h"

#include "backend/failed_rows.h"
#include "backend/option_limits.h"
#include "base/catch_thrown.h"
#include "base/status.h"
#include "recording/call_builder.h"
#include "recording/recorded_streams.h"
#include "routing/table_impl.h"
#include "rpc/row_conflict.h"
#include "transaction/conflict_pause.h"
#include "transaction/transaction_impl.h"

namespace bigtable {

// --- Transaction ---

Transaction::Transaction(std::unique_ptr<TransactionImpl> impl) : impl_(std::move(impl)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction& Transaction::operator=(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

absl::StatusOr<Row> Transaction::ReadRow(Table* table, std::string_view row, const Filter& filter,
                                         const ReadOptions& options) {
  BT_RETURN_IF_ERROR(TableImpl::CheckEmbedded(*table));
  std::optional<CallBuilder> call =
      CallBuilder::ForTable(impl_->database()->recorder, RecordedCall::Kind::kReadRow, *table);
  absl::StatusOr<Row> read = impl_->ReadRow(*TableImpl::Of(*table), row, filter, options);
  if (call.has_value()) [[unlikely]] {
    call->EndReadRow(row, filter, options, read);
  }
  return read;
}

RowReader Transaction::ReadRows(Table* table, const RowSet& rows, const Filter& filter,
                                const ReadOptions& options) {
  const absl::Status checked = TableImpl::CheckEmbedded(*table);
  if (!checked.ok()) return RowSource::ToReader(std::make_unique<FailedRows>(checked));
  std::optional<CallBuilder> call =
      CallBuilder::ForTable(impl_->database()->recorder, RecordedCall::Kind::kReadRows, *table);
  std::unique_ptr<RowSource> source = impl_->ReadRows(TableImpl::Of(*table), rows, filter, options);
  if (call.has_value()) [[unlikely]] {
    call->AddRead(rows, filter, options);
    source = std::make_unique<RecordedRows>(std::move(source), *std::move(call));
  }
  return RowSource::ToReader(std::move(source));
}

absl::Status Transaction::Apply(Table* table, const RowMutation& mutation) {
  BT_RETURN_IF_ERROR(TableImpl::CheckEmbedded(*table));
  return impl_->Apply(table, mutation);
}

absl::Status Transaction::Commit(const WriteOptions& options) {
  std::optional<CallBuilder> call = CallBuilder::ForBatch(
      impl_->database()->recorder, RecordedCall::Kind::kCommit, impl_->batch());
  absl::Status status = impl_->Commit(options, LimitsOf(options));
  if (call.has_value()) [[unlikely]] {
    call->SetOptions(options);
    call->End(status.code());
  }
  if (!IsConflict(status)) return status;
  status = absl::AbortedError("a row that the transaction has read may have been written since");
  status.SetPayload(kConflictMark, absl::Cord());
  return status;
}

void Transaction::Rollback() { impl_->End(); }

// --- Database ---

absl::Status Database::RunTransaction(absl::FunctionRef<absl::Status(Transaction*)> function,
                                      const WriteOptions& options) {
  const CallLimits limits = LimitsOf(options);
  ConflictPause pause;
  for (;;) {
    BT_ASSIGN_OR_RETURN(Transaction transaction,
                        BeginTransaction({.deadline = limits.deadline.wall(),
                                          .cancellation = options.cancellation}));
    absl::Status status =
        CatchThrownStatus("the function of RunTransaction", [&] { return function(&transaction); });
    WriteOptions of_commit = options;
    of_commit.deadline = limits.deadline.wall();
    if (status.ok()) status = transaction.Commit(of_commit);
    if (!IsConflict(status)) return status;
    BT_RETURN_IF_ERROR(limits.Check("the transaction"));
    pause.Sleep();
  }
}

}  // namespace bigtable
