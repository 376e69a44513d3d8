// The SSTables that each half of a split tablet keeps: the files that overlap its key range. A file
// on one side of the split is not shared, so it is removed as soon as the half on that side has
// compacted it.
#ifndef BIGTABLE_TABLET_HALVES_H_
#define BIGTABLE_TABLET_HALVES_H_

#include "bigtable/row_range.h"

#include "sstable/sstable_info.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Whether the key range of an SSTable overlaps these rows.
bool MayHaveRowsOf(const SSTableInfo& info, const RowRange& rows);
// The initial state of a half with these rows.
TabletState HalfOf(const TabletState& tablet, const RowRange& rows);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_HALVES_H_
