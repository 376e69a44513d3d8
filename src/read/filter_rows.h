// What a filter says about rows and families: the rows that it can pass cells of, as far as its
// regular expressions for row keys tell, so that a stream does not read the rest of the table; and
// whether the table has the families that it names. Thread-safe.
#ifndef BIGTABLE_READ_FILTER_ROWS_H_
#define BIGTABLE_READ_FILTER_ROWS_H_

#include <vector>

#include "absl/status/status.h"

#include "bigtable/filter.h"
#include "bigtable/row_range.h"

#include "read/filter_node.h"
#include "schema/table_layout.h"

namespace bigtable {

// A range that contains these rows, and may contain others. Null passes all rows.
RowRange RowsOf(const FilterNode* filter);

// Removes what is outside RowsOf(filter) from the ranges. Whether that was anything.
bool ClipToFilter(const FilterNode* filter, std::vector<RowRange>* ranges);

// NotFound if the filter names a family that the table does not have. A regular expression names
// none.
absl::Status CheckFamilies(const FilterNode& filter, const TableLayout& layout);
inline absl::Status CheckFamilies(const Filter& filter, const TableLayout& layout) {
  const FilterNode* const node = FilterNode::Of(filter);
  return node == nullptr ? absl::OkStatus() : CheckFamilies(*node, layout);
}

}  // namespace bigtable

#endif  // BIGTABLE_READ_FILTER_ROWS_H_
