#include "tablet/halves.h"

#include "tablet/key_range.h"

namespace bigtable {

bool MayHaveRowsOf(const SSTableInfo& info, const RowRange& rows) {
  return KeyRange(rows).Overlaps(info);
}

TabletState HalfOf(const TabletState& tablet, const RowRange& rows) {
  TabletState half = tablet;
  half.rows = rows;
  for (auto& [id, group] : half.groups) {
    std::erase_if(group.files,
                  [&](const TabletFile& file) { return !MayHaveRowsOf(file.info, rows); });
  }
  return half;
}

}  // namespace bigtable
