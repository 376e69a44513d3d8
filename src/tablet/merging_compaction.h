// A merging compaction: merges the sorted runs of a locality group of a tablet that a policy has
// picked, or moves or drops some of their files. It is a major compaction when all runs are merged
// and everything is rewritten (section 5.4 of the paper).
//
//   choose the inputs -> write and sync the SSTables and their directory -> METADATA has them, and
//   forgets the inputs -> publish -> remove the inputs
#ifndef BIGTABLE_TABLET_MERGING_COMPACTION_H_
#define BIGTABLE_TABLET_MERGING_COMPACTION_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/event_listener.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "compaction/compaction_inputs.h"
#include "compaction/policy.h"
#include "sstable/sstable_info.h"
#include "tablet/tablet.h"
#include "tablet/tablet_compaction.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Used by one thread, once. Of each locality group, it is the only merging compaction at a time.
class MergingCompaction {
 public:
  // `tablet` outlives this. With `rewrite_all`, and all runs, this is a major compaction: nothing
  // moves unread.
  MergingCompaction(Tablet* tablet, size_t group, const CompactionPick& pick, bool rewrite_all)
      : tablet_(tablet),
        environment_(*tablet->environment()),
        group_(group),
        pick_(pick),
        rewrite_all_(rewrite_all) {}

  // Cancelled if `*cancelled` becomes true, or the tablet was removed meanwhile. Errors of the
  // limits. Does nothing if it would read a quarantined file: then the runs have changed since they
  // were picked, or a major compaction fails with the file's error. After an error nothing has
  // happened, or it is in doubt.
  absl::Status Run(const std::atomic<bool>* cancelled, const CallLimits& limits = {});
  const CompactionOutcome& outcome() const { return outcome_; }

 private:
  // What is to be done, as it follows from one version of the tablet. The version is not pinned for
  // long: it would keep memtables that are flushed meanwhile.
  struct Plan {
    absl::Time now;
    // The one that these inputs had: whatever rule it has, they came before the next.
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
  absl::StatusOr<std::vector<SSTableInfo>> Write(const Plan& plan, const CompactionJob& job);
  // What was written is removed again unless METADATA may have it: then the outcome is in doubt.
  absl::Status Commit(const Plan& plan, const std::vector<SSTableInfo>& written);

  Tablet* const tablet_;
  const TabletEnvironment& environment_;
  const size_t group_;
  const CompactionPick pick_;
  const bool rewrite_all_;
  CompactionOutcome outcome_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_MERGING_COMPACTION_H_
