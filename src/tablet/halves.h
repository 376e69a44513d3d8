// What each half of a tablet that is split keeps of its SSTables: those that may have rows of its.
// One that lies on one side alone is not shared, so that it is removed as soon as the half on that
// side has compacted it.
#ifndef BIGTABLE_TABLET_HALVES_H_
#define BIGTABLE_TABLET_HALVES_H_

#include "bigtable/row_range.h"

#include "sstable/sstable_info.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Whether an SSTable may have entries of these rows.
bool MayHaveRowsOf(const SSTableInfo& info, const RowRange& rows);
// What a half with these rows begins with.
TabletState HalfOf(const TabletState& tablet, const RowRange& rows);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_HALVES_H_
