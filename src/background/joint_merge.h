// Merging compactions of several small tablets that write common files and are committed together.
//
// A merge of a tablet's small runs costs more for its file than for its bytes. So when such a merge
// is due, those of other tablets of the table that are due as well are made with it:
//
//   plans -> write the common files, tablet after tablet -> sync them and their directory -> commit
//   to METADATA -> publish -> remove the inputs
//
// Each tablet has its own plan, snapshots and rules, as alone. What was not committed before an
// error is not committed. If the error is of one tablet's input, the others are cancelled and may
// be tried again.
#ifndef BIGTABLE_BACKGROUND_JOINT_MERGE_H_
#define BIGTABLE_BACKGROUND_JOINT_MERGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "background/compaction_plan.h"
#include "background/merging_compaction.h"
#include "tablet/tablet.h"

namespace bigtable {

// Used by one thread, once.
class JointMerge {
 public:
  static constexpr size_t kMost = 256;

  // Whether a compaction of the tablet can be made together with others of the same group of the
  // same table.
  static bool Takes(const Tablet& tablet, size_t group, const CompactionPlan& plan);
  // The most bytes of input of all of them, of about a second if their rate is limited.
  static uint64_t MostBytes(const TabletEnvironment& environment);

  // Of tablets of one server, whose plans it Takes, in the order of their rows. They outlive this.
  explicit JointMerge(std::vector<MergingCompaction*> parts)
      : parts_(std::move(parts)), statuses_(parts_.size(), absl::CancelledError("not begun")) {}

  void Run(const std::atomic<bool>* cancelled);
  // How each of them ended. Cancelled: another has failed.
  const std::vector<absl::Status>& statuses() const { return statuses_; }

 private:
  // Of the parts that have work, by their numbers. An error is noted in `statuses_`, and false
  // returned.
  bool Write(const std::vector<size_t>& begun, const std::atomic<bool>* cancelled);
  // Only what METADATA has taken has an OK status after that.
  void Commit(absl::Span<const size_t> written);
  void NoteOutcome(absl::Span<const size_t> parts, const absl::Status& status);
  std::vector<TabletStep> StepsOf(absl::Span<const size_t> parts) const;

  const std::vector<MergingCompaction*> parts_;
  std::vector<absl::Status> statuses_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_JOINT_MERGE_H_
