// Writes to tables with observers, which are not writes of a Transaction: each is a transaction of
// its own, tried until nothing that its observers have read was written meanwhile.
//
// How a write gets here. TableRoute::is_observed says what the client knows. It may be wrong for a
// moment after a change of the schema, so the tablet's server has the last word: it refuses a
// mutation that the present observers have not seen (IsNotObserved, schema/mutation_check.h), in
// the turn in which it would apply it. So a table without observers costs a branch on the way of a
// write, and no mutation passes by new observers once SetObservers has returned.
//
// User code runs here: outside the gate, without any lock, and not inside a CallTimer.
#ifndef BIGTABLE_TRANSACTION_OBSERVED_WRITE_H_
#define BIGTABLE_TRANSACTION_OBSERVED_WRITE_H_

#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/options.h"
#include "bigtable/row_mutation.h"
#include "bigtable/table.h"
#include "bigtable/write_batch.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "routing/table_impl.h"
#include "transaction/transaction_domain.h"
#include "transaction/transaction_impl.h"

namespace bigtable {

class ObservedWrite {
 public:
  // Table::Apply, and Database::Apply.
  static absl::Status Apply(const std::shared_ptr<TransactionDomain>& domain, Table* table,
                            const RowMutation& mutation, const WriteOptions& options);
  static absl::Status Apply(const std::shared_ptr<TransactionDomain>& domain,
                            const WriteBatch& batch, const WriteOptions& options);
  // Whether a table of the batch has observers.
  static bool IsObserved(const WriteBatch& batch);
  // One try of an atomic operation: the write requires that the row has not been written since
  // `since`. False: it may have been, or something that an observer has read; nothing was applied.
  static absl::StatusOr<bool> TryOnRow(const std::shared_ptr<TransactionDomain>& domain,
                                       const TableImpl& table, const RowMutation& mutation,
                                       SequenceNumber since, const WriteOptions& options,
                                       const CallLimits& limits);

 private:
  using Add = absl::FunctionRef<absl::Status(TransactionImpl*)>;

  // Checks the options and whether the database can be written, before any observer is called.
  static absl::Status Check(DatabaseImpl* database, const WriteOptions& options,
                            const CallLimits& limits);
  static absl::Status Run(const std::shared_ptr<TransactionDomain>& domain,
                          const WriteOptions& options, Add add);
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_OBSERVED_WRITE_H_
