// Which sorted runs of a locality group to merge next. A policy has no state: it looks at the runs
// and decides, so that the same runs always give the same answer.
#ifndef BIGTABLE_COMPACTION_POLICY_H_
#define BIGTABLE_COMPACTION_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bigtable {

struct RunSummary {
  uint64_t bytes = 0;
  uint64_t entries = 0;
  uint64_t deletions = 0;
};

// The runs [first, first + count) of a list from new to old. Only neighbours may be merged: what
// lies between two runs in age may hide what is in the older one.
struct CompactionPick {
  size_t first = 0;
  size_t count = 0;

  friend bool operator==(const CompactionPick&, const CompactionPick&) = default;
};

class CompactionPolicy {
 public:
  virtual ~CompactionPolicy() = default;
  // `runs` from new to old. Nothing: they are good as they are.
  virtual std::optional<CompactionPick> Pick(const std::vector<RunSummary>& runs) const = 0;
};

// Merges runs of similar size, so that an entry is rewritten about once for each fourfold growth of
// the data, and the number of runs grows with its logarithm.
//
// Fewer than kMinMerge runs are good as they are. Otherwise, the first of these that applies:
// 1. When the runs above the oldest hold as much as the oldest, all are merged into one: that
//    bounds the space that hidden entries take to that of the live ones.
// 2. From the new end on, a run joins its newer neighbours if it is not more than kRatio times as
//    large as they are together. Where kMinMerge or more come together, they are merged.
// 3. With more than kMaxRuns runs, the newest are merged, as many as it takes.
class SizeTieredPolicy final : public CompactionPolicy {
 public:
  static constexpr size_t kMinMerge = 4;
  static constexpr size_t kMaxRuns = 12;
  static constexpr uint64_t kRatio = 2;

  std::optional<CompactionPick> Pick(const std::vector<RunSummary>& runs) const override;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_POLICY_H_
