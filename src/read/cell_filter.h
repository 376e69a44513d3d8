// A FilterProgram over the cells of a row that are in memory, in order. It enters the columns of
// the cells, and holds to what the program says about those that follow. (A CellCursor runs its
// program by itself, because the verdicts decide what it reads next.) One thread at a time.
#ifndef BIGTABLE_READ_CELL_FILTER_H_
#define BIGTABLE_READ_CELL_FILTER_H_

#include <string_view>

#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/call_limits.h"
#include "read/filter_node.h"
#include "read/filter_program.h"

namespace bigtable {

class CellFilter {
 public:
  // As those of FilterProgram.
  explicit CellFilter(const FilterNode* filter) : program_(filter) {}
  explicit CellFilter(absl::Span<const FilterNode* const> chain) : program_(chain) {}

  // Both outlive the row.
  void StartRow(std::string_view row, CallPace* pace);
  // Whether the row's next cell passes. Then its value may have been cleared. The texts of the cell
  // stay valid until the next one.
  bool Pass(Cell* cell) { return GoToColumn(*cell) && PassInColumn(cell); }
  // The two steps of this, for several cells of one column. GoToColumn: whether a further cell of
  // the column can pass.
  bool GoToColumn(const Cell& cell) {
    if (!IsInColumn(cell)) EnterColumn(cell);
    return column_passes_;
  }
  bool PassInColumn(Cell* cell) { return column_passes_ && Judge(cell); }
  // Whether no further cell of the row can pass.
  bool is_done() const { return is_done_; }

 private:
  // The cells of a column often share their texts.
  static bool IsSameText(std::string_view a, std::string_view b) {
    return a.size() == b.size() && (a.data() == b.data() || a == b);
  }
  bool IsInColumn(const Cell& cell) const {
    return has_column_ && IsSameText(cell.family, family_) &&
           IsSameText(cell.qualifier, qualifier_);
  }
  void EnterColumn(const Cell& cell);
  bool Judge(Cell* cell);

  FilterProgram program_;
  bool is_done_ = false;
  bool has_column_ = false;  // the program has entered this column:
  std::string_view family_;
  std::string_view qualifier_;
  bool column_passes_ = false;  // a further cell of it can
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_CELL_FILTER_H_
