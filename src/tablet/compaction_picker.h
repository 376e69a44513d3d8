// Which compaction a locality group of a tablet needs next: what its policy says of its runs.
//
// The policy looks at the runs of the tablet's current version, as far as they are the tablet's
// (tablet/file_estimates.h). Runs with a quarantined file part them (tablet/file_quarantine.h).
#ifndef BIGTABLE_TABLET_COMPACTION_PICKER_H_
#define BIGTABLE_TABLET_COMPACTION_PICKER_H_

#include <cstddef>
#include <optional>

#include "compaction/policy.h"
#include "tablet/tablet.h"

namespace bigtable {

// Nothing: the runs are good as they are. Any thread.
std::optional<CompactionPick> PickCompaction(const Tablet& tablet, size_t group);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_COMPACTION_PICKER_H_
