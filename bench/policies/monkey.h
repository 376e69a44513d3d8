// Filters by level: "Monkey: Optimal Navigable Key-Value Store" (Dayan, Athanassoulis and Idreos,
// SIGMOD 2017). Reads of rows that do not exist ask every filter, so the sum of their false
// positive rates counts, and a bit is worth more in a small run than in a large one.
#ifndef BIGTABLE_BENCH_POLICIES_MONKEY_H_
#define BIGTABLE_BENCH_POLICIES_MONKEY_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "bigtable/compaction_policy.h"

namespace policies {

// The bits for each row of a run that is `above` levels over the largest one, in a tree with this
// size ratio whose filters have `bits` for each row on average. 1 to 32, as the engine takes them.
int MonkeyBits(double bits, int size_ratio, int above);

// Does what another policy does, with these filters in what it and flushes write.
class Monkey final : public bigtable::CompactionPolicy {
 public:
  Monkey(std::unique_ptr<bigtable::CompactionPolicy> policy, double bits, int size_ratio);
  std::optional<bigtable::CompactionPick> Pick(const bigtable::GroupSummary& group) override;
  bigtable::CompactionOutput FlushOutput(const bigtable::GroupSummary& group) override;
  bool DropsExpired() const override { return policy_->DropsExpired(); }
  bool BoundsRuns() const override { return policy_->BoundsRuns(); }

 private:
  // Of a run of so many bytes.
  int BitsOf(uint64_t bytes, const bigtable::GroupSummary& group) const;

  const std::unique_ptr<bigtable::CompactionPolicy> policy_;
  const double bits_;
  const int size_ratio_;
};

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_MONKEY_H_
