#include "tablet/halves.h"

#include "base/entry_key.h"

namespace bigtable {

bool MayHaveRowsOf(const SSTableInfo& info, const RowRange& rows) {
  return info.largest_key >= RowPrefix(rows.begin()) &&
         (!rows.end().has_value() || info.smallest_key < RowPrefix(*rows.end()));
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
