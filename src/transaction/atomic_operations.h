// The atomic operations on one row of a table. How a try works: transaction/row_operation.h.
//
// CheckAndMutateRow and ReadModifyWriteRow hold the stripe of their row during their tries, so only
// plain writes make them try again (transaction/row_stripes.h). MutateRowAtomically does not: its
// function may call any of them for a row of the same stripe, and would wait for itself.
#ifndef BIGTABLE_TRANSACTION_ATOMIC_OPERATIONS_H_
#define BIGTABLE_TRANSACTION_ATOMIC_OPERATIONS_H_

#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"

#include "routing/table_impl.h"
#include "transaction/transaction_domain.h"

namespace bigtable {

// Thread-safe.
class AtomicOperations {
 public:
  // Both outlive this.
  AtomicOperations(const std::shared_ptr<TransactionDomain>& domain, const TableImpl* table)
      : domain_(domain), table_(table) {}

  // The functions of Table with these names.
  absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                         const RowMutation& if_matched, const RowMutation& if_not,
                                         const WriteOptions& options) const;
  absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                         const WriteOptions& options) const;
  absl::Status MutateRowAtomically(
      std::string_view row, const Filter& filter,
      absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
      const WriteOptions& options) const;

 private:
  const std::shared_ptr<TransactionDomain>& domain_;
  const TableImpl* const table_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_ATOMIC_OPERATIONS_H_
