// What splits and merges of tablets need to know of them: where to split a tablet, and whether two
// tablets can be merged. Any thread.
#ifndef BIGTABLE_TABLET_TABLET_CHANGE_H_
#define BIGTABLE_TABLET_TABLET_CHANGE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "tablet/tablet.h"

namespace bigtable {

// A row that divides the tablet's bytes on disk into about equal parts, cut to `prefix_length`
// bytes if that is not 0; nothing if a side would have no rows.
std::optional<std::string> MiddleRow(const Tablet& tablet, size_t prefix_length);

// Whether a file of `tablet` overlaps the key range of `other`, and `other` does not have the same
// file with the same order. Before the two are merged, such files must be rewritten.
bool ReachesInto(const Tablet& tablet, const Tablet& other);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_CHANGE_H_
