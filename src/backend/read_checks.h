// Checks of the arguments of reads that do not depend on the database.
#ifndef BIGTABLE_BACKEND_READ_CHECKS_H_
#define BIGTABLE_BACKEND_READ_CHECKS_H_

#include <string_view>

#include "absl/status/status.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row_mutation.h"

#include "base/status.h"
#include "base/strings.h"
#include "read/filter_node.h"

namespace bigtable {

[[gnu::cold]] inline absl::Status RowKeyError(std::string_view row) {
  if (row.empty()) return absl::InvalidArgumentError("a row key must not be empty");
  return absl::InvalidArgumentError(Cat("a row key must be at most ", RowMutation::kMaxRowSize,
                                        " bytes, and ", Quoted(row), " has ", row.size()));
}

inline absl::Status CheckRowKey(std::string_view row) {
  return !row.empty() && row.size() <= RowMutation::kMaxRowSize ? absl::OkStatus()
                                                                : RowKeyError(row);
}

// InvalidArgument: the filter, or a limit. Inlined by force: a call would cost a read of a row more
// than the checks.
[[gnu::always_inline]] inline absl::Status CheckFilterAndLimits(const Filter& filter,
                                                                const ReadOptions& options) {
  if (FilterNode::Of(filter) != nullptr) BT_RETURN_IF_ERROR(filter.status());
  if (options.row_limit < 0) {
    return absl::InvalidArgumentError(
        Cat("row_limit must not be negative, and is ", options.row_limit));
  }
  if (options.cell_limit < 0) {
    return absl::InvalidArgumentError(
        Cat("cell_limit must not be negative, and is ", options.cell_limit));
  }
  return absl::OkStatus();
}

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_READ_CHECKS_H_
