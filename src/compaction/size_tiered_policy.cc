#include <algorithm>

#include "compaction/policies.h"

namespace bigtable {
namespace {

// The number of runs that join, beginning with `first`.
size_t SimilarFrom(const std::vector<RunSummary>& runs, size_t first) {
  uint64_t together = runs[first].bytes;
  size_t count = 1;
  while (first + count < runs.size() &&
         runs[first + count].bytes * count <= together * SizeTieredPolicy::kRatio) {
    together += runs[first + count].bytes;
    ++count;
  }
  return count;
}

}  // namespace

std::optional<CompactionPick> SizeTieredPolicy::Pick(const GroupSummary& group) const {
  const std::vector<RunSummary>& runs = group.runs;
  if (runs.size() < 2) return std::nullopt;

  uint64_t bytes = 0, garbage = 0;
  for (const RunSummary& run : runs) {
    bytes += run.bytes;
    garbage += run.garbage_bytes;
  }
  if (garbage >= bytes - std::min(bytes, garbage)) {
    return CompactionPick{.first = 0, .count = runs.size()};
  }

  CompactionPick most{.first = 0, .count = 1};
  for (size_t first = 0; first + most.count < runs.size(); ++first) {
    const size_t count = SimilarFrom(runs, first);
    if (count >= width_) return CompactionPick{.first = first, .count = count};
    if (count > most.count) most = {.first = first, .count = count};
  }

  if (runs.size() > kMaxRuns) {
    most.count = std::max<size_t>(most.count, 2);
    return most;
  }
  return std::nullopt;
}

}  // namespace bigtable
