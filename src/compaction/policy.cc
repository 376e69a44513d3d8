#include "compaction/policy.h"

namespace bigtable {

std::optional<CompactionPick> SizeTieredPolicy::Pick(const std::vector<RunSummary>& runs) const {
  if (runs.size() < kMinMerge) return std::nullopt;

  uint64_t above_oldest = 0;
  for (size_t i = 0; i + 1 < runs.size(); ++i) above_oldest += runs[i].bytes;
  if (above_oldest >= runs.back().bytes) return CompactionPick{0, runs.size()};

  for (size_t first = 0; first + kMinMerge <= runs.size(); ++first) {
    uint64_t bytes = runs[first].bytes;
    size_t count = 1;
    while (first + count < runs.size() && runs[first + count].bytes <= bytes * kRatio) {
      bytes += runs[first + count].bytes;
      ++count;
    }
    if (count >= kMinMerge) return CompactionPick{first, count};
  }

  if (runs.size() > kMaxRuns) return CompactionPick{0, runs.size() - kMaxRuns + 1};
  return std::nullopt;
}

}  // namespace bigtable
