// A merging compaction: merges the sorted runs of a locality group of a tablet that a policy has
// picked, or moves or drops some of their files, as its plan says (compaction_plan.h).
//
// It is a major compaction if the oldest run is among the inputs (CompactionInputs::is_major): then
// it drops deletions together with what they hide. The major compaction that a caller requests
// (`rewrite_all`) merges all runs and moves no file (section 5.4 of the paper).
//
//   plan -> write the SSTables -> sync them and their directory -> commit to METADATA, which
//   forgets the inputs -> publish -> remove the inputs
#ifndef BIGTABLE_BACKGROUND_MERGING_COMPACTION_H_
#define BIGTABLE_BACKGROUND_MERGING_COMPACTION_H_

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/event_listener.h"

#include "background/compaction_plan.h"
#include "background/tablet_compaction.h"
#include "base/call_limits.h"
#include "compaction/job.h"
#include "compaction/sorted_run.h"
#include "sstable/key_range.h"
#include "tablet/tablet.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Used by one thread, once. The plan is of the tablet's present files: its own until this ends.
class MergingCompaction {
 public:
  // `tablet` outlives this.
  MergingCompaction(Tablet* tablet, size_t group, CompactionPlan plan)
      : tablet_(tablet),
        environment_(*tablet->environment()),
        group_(group),
        plan_(std::move(plan)) {}

  // Cancelled if `*cancelled` becomes true, or if the tablet is removed meanwhile. Errors of the
  // limits. If it would read a file that was quarantined since it was planned, it does nothing;
  // with `rewrite_all` it fails with the file's error. After an error the tablet is as it was
  // before, unless the outcome is in doubt.
  absl::Status Run(const std::atomic<bool>* cancelled, const CallLimits& limits = {});
  const CompactionOutcome& outcome() const { return outcome_; }

 private:
  // Notes the files that are replaced and moved, once the plan is final.
  void PrepareChange();
  CompactionEvent NewEvent() const;
  // Writes, commits and publishes. After an error the new files are removed, unless METADATA may
  // name them: then the outcome is in doubt.
  absl::Status Merge(const std::atomic<bool>* cancelled, const CallLimits& limits);
  absl::Status Write(const std::atomic<bool>* cancelled, const CallLimits& limits);
  // Writes the entries of these runs in a range, into files of this order.
  absl::Status WriteRun(const CompactionJob& job, const std::vector<SortedRun>& runs,
                        const KeyRange& range, int threads, uint64_t order);
  // That of an input (TabletFile).
  uint64_t OrderOf(const Ref<SSTable>& file) const;
  absl::Status Commit();
  // The families of which the table's change stream is to have that rules may have removed cells.
  std::vector<std::string> FamiliesToNote() const;

  Tablet* const tablet_;
  const TabletEnvironment& environment_;
  const size_t group_;
  CompactionPlan plan_;
  std::vector<Ref<SSTable>> replaced_;
  TabletChange change_;  // without the output
  std::vector<TabletFile> written_;
  // As of when the rules were applied, at the latest.
  absl::Time collected_at_ = absl::InfinitePast();
  CompactionOutcome outcome_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_MERGING_COMPACTION_H_
