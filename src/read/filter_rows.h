// The rows that a filter can pass cells of, as far as its regular expressions for row keys tell. So
// a stream with such a filter does not read the rest of the table. Thread-safe.
#ifndef BIGTABLE_READ_FILTER_ROWS_H_
#define BIGTABLE_READ_FILTER_ROWS_H_

#include <vector>

#include "bigtable/row_range.h"

#include "read/filter_node.h"

namespace bigtable {

// A range that contains these rows, and may contain others. Null passes all rows.
RowRange RowsOf(const FilterNode* filter);

// Removes what is outside RowsOf(filter) from the ranges. Whether that was anything.
bool ClipToFilter(const FilterNode* filter, std::vector<RowRange>* ranges);

}  // namespace bigtable

#endif  // BIGTABLE_READ_FILTER_ROWS_H_
