// A deadline for deletions: "Lethe: A Tunable Delete-Aware LSM Engine" (Sarkar, Papon, Staratzis
// and Athanassoulis, SIGMOD 2020). What was deleted is gone from the files at most `deadline` after
// its deletion was flushed, however little is written afterwards.
#ifndef BIGTABLE_BENCH_POLICIES_LETHE_H_
#define BIGTABLE_BENCH_POLICIES_LETHE_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/time/time.h"

#include "bigtable/compaction_policy.h"

namespace policies {

// Does what another policy does, but first pushes down each file whose oldest deletion is older
// than its level allows. The deadline is divided among the levels in proportion to their sizes, so
// that a deletion stays the longest where it would be rewritten with the most data. When no file is
// over its time, it asks to be called again when the first one will be.
class Lethe final : public bigtable::CompactionPolicy {
 public:
  Lethe(std::unique_ptr<bigtable::CompactionPolicy> policy, absl::Duration deadline,
        int size_ratio);
  std::optional<bigtable::CompactionPick> Pick(const bigtable::GroupSummary& group) override;
  bool DropsExpired() const override { return policy_->DropsExpired(); }
  bool BoundsRuns() const override { return policy_->BoundsRuns(); }

  // How old a deletion may be in run `run` of `runs`, from new to old.
  static absl::Duration MostAge(absl::Duration deadline, int size_ratio, size_t run, size_t runs);

 private:
  const std::unique_ptr<bigtable::CompactionPolicy> policy_;
  const absl::Duration deadline_;
  const int size_ratio_;
};

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_LETHE_H_
