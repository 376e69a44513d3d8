// Picks the compaction that a locality group of a tablet needs next, by the group's policy.
//
// The policy sees the runs of the tablet's current version; of files that reach beyond the tablet,
// only the tablet's part counts (tablet/file_estimates.h). A run with a quarantined file divides
// the runs (tablet/file_quarantine.h). If the policy needs nothing, runs with sparse files are
// written again, so that these can be deleted.
#ifndef BIGTABLE_BACKGROUND_COMPACTION_PICKER_H_
#define BIGTABLE_BACKGROUND_COMPACTION_PICKER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

#include "bigtable/compaction_policy.h"

#include "background/compaction_plan.h"
#include "tablet/tablet.h"

namespace bigtable {

// Numbers of common files of which most was compacted away (TabletFile::share).
using SparseFiles = absl::flat_hash_set<uint64_t>;

// The plan of a pick that can be carried out while compactions of the group with these reaches run.
// Nothing: no compaction is needed, or the policy's pick has to wait for one of these. A plan whose
// pick is a wait: none is needed until then. FailedPrecondition: the pick breaks a rule
// (compaction/pick_check.h); the message names table, group and policy. One thread at a time for a
// tablet.
absl::StatusOr<std::optional<CompactionPlan>> PickCompaction(
    Tablet* tablet, size_t group, const std::vector<CompactionReach>& running = {},
    const SparseFiles& sparse = {});

// How many compactions of the group its policy wants to run at a time; 1 if it fails.
size_t MostCompactions(Tablet* tablet, size_t group);

// What the policy wants a flush of the group to write (CompactionPolicy::FlushOutput). An error is
// that of the policy. Any thread.
absl::StatusOr<CompactionOutput> PickFlushOutput(const Tablet& tablet, size_t group);

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_COMPACTION_PICKER_H_
