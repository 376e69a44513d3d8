// Checks of the arguments of writes that do not depend on the database.
#ifndef BIGTABLE_BACKEND_WRITE_CHECKS_H_
#define BIGTABLE_BACKEND_WRITE_CHECKS_H_

#include <string_view>

#include "absl/status/status.h"

#include "bigtable/options.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row_mutation.h"

namespace bigtable {

// Of a durability that is none.
[[gnu::cold]] absl::Status DurabilityError(Durability durability);

// InvalidArgument: the mutation is of another row, or not valid.
absl::Status CheckMutationOf(std::string_view row, const RowMutation& mutation);
// The mutations of CheckAndMutateRow. InvalidArgument: both are empty.
absl::Status CheckEitherMutates(const RowMutation& if_matched, const RowMutation& if_not);
// InvalidArgument: there is no rule, or one is not valid.
absl::Status CheckRules(const ReadModifyWrite& rules);

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_WRITE_CHECKS_H_
