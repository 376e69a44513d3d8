// Picks the compaction that a locality group of a tablet needs next, by the group's policy.
//
// The policy sees the runs of the tablet's current version; of files that reach beyond the tablet,
// only the tablet's part counts (tablet/file_estimates.h). A run with a quarantined file divides
// the runs (tablet/file_quarantine.h).
#ifndef BIGTABLE_BACKGROUND_COMPACTION_PICKER_H_
#define BIGTABLE_BACKGROUND_COMPACTION_PICKER_H_

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"

#include "bigtable/compaction_policy.h"

#include "tablet/tablet.h"

namespace bigtable {

// Nothing: no compaction is needed. A wait: none is needed until then. FailedPrecondition: the
// policy's pick breaks a rule (compaction/pick_check.h); the message names table, group and policy.
// One thread at a time for a tablet.
absl::StatusOr<std::optional<CompactionPick>> PickCompaction(Tablet* tablet, size_t group);

// What the policy wants a flush of the group to write (CompactionPolicy::FlushOutput). An error is
// that of the policy. Any thread.
absl::StatusOr<CompactionOutput> PickFlushOutput(const Tablet& tablet, size_t group);

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_COMPACTION_PICKER_H_
