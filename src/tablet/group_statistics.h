// The sizes of a locality group, as they are told. Any thread; the group's version is pinned.
#ifndef BIGTABLE_TABLET_GROUP_STATISTICS_H_
#define BIGTABLE_TABLET_GROUP_STATISTICS_H_

#include "bigtable/statistics.h"

#include "tablet/tablet_version.h"

namespace bigtable {

// Adds the group's to `statistics`.
void AddGroup(const GroupVersion& group, LocalityGroupStatistics* statistics);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_GROUP_STATISTICS_H_
