// Checks the families that a filter names against those of the table.
#ifndef BIGTABLE_READ_FILTER_FAMILIES_H_
#define BIGTABLE_READ_FILTER_FAMILIES_H_

#include "absl/status/status.h"

#include "bigtable/filter.h"

#include "read/filter_node.h"
#include "schema/table_layout.h"

namespace bigtable {

// NotFound if the filter names a family that the table does not have. A regular expression names
// none.
absl::Status CheckFamilies(const FilterNode& filter, const TableLayout& layout);
inline absl::Status CheckFamilies(const Filter& filter, const TableLayout& layout) {
  const FilterNode* const node = FilterNode::Of(filter);
  return node == nullptr ? absl::OkStatus() : CheckFamilies(*node, layout);
}

}  // namespace bigtable

#endif  // BIGTABLE_READ_FILTER_FAMILIES_H_
