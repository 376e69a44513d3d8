#include "compaction/policy.h"

namespace bigtable {

std::unique_ptr<CompactionPolicy> MakePolicy(const LocalityGroup& group) {
  const auto factor_or = [&](int standard) {
    return group.compaction_factor != 0 ? group.compaction_factor : standard;
  };
  switch (group.compaction) {
    case CompactionStyle::kSizeTiered:
      return std::make_unique<SizeTieredPolicy>(factor_or(SizeTieredPolicy::kDefaultWidth));
    case CompactionStyle::kLeveled:
      return std::make_unique<LeveledPolicy>(factor_or(LeveledPolicy::kDefaultFanout));
    case CompactionStyle::kFifo:
      return std::make_unique<FifoPolicy>();
    case CompactionStyle::kNone:
      return std::make_unique<NoCompactionPolicy>();
  }
  // Not reached: a schema has no other style. A policy that does nothing loses no data.
  return std::make_unique<NoCompactionPolicy>();
}

}  // namespace bigtable
