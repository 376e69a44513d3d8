// Fluid LSM trees: "Dostoevsky: Better Space-Time Trade-Offs for LSM-Tree Based Key-Value Stores
// via Adaptive Removal of Superfluous Merging" (Dayan and Idreos, SIGMOD 2018), with tiering,
// leveling and lazy leveling as the corners that the paper names.
#ifndef BIGTABLE_BENCH_POLICIES_FLUID_H_
#define BIGTABLE_BENCH_POLICIES_FLUID_H_

#include <optional>

#include "bigtable/compaction_policy.h"

namespace policies {

struct FluidShape {
  int size_ratio = 10;   // T: of the bytes of a level to those of the one above, at least 2
  int most_runs = 1;     // K: of each level but the largest
  int most_largest = 1;  // Z: of the largest level

  static FluidShape Tiering(int t) { return {t, t - 1, t - 1}; }
  static FluidShape Leveling(int t) { return {t, 1, 1}; }
  static FluidShape LazyLeveling(int t) { return {t, t - 1, 1}; }
};

// Merges the runs of a level once it has more than its bound. If the result belongs to the next
// level, and that is then over its bound too, both are merged at once, so that nothing is written
// twice. Merges whole runs.
class Fluid final : public bigtable::CompactionPolicy {
 public:
  explicit Fluid(const FluidShape& shape) : shape_(shape) {}
  std::optional<bigtable::CompactionPick> Pick(const bigtable::GroupSummary& group) override;

 private:
  const FluidShape shape_;
};

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_FLUID_H_
