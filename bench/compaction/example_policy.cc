// An example of a compaction policy of one's own, as a shared object for bench/compaction/run:
//
//   c++ -std=c++20 -O2 -shared -fPIC -I include bench/compaction/example_policy.cc -o lazy.so
//   bench/compaction/run --policy lazy.so
//
// A program that embeds the engine registers its policies in the same way, before it opens a
// database. See bigtable/compaction_policy.h for what a policy sees and may do.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"

#include "bigtable/compaction_policy.h"

namespace {

using bigtable::CompactionPick;
using bigtable::CompactionPolicy;
using bigtable::GroupSummary;
using bigtable::LocalityGroup;

// Lazy leveling: one large run at the end, as with leveled compaction, and above it size-tiered
// runs, which are merged into the large one when together they have reached a part of its size. So
// hidden entries take at most that part of the space, and entries are rewritten less often on their
// way down than with leveled compaction.
class LazyLeveling final : public CompactionPolicy {
 public:
  static constexpr int kDefaultFactor = 4;

  LazyLeveling(std::unique_ptr<CompactionPolicy> tiers, int factor)
      : tiers_(std::move(tiers)), factor_(static_cast<uint64_t>(factor)) {}

  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    const size_t runs = group.runs.size();
    if (runs < 2) return std::nullopt;
    uint64_t newer = 0;
    for (size_t i = 0; i + 1 < runs; ++i) newer += group.runs[i].bytes;
    if (newer >= group.runs.back().bytes / factor_) {
      return CompactionPick{.first = 0, .count = runs};
    }
    GroupSummary above = group;
    above.runs.pop_back();
    above.reaches_oldest = false;
    // Merges among these runs free nothing of what they hide in the oldest one.
    for (bigtable::RunSummary& run : above.runs) run.garbage_bytes = 0;
    return tiers_->Pick(above);
  }

 private:
  const std::unique_ptr<CompactionPolicy> tiers_;
  const uint64_t factor_;
};

std::unique_ptr<CompactionPolicy> MakeLazyLeveling(const LocalityGroup& group) {
  absl::StatusOr<std::unique_ptr<CompactionPolicy>> tiers =
      bigtable::MakeCompactionPolicy("size_tiered");
  if (!tiers.ok()) return nullptr;
  const int factor =
      group.compaction_factor != 0 ? group.compaction_factor : LazyLeveling::kDefaultFactor;
  return std::make_unique<LazyLeveling>(*std::move(tiers), factor);
}

}  // namespace

// Called once by bench/compaction/run after it has loaded this file. False: something failed.
extern "C" bool bigtable_register_policies() {
  return bigtable::RegisterCompactionPolicy("example_lazy_leveling", MakeLazyLeveling).ok();
}
