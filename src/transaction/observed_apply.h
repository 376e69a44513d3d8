// Calls the observers of a mutation, and adds it to a transaction with all that they add. The
// mutation is checked first, so observers see only what may be written.
//
// User code runs here: outside the gate and without any lock.
#ifndef BIGTABLE_TRANSACTION_OBSERVED_APPLY_H_
#define BIGTABLE_TRANSACTION_OBSERVED_APPLY_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/mutation_observer.h"

#include "routing/table_impl.h"
#include "schema/table_layout.h"
#include "transaction/transaction_impl.h"

namespace bigtable {

// Used by one thread, once.
class ObservedApply {
 public:
  // A mutation that an observer has added.
  struct Addition {
    Table* table;
    RowMutation mutation;
    std::string_view observer;  // its name
  };

  explicit ObservedApply(TransactionImpl* transaction) : transaction_(transaction) {}
  ObservedApply(const ObservedApply&) = delete;
  ObservedApply& operator=(const ObservedApply&) = delete;

  // After an error the transaction may have a part of the mutations.
  absl::Status Run(Table* table, const RowMutation& mutation) {
    return Apply(table, mutation, nullptr);
  }

 private:
  // An observer that is being called, and the one whose addition it observes.
  struct Link {
    const Link* parent;
    std::string_view table;
    std::string_view observer;
    int depth;
  };

  absl::Status Apply(Table* table, const RowMutation& mutation, const Link* link);
  // Calls the observers of the layout.
  absl::Status Observe(Table* table, const RowMutation& mutation, const TableLayout& layout,
                       std::vector<Addition>* additions);
  // The present schema at the row's tablet, after a check of the mutation against it.
  absl::StatusOr<std::shared_ptr<const TableLayout>> CheckedLayout(const TableImpl& table,
                                                                   const RowMutation& mutation);
  absl::Status TooDeepError(const Link* link) const;

  TransactionImpl* const transaction_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_OBSERVED_APPLY_H_
