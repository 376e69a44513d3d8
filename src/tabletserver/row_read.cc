#include "tabletserver/row_read.h"

#include "tablet/filter_program.h"

namespace bigtable {

void ReadCachedRow(const Block& cached, const TableLayout& layout, const FilterNode* filter,
                   absl::FunctionRef<void(const Cell&)> add) {
  using Verdict = FilterProgram::Verdict;
  CachedRow row(cached.data());
  FilterProgram program(filter);
  const bool everything = program.passes_everything();
  if (!everything) program.StartRow(row.row());
  Cell cell;
  Cell last;
  bool has_column = false;
  bool column_passes = false;
  while (row.Next(layout, &cell)) {
    if (!everything) {
      if (!has_column || cell.family != last.family || cell.qualifier != last.qualifier) {
        column_passes = program.StartColumn(cell.family, cell.qualifier) == Verdict::kPass;
        has_column = true;
        last = cell;
      }
      if (!column_passes) continue;
      const Verdict verdict = program.Judge(cell.timestamp.micros(), &cell.value);
      if (verdict == Verdict::kNextRow) return;
      if (verdict > Verdict::kNextCell || program.done_with_column()) column_passes = false;
      if (verdict != Verdict::kPass) continue;
    }
    add(cell);
  }
}

}  // namespace bigtable
