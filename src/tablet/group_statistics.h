// The sizes of a locality group, as they are told. Any thread; the group's version is pinned.
#ifndef BIGTABLE_TABLET_GROUP_STATISTICS_H_
#define BIGTABLE_TABLET_GROUP_STATISTICS_H_

#include <cstdint>
#include <set>

#include "bigtable/statistics.h"

#include "tablet/tablet_version.h"

namespace bigtable {

// Adds the group's to `statistics`; of files that are not among those `counted` before, which then
// has them: halves of a tablet share files.
void AddGroup(const GroupVersion& group, LocalityGroupStatistics* statistics,
              std::set<uint64_t>* counted = nullptr);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_GROUP_STATISTICS_H_
