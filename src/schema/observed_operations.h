// The operations of a mutation as users see them.
#ifndef BIGTABLE_SCHEMA_OBSERVED_OPERATIONS_H_
#define BIGTABLE_SCHEMA_OBSERVED_OPERATIONS_H_

#include <vector>

#include "bigtable/mutation_observer.h"
#include "bigtable/row_mutation.h"

namespace bigtable {

// In call order: views of the mutation.
std::vector<ObservedOperation> ObservedOperationsOf(const RowMutation& mutation);

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_OBSERVED_OPERATIONS_H_
