#include <algorithm>

#include "compaction/policy.h"

namespace bigtable {

std::optional<CompactionPick> SizeTieredPolicy::Pick(const GroupSummary& group) const {
  const std::vector<RunSummary>& runs = group.runs;
  if (runs.size() < 2) return std::nullopt;

  uint64_t bytes = 0, overwriting = 0;
  for (const RunSummary& run : runs) {
    bytes += run.bytes;
    overwriting += run.overwriting_bytes;
  }
  if (overwriting >= bytes - overwriting) {
    return CompactionPick{.first = 0, .count = runs.size()};
  }

  for (size_t first = 0; first + width_ <= runs.size(); ++first) {
    uint64_t together = runs[first].bytes;
    size_t count = 1;
    while (first + count < runs.size() && runs[first + count].bytes * count <= together * kRatio) {
      together += runs[first + count].bytes;
      ++count;
    }
    if (count >= width_) return CompactionPick{.first = first, .count = count};
  }

  if (runs.size() > kMaxRuns) {
    return CompactionPick{.first = 0, .count = std::min(width_, runs.size())};
  }
  return std::nullopt;
}

}  // namespace bigtable
