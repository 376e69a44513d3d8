#include "compaction/policies.h"

#include <string_view>
#include <utility>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"

namespace bigtable {

std::string_view NameOf(CompactionStyle style) {
  switch (style) {
    case CompactionStyle::kSizeTiered:
      return "size_tiered";
    case CompactionStyle::kLeveled:
      return "leveled";
    case CompactionStyle::kFifo:
      return "fifo";
    case CompactionStyle::kNone:
      return "none";
  }
  return "none";  // not reached
}

std::unique_ptr<CompactionPolicy> MakePolicyOfStyle(CompactionStyle style, int factor) {
  switch (style) {
    case CompactionStyle::kSizeTiered:
      return std::make_unique<SizeTieredPolicy>(factor != 0 ? factor
                                                            : SizeTieredPolicy::kDefaultWidth);
    case CompactionStyle::kLeveled:
      return std::make_unique<LeveledPolicy>(factor != 0 ? factor : LeveledPolicy::kDefaultFanout);
    case CompactionStyle::kFifo:
      return std::make_unique<FifoPolicy>();
    case CompactionStyle::kNone:
      return std::make_unique<NoCompactionPolicy>();
  }
  ABSL_ASSERT(false && "a schema has no other style");
  // A policy that does nothing loses no data.
  return std::make_unique<NoCompactionPolicy>();
}

std::unique_ptr<const GuardedPolicy> MakePolicy(const LocalityGroup& group) {
  if (group.compaction_policy.empty()) {
    return std::make_unique<GuardedPolicy>(
        MakePolicyOfStyle(group.compaction, group.compaction_factor));
  }
  absl::StatusOr<std::unique_ptr<CompactionPolicy>> policy =
      MakeCompactionPolicy(group.compaction_policy, group);
  if (absl::IsInvalidArgument(policy.status())) policy = std::make_unique<NoCompactionPolicy>();
  return std::make_unique<GuardedPolicy>(std::move(policy));
}

}  // namespace bigtable
