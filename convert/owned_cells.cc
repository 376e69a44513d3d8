#include "convert/owned_cells.h"

#include <algorithm>
#include <utility>

#include "rows/row_storage.h"

namespace bigtable::convert {

void OwnedCells::MoveTo(Ref<OwnedCells> cells, std::string_view key, Row* row) {
  // Servers need not send families in the order of their names.
  const auto by_family = [](const Owned& a, const Owned& b) { return a.family < b.family; };
  if (!std::is_sorted(cells->cells.begin(), cells->cells.end(), by_family)) {
    std::stable_sort(cells->cells.begin(), cells->cells.end(), by_family);
  }
  Row result;
  RowBuilder builder(&result, key, {});
  for (const Owned& cell : cells->cells) {
    builder.AddInPlace({.family = cell.family,
                        .qualifier = cell.qualifier,
                        .timestamp = Timestamp(cell.timestamp),
                        .value = cell.value,
                        .labels = CellLabels(cell.label)},
                       cells.get());
  }
  builder.Finish();
  *row = std::move(result);
}

}  // namespace bigtable::convert
