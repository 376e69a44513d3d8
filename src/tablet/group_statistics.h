// The sizes of a locality group, for statistics. Any thread; the caller pins the group's version.
#ifndef BIGTABLE_TABLET_GROUP_STATISTICS_H_
#define BIGTABLE_TABLET_GROUP_STATISTICS_H_

#include <cstdint>
#include <set>

#include "bigtable/statistics.h"

#include "tablet/file_estimates.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// Adds the group's sizes to `statistics`. Files that are in `counted` are skipped, and the others
// are added to it, because the halves of a split tablet share files.
void AddGroup(const GroupVersion& group, LocalityGroupStatistics* statistics,
              std::set<uint64_t>* counted);
// The same for one tablet: of each file what is of its rows.
void AddGroup(const GroupVersion& group, const FileEstimates& estimates,
              LocalityGroupStatistics* statistics);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_GROUP_STATISTICS_H_
