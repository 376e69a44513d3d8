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
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/event_listener.h"

#include "background/collection_note.h"
#include "background/compaction_plan.h"
#include "background/shared_output.h"
#include "background/tablet_compaction.h"
#include "base/call_limits.h"
#include "base/steady_time.h"
#include "compaction/job.h"
#include "compaction/sorted_run.h"
#include "sstable/key_range.h"
#include "tablet/group_files.h"
#include "tablet/tablet.h"
#include "tablet/tablet_state.h"
#include "tablet/unread_versions.h"

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
  friend class JointMerge;  // takes the same steps for several

  // Prepares the change. Without work, or after an error, the compaction is over; otherwise End is
  // called in the end. `moves`: files that share no row with another input are not rewritten.
  absl::StatusOr<bool> Begin(bool moves);
  // Notes the files that are replaced and moved, once the plan is final.
  void PrepareChange();
  CompactionEvent NewEvent() const;
  CompactionJob MakeJob(bool is_major, const std::vector<SortedRun>& runs,
                        const std::atomic<bool>* cancelled, const CallLimits& limits) const;
  // That of what is merged; `unread` outlives it.
  CompactionJob MakeMainJob(const UnreadVersions& unread, const std::atomic<bool>* cancelled,
                            const CallLimits& limits) const;
  absl::Status Write(const std::atomic<bool>* cancelled, const CallLimits& limits);
  // The same into files that it shares with others; what it has in them is in Adopt.
  absl::Status WriteTo(SharedOutput* output, const std::atomic<bool>* cancelled);
  void Adopt(const std::vector<SharedOutput::Piece>& pieces);
  // Writes the entries of these runs in a range, into files of this order.
  absl::Status WriteRun(const CompactionJob& job, const std::vector<SortedRun>& runs,
                        const KeyRange& range, int threads, uint64_t order);
  // Of an input: its order and share (TabletFile).
  GroupFiles::File FindInput(const Ref<SSTable>& file) const;
  absl::Status Commit();
  // The steps for METADATA. Opens the new files, whose directory is synced.
  absl::Status PrepareCommit();
  // METADATA has taken the steps, or not.
  void Committed(const absl::Status& status);
  // After an error the new files are removed, unless METADATA may name them: then the outcome is in
  // doubt.
  void End(const absl::Status& status);
  // The families of which the table's change stream is to have that rules may have removed cells.
  std::vector<std::string> FamiliesToNote() const;

  Tablet* const tablet_;
  const TabletEnvironment& environment_;
  const size_t group_;
  CompactionPlan plan_;
  std::vector<Ref<SSTable>> replaced_;
  TabletChange change_;  // without the output
  std::vector<TabletFile> written_;
  std::vector<Ref<SSTable>> opened_;  // of these
  std::vector<TabletStep> steps_;     // the first is of the files
  std::optional<CollectionNote> note_;
  bool is_committed_ = false;
  // As of when the rules were applied, at the latest.
  absl::Time collected_at_ = absl::InfinitePast();
  CompactionOutcome outcome_;
  SteadyTime began_;  // of the event
  CompactionEvent event_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_MERGING_COMPACTION_H_
