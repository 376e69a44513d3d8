// One atomic operation on a row: tries of a read and a write, until no other write to the row comes
// in between. Behind Table::CheckAndMutateRow, ReadModifyWriteRow and MutateRowAtomically.
//
// The read has a read sequence, and the write is applied on the condition that the row has not been
// written since it (WriteRequest::unchanged_since). If the condition fails, nothing was applied:
// the next try reads again. Every other error ends the operation, also the one that leaves open
// whether the write was applied: to write again could apply it twice.
#ifndef BIGTABLE_TRANSACTION_ROW_OPERATION_H_
#define BIGTABLE_TRANSACTION_ROW_OPERATION_H_

#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "monitoring/call_timer.h"
#include "routing/table_impl.h"
#include "rpc/move_wait.h"
#include "transaction/transaction_domain.h"

namespace bigtable {

// If the table has observers, Write only notes the mutation, and Finish applies it outside the
// gate, since observers are called then. If it turns out that the table has some, Write returns the
// error for which IsNotObserved is true (schema/mutation_check.h), and the operation begins anew.
//
// One thread at a time. Everything but Begin, Finish and Pause is called inside the gate.
class RowOperation {
 public:
  // All outlive this. `is_observed`: as TableRoute::is_observed says; true is always correct.
  // `sample` is null unless the call is measured.
  RowOperation(const std::shared_ptr<TransactionDomain>& domain, const TableImpl* table,
               std::string_view row, const WriteOptions& options, bool is_observed,
               CallSample* sample);
  RowOperation(const RowOperation&) = delete;
  RowOperation& operator=(const RowOperation&) = delete;

  TransactionDomain* domain() const { return domain_.get(); }
  const CallLimits& limits() const { return limits_; }
  bool is_observed() const { return is_observed_; }

  // Checks the options and whether the database can be written. FailedPrecondition: it is read-only
  // or closed. InvalidArgument, or an error of the limits. ResourceExhausted: a quota of a rate.
  absl::Status Begin();
  // Begins a try. A try may have several reads; the write requires that the row has not been
  // written since the first.
  void BeginTry() { since_ = kUnconditional; }
  // The cells of the row that pass the filter.
  absl::StatusOr<Row> Read(const Filter& filter);
  // Applies the mutation, which is of the row. False: nothing was applied, because the row may have
  // been written since the read.
  absl::StatusOr<bool> Write(const RowMutation& mutation);
  // The rest of a try whose Write has returned true, outside the gate. True: all is done. False: as
  // with Write.
  absl::StatusOr<bool> Finish();
  // After a failed try. Waits a little, longer each time, but not after the first few: a write that
  // came in between is mostly the only one. Errors of the limits.
  absl::Status Pause();

 private:
  absl::Status Apply(const RowMutation& mutation);
  // Takes the bytes of quotas. They were not known when the operation was admitted.
  void Charge(uint64_t bytes) const;

  const std::shared_ptr<TransactionDomain>& domain_;
  const TableImpl* const table_;
  const std::string_view row_;
  const CallLimits limits_;
  const WriteOptions options_;
  const bool is_observed_;
  std::optional<RowMutation> observed_;  // by the observers in Finish
  std::optional<Durability> durability_;
  CallSample* const sample_;
  SequenceNumber since_ = kUnconditional;  // the smallest read sequence of the try
  int failed_tries_ = 0;
  MoveWait pauses_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_ROW_OPERATION_H_
