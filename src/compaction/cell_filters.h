// The families' compaction filters (bigtable/compaction_filter.h), as a major compaction applies
// them to the cells that it keeps. One thread at a time.
//
// Invariants:
// * A filter sees only cells that the compaction resolves (CollectedColumn::Resolves), and none
//   while the rules of the family are being changed. So nothing at or before the horizon is left at
//   the timestamp of such a cell that could be uncovered: every read sees the cell as the last
//   write there, and what it hides is dropped with it. Entries after the horizon hide the cell, so
//   it does not matter to them.
// * Each cell of a family with a filter that is kept is either passed to it, once, or counted by
//   cells_unfiltered(), or written by a merging compaction.
// * The filter is the program's: what it throws, and a value that no write could have, are errors
//   of the input.
#ifndef BIGTABLE_COMPACTION_CELL_FILTERS_H_
#define BIGTABLE_COMPACTION_CELL_FILTERS_H_

#include <cstdint>
#include <string>

#include "bigtable/compaction_filter.h"

#include "base/sequence.h"
#include "compaction/collected_column.h"
#include "compaction/paid_input.h"

namespace bigtable {

class CellFilters {
 public:
  // Both outlive this.
  CellFilters(const CollectedColumn* column, PaidInput* input, bool major)
      : column_(*column), input_(*input), major_(major) {}

  // Whether the family's filter is to be applied to the input's entry, a cell that is kept. Counts
  // the cells for which a snapshot is the only reason against it.
  bool Applies(EntryVersion version);
  // Applies it. kReplace: by value(). The input has failed if that failed.
  CompactionFilter::Decision Apply();
  const std::string& value() const { return value_; }

  // The cells so far that were kept, and not passed to their filters because a snapshot may see
  // them.
  uint64_t cells_unfiltered() const { return cells_unfiltered_; }

 private:
  const CollectedColumn& column_;
  PaidInput& input_;
  const bool major_;
  uint64_t cells_unfiltered_ = 0;
  std::string value_;
  std::string row_scratch_;
  std::string qualifier_scratch_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_CELL_FILTERS_H_
