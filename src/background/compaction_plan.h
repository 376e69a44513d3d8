// What a compaction of a locality group reads, writes and may change, settled before it begins.
//
// Several compactions of a group may run at a time if their reaches are apart. The files of one are
// then its own until it ends: no other reads, moves or removes them, and no other writes files
// among them. So a plan stays right whatever else is committed meanwhile, and the changes can be
// committed in any order:
// * No run in common: the one is newer than the other, and each leaves its runs in their place.
// * No row in common: each changes rows of its own, and its files cover no others, since the reach
//   has all rows from its first to its last.
#ifndef BIGTABLE_BACKGROUND_COMPACTION_PLAN_H_
#define BIGTABLE_BACKGROUND_COMPACTION_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

#include "bigtable/compaction_policy.h"

#include "base/ref_counted.h"
#include "base/sequence.h"
#include "compaction/compaction_inputs.h"
#include "schema/table_layout.h"
#include "tablet/file_estimates.h"
#include "tablet/tablet.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// The runs and rows that a compaction may change.
struct CompactionReach {
  // The orders of its runs (TabletFile); none if `oldest` is the larger.
  uint64_t oldest = 1;
  uint64_t newest = 0;
  // Its rows, as row prefixes, both inclusive. No last one: they have no end.
  std::string first_row = {};
  std::optional<std::string> last_row = {};

  static CompactionReach Everything() {
    return {.oldest = 0, .newest = std::numeric_limits<uint64_t>::max()};
  }
  // Whether it may change a file of this order, or rows between the first and last of it.
  bool Meets(uint64_t order, const SSTable& file) const;
  bool Meets(const CompactionReach& other) const;

 private:
  bool Meets(std::string_view first, std::string_view last) const;
};

struct CompactionPlan {
  CompactionPick pick;
  // Every input file is read and written again, and none is moved.
  bool rewrite_all = false;
  absl::Time now;  // TimeBeforeLayout
  // The layout of the version that has these inputs: their entries were written before the next
  // change of a rule.
  std::shared_ptr<const TableLayout> layout = {};
  CompactionInputs inputs = {};
  SequenceNumber complete_through = 0;  // see Retention
  CompactionReach reach = {};           // `oldest` is the order of the output

  // Whether it joins files of one run. They share no row, and are read and written even so.
  bool joins_files() const { return pick.kind == CompactionPick::Kind::kMerge && pick.count == 1; }
  bool IsEmpty() const { return inputs.merged.empty() && inputs.dropped.empty(); }
  // The bytes of the tablet's rows in what is merged.
  uint64_t InputBytes(const FileEstimates& estimates) const;
};

// A version of a tablet, and what was true before it was pinned. Pinned briefly, because a version
// keeps memtables that are flushed meanwhile.
struct TabletMoment {
  explicit TabletMoment(const Tablet& tablet);

  absl::Time now;          // TimeBeforeLayout
  SequenceNumber visible;  // all mutations up to this one are in the version
  Pin<TabletVersion> version;
};

// The plan of a pick from the runs of this version, which passes the check of picks.
CompactionPlan PlanOf(const TabletMoment& moment, size_t group, const CompactionPick& pick,
                      bool rewrite_all = false);

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_COMPACTION_PLAN_H_
