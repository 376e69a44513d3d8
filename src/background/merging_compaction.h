// A merging compaction: merges the sorted runs of a locality group of a tablet that a policy has
// picked, or moves or drops some of their files.
//
// It is a major compaction if the oldest run is among the inputs (CompactionInputs::is_major): then
// it drops deletions together with what they hide. The major compaction that a caller requests
// (`rewrite_all`) merges all runs and moves no file (section 5.4 of the paper).
//
//   choose the inputs -> write the SSTables -> sync them and their directory -> commit to METADATA,
//   which forgets the inputs -> publish -> remove the inputs
#ifndef BIGTABLE_BACKGROUND_MERGING_COMPACTION_H_
#define BIGTABLE_BACKGROUND_MERGING_COMPACTION_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/event_listener.h"

#include "background/tablet_compaction.h"
#include "base/call_limits.h"
#include "base/sequence.h"
#include "compaction/compaction_inputs.h"
#include "compaction/policies.h"
#include "sstable/sstable_info.h"
#include "tablet/tablet.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Used by one thread, once. A locality group has one merging compaction at a time.
class MergingCompaction {
 public:
  // `tablet` outlives this. With `rewrite_all` every input file is read and rewritten, and none is
  // moved.
  MergingCompaction(Tablet* tablet, size_t group, const CompactionPick& pick, bool rewrite_all)
      : tablet_(tablet),
        environment_(*tablet->environment()),
        group_(group),
        pick_(pick),
        rewrite_all_(rewrite_all) {}

  // Cancelled if `*cancelled` becomes true, or if the tablet is removed meanwhile. Errors of the
  // limits. If it would read a quarantined file, it does nothing, because the runs have changed
  // since they were picked; with `rewrite_all` it fails with the file's error. After an error the
  // tablet is as it was before, unless the outcome is in doubt.
  absl::Status Run(const std::atomic<bool>* cancelled, const CallLimits& limits = {});
  const CompactionOutcome& outcome() const { return outcome_; }

 private:
  // The plan, made from one version of the tablet. The version is pinned briefly, because it would
  // keep memtables that are flushed meanwhile.
  struct Plan {
    absl::Time now;
    // The layout of the version that has these inputs: their entries were written before the next
    // change of a rule.
    std::shared_ptr<const TableLayout> layout;
    CompactionInputs inputs;
    SequenceNumber complete_through = 0;  // see Retention
    uint64_t order = 0;                   // of the output
    std::vector<Ref<SSTable>> replaced;
    TabletChange change;  // without the output
  };

  Plan MakePlan();
  CompactionEvent EventOf(const Plan& plan) const;
  // Writes, commits and publishes.
  absl::Status Merge(const Plan& plan, const std::atomic<bool>* cancelled,
                     const CallLimits& limits);
  // After an error the new files are removed, unless METADATA may name them: then the outcome is in
  // doubt.
  absl::Status Commit(const Plan& plan, const std::vector<SSTableInfo>& written);

  Tablet* const tablet_;
  const TabletEnvironment& environment_;
  const size_t group_;
  const CompactionPick pick_;
  const bool rewrite_all_;
  CompactionOutcome outcome_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_MERGING_COMPACTION_H_
