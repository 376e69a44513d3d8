#include "master/split_rows.h"

#include <algorithm>

#include "bigtable/options.h"
#include "bigtable/row_mutation.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status CheckSplitRow(std::string_view row) {
  if (row.empty()) return absl::InvalidArgumentError("a split row must not be empty");
  if (row.size() <= RowMutation::kMaxRowSize) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("a split row must be at most ", RowMutation::kMaxRowSize,
                                        " bytes, and ", Quoted(row), " has ", row.size()));
}

absl::StatusOr<std::vector<RowRange>> RangesBetween(std::vector<std::string> rows) {
  if (rows.size() > CreateTableOptions::kMaxSplitRows) {
    return absl::InvalidArgumentError(Cat("a table must have at most ",
                                          CreateTableOptions::kMaxSplitRows,
                                          " split rows from the start, and has ", rows.size()));
  }
  std::sort(rows.begin(), rows.end());
  std::vector<RowRange> ranges;
  std::string begin;
  for (const std::string& row : rows) {
    BT_RETURN_IF_ERROR(CheckSplitRow(row));
    if (row == begin) {
      return absl::InvalidArgumentError(Cat("the split row ", Quoted(row), " is given twice"));
    }
    ranges.push_back(RowRange::RightOpen(begin, row));
    begin = row;
  }
  ranges.push_back(RowRange::StartingAt(begin));
  return ranges;
}

}  // namespace bigtable
