// The rules of a policy's pick (bigtable/compaction_policy.h). Pure function; any thread.
#ifndef BIGTABLE_COMPACTION_PICK_CHECK_H_
#define BIGTABLE_COMPACTION_PICK_CHECK_H_

#include "absl/status/status.h"

#include "bigtable/compaction_policy.h"

namespace bigtable {

// FailedPrecondition states what is wrong with a pick from these runs. A pick that passes changes
// no read, and leaves fewer runs, or fewer bytes in newer ones, or cuts a file of those where it
// has no rows: so a sequence of them ends.
absl::Status CheckPick(const GroupSummary& group, const CompactionPick& pick);

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_PICK_CHECK_H_
