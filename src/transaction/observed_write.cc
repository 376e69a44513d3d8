#include "transaction/observed_write.h"

#include <algorithm>

#include "backend/option_limits.h"
#include "backend/write_checks.h"
#include "base/status.h"
#include "rpc/row_conflict.h"
#include "schema/mutation_check.h"
#include "schema/mutation_format.h"
#include "transaction/conflict_pause.h"

namespace bigtable {

absl::Status ObservedWrite::Check(DatabaseImpl* database, const WriteOptions& options,
                                  const CallLimits& limits) {
  const CallGate::LongPass pass(&database->gate);
  if (!pass) return database->ClosedError();
  if (options.durability.has_value() && *options.durability > Durability::kSync) {
    return DurabilityError(*options.durability);
  }
  return database->CheckWritable(limits);
}

absl::Status ObservedWrite::Run(const std::shared_ptr<TransactionDomain>& domain,
                                const WriteOptions& options, Add add) {
  const CallLimits limits = LimitsOf(options);
  BT_RETURN_IF_ERROR(Check(domain->database.get(), options, limits));
  bool is_paid = false;
  for (ConflictPause pause;; pause.Sleep()) {
    TransactionImpl transaction(domain, nullptr, limits);
    if (is_paid) transaction.SetPaid();
    absl::Status status = add(&transaction);
    if (status.ok()) status = transaction.Commit(options, limits);
    if (!IsConflict(status)) return status;
    is_paid = true;  // before the conflict was found
    BT_RETURN_IF_ERROR(limits.Check("the write"));
  }
}

absl::Status ObservedWrite::Apply(const std::shared_ptr<TransactionDomain>& domain, Table* table,
                                  const RowMutation& mutation, const WriteOptions& options) {
  return Run(domain, options,
             [&](TransactionImpl* transaction) { return transaction->Apply(table, mutation); });
}

absl::Status ObservedWrite::Apply(const std::shared_ptr<TransactionDomain>& domain,
                                  const WriteBatch& batch, const WriteOptions& options) {
  BT_RETURN_IF_ERROR(batch.status());
  return Run(domain, options, [&](TransactionImpl* transaction) -> absl::Status {
    const std::string_view bytes = batch.bytes_;
    for (const WriteBatch::Mutation& mutation : batch.mutations_) {
      const size_t operations = mutation.begin + mutation.row_size;
      const EncodedMutation encoded{
          .row = bytes.substr(mutation.begin, mutation.row_size),
          .operations = bytes.substr(operations, mutation.end - operations),
          .takes_server_time = mutation.takes_server_time};
      BT_RETURN_IF_ERROR(transaction->Apply(mutation.table, encoded.ToMutation()));
    }
    return absl::OkStatus();
  });
}

bool ObservedWrite::IsObserved(const WriteBatch& batch) {
  return std::any_of(batch.mutations_.begin(), batch.mutations_.end(),
                     [](const WriteBatch::Mutation& mutation) {
                       return TableImpl::Of(*mutation.table)->route->is_observed();
                     });
}

absl::StatusOr<bool> ObservedWrite::TryOnRow(const std::shared_ptr<TransactionDomain>& domain,
                                             const TableImpl& table, const RowMutation& mutation,
                                             SequenceNumber since, const WriteOptions& options,
                                             const CallLimits& limits) {
  TransactionImpl transaction(domain, nullptr, limits);
  transaction.SetPaid();  // by RowOperation
  transaction.AddEarlierRead(table, mutation.row(), since);
  absl::Status status = transaction.Apply(table.public_table, mutation);
  if (status.ok()) status = transaction.Commit(options, limits);
  if (IsConflict(status)) return false;
  BT_RETURN_IF_ERROR(status);
  return true;
}

}  // namespace bigtable
