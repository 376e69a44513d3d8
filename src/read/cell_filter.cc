#include "read/cell_filter.h"

namespace bigtable {
void CellFilter::StartRow(std::string_view row, CallPace* pace) {
  is_done_ = false;
  has_column_ = false;
  program_.StartRow(row, pace);
}

void CellFilter::EnterColumn(const Cell& cell) {
  has_column_ = true;
  family_ = cell.family;
  qualifier_ = cell.qualifier;
  const FilterProgram::Verdict verdict = program_.StartColumn(family_, qualifier_);
  column_passes_ = verdict == FilterProgram::Verdict::kPass;
  is_done_ |= verdict == FilterProgram::Verdict::kNextRow;
}

bool CellFilter::Judge(Cell* cell) {
  using Verdict = FilterProgram::Verdict;
  const Verdict verdict = program_.Judge(cell->timestamp.micros(), &cell->value);
  column_passes_ = verdict <= Verdict::kNextCell && !program_.done_with_column();
  is_done_ |= verdict == Verdict::kNextRow;
  return verdict == Verdict::kPass;
}

}  // namespace bigtable
