// The check of a mutation that every application of it makes.
#ifndef BIGTABLE_C_MUTATION_H_
#define BIGTABLE_C_MUTATION_H_

#include "absl/status/status.h"

#include "bigtable/c.h"

namespace bigtable {

// InvalidArgument: the mutation, or an argument of one of its operations, is a null pointer. What
// else is invalid is found when the mutation is applied.
absl::Status CheckMutation(const bigtable_mutation* mutation);

}  // namespace bigtable

#endif  // BIGTABLE_C_MUTATION_H_
