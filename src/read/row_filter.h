// Filters that need a whole row: Interleave, Condition, ApplyLabel, Sink, and chains that have one
// of these. A cursor applies what comes before them cell by cell (FilterProgram). Then the cells
// that passed are collected, and a RowFilter applies the rest. One thread at a time.
#ifndef BIGTABLE_READ_ROW_FILTER_H_
#define BIGTABLE_READ_ROW_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/call_limits.h"
#include "cache/read_memory.h"
#include "read/filter_node.h"

namespace bigtable {

class RowFilter {
 public:
  // What bounds it, besides the limits of a filter's tree (filter_node.h).
  struct Bounds {
    const CallLimits& limits;
    ReadMemory* memory;            // takes the cells that pass
    size_t most_cells = SIZE_MAX;  // of those that pass, the first ones
  };

  static bool Needs(const FilterNode* filter) { return filter != nullptr && filter->needs_row; }

  // `filter`, which Needs() one, outlives this, and the labels of the cells.
  explicit RowFilter(const FilterNode* filter);

  // Makes `*passed` the cells that the filter passes, of the cells of one row that its
  // FilterProgram passed. These are in the order of the row, and so is the result. Errors: those of
  // the limits, and ResourceExhausted of the memory. What is taken of that is not returned.
  absl::Status Run(std::string_view row, absl::Span<const Cell> cells, const Bounds& bounds,
                   std::vector<Cell>* passed) const;

 private:
  std::vector<const FilterNode*> rest_;  // from the first filter that needs the whole row
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_ROW_FILTER_H_
