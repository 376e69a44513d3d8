// What a policy wants of the files that its compaction writes (bigtable/compaction_policy.h). Pure
// functions; any thread.
#ifndef BIGTABLE_BACKGROUND_PICK_OUTPUT_H_
#define BIGTABLE_BACKGROUND_PICK_OUTPUT_H_

#include "absl/status/status.h"

#include "bigtable/compaction_policy.h"
#include "bigtable/schema.h"

namespace bigtable {

// FailedPrecondition names an option that is out of its bounds.
absl::Status CheckOutput(const CompactionOutput& output);
// The options of a group, with those of the output instead where it has some.
LocalityGroup WithOutput(LocalityGroup group, const CompactionOutput& output);

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_PICK_OUTPUT_H_
