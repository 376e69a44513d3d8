#include "bench/policies/monkey.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "bench/policies/levels.h"

namespace policies {

// The optimum has false positive rates that are T times as small in each level above: with a rate
// of e^(-bits * ln(2)^2), ln(T) / ln(2)^2 bits more. A level has 1/T of the rows of the one below,
// so the mean of the levels above the largest, over all rows, is 1 / (T - 1).
int MonkeyBits(double bits, int size_ratio, int above) {
  constexpr double kLn2Squared = 0.4804530139;
  const double step = std::log(size_ratio) / kLn2Squared;
  const double largest = bits - step / (size_ratio - 1);
  return std::clamp(static_cast<int>(std::lround(largest + step * above)), 1, 32);
}

Monkey::Monkey(std::unique_ptr<bigtable::CompactionPolicy> policy, double bits, int size_ratio)
    : policy_(std::move(policy)), bits_(bits), size_ratio_(size_ratio) {}

std::optional<bigtable::CompactionPick> Monkey::Pick(const bigtable::GroupSummary& group) {
  std::optional<bigtable::CompactionPick> pick = policy_->Pick(group);
  if (!pick.has_value() || group.runs.empty()) return pick;
  using Kind = bigtable::CompactionPick::Kind;
  uint64_t output = 0;
  if (pick->kind == Kind::kMerge) {
    for (size_t i = 0; i < pick->count; ++i) output += group.runs[pick->first + i].bytes;
  } else if (pick->kind == Kind::kPush) {
    output = group.runs[pick->first + 1].bytes;  // the run that it joins
  } else {
    return pick;
  }
  pick->output.filter_bits = BitsOf(output, group);
  return pick;
}

bigtable::CompactionOutput Monkey::FlushOutput(const bigtable::GroupSummary& group) {
  bigtable::CompactionOutput output = policy_->FlushOutput(group);
  output.filter_bits = BitsOf(group.flush_size, group);
  return output;
}

int Monkey::BitsOf(uint64_t bytes, const bigtable::GroupSummary& group) const {
  uint64_t largest = bytes;
  for (const bigtable::RunSummary& run : group.runs) largest = std::max(largest, run.bytes);
  const int above = LevelOf(largest, group.flush_size, size_ratio_) -
                    LevelOf(bytes, group.flush_size, size_ratio_);
  return MonkeyBits(bits_, size_ratio_, above);
}

}  // namespace policies
