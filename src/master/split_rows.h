// The rows at which a table is split. Each is the first row of a tablet.
#ifndef BIGTABLE_MASTER_SPLIT_ROWS_H_
#define BIGTABLE_MASTER_SPLIT_ROWS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/row_range.h"

namespace bigtable {

// InvalidArgument, with the value and the rule.
absl::Status CheckSplitRow(std::string_view row);
// The tablets of a table that is split at these rows, in key order. Errors of CheckSplitRow;
// InvalidArgument for a duplicate row, and for more than CreateTableOptions::kMaxSplitRows.
absl::StatusOr<std::vector<RowRange>> RangesBetween(std::vector<std::string> rows);

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SPLIT_ROWS_H_
