#include <algorithm>

#include "compaction/policies.h"

namespace bigtable {
namespace {

// The file of `from` with the fewest overlapping bytes in `to` for each of its own.
size_t CheapestToPush(const RunSummary& from, const RunSummary& to) {
  size_t cheapest = 0;
  double least = 0;
  auto below = to.files.begin();
  for (size_t i = 0; i < from.files.size(); ++i) {
    const FileSummary& file = from.files[i];
    while (below != to.files.end() && below->largest_key < file.smallest_key) ++below;
    uint64_t overlap = 0;
    for (auto f = below; f != to.files.end() && f->smallest_key <= file.largest_key; ++f) {
      overlap += f->bytes;
    }
    const double cost = static_cast<double>(overlap) / static_cast<double>(file.bytes + 1);
    if (i == 0 || cost < least) {
      cheapest = i;
      least = cost;
    }
  }
  return cheapest;
}

}  // namespace

std::optional<CompactionPick> LeveledPolicy::Pick(const GroupSummary& group) const {
  const std::vector<RunSummary>& runs = group.runs;
  const uint64_t small = kMaxFresh * group.flush_size;
  size_t fresh = 0;
  while (fresh < runs.size() && runs[fresh].bytes <= small) ++fresh;
  if (fresh >= kMaxFresh) return CompactionPick{.first = 0, .count = fresh};
  // Small runs are all at the new end now. So every level may shrink to that size, and each run is
  // either fresh or limited by the next level.
  for (size_t level = fresh; level + 1 < runs.size(); ++level) {
    const uint64_t most = std::max(runs[level + 1].bytes / fanout_, small);
    if (runs[level].bytes <= most) continue;
    const size_t file = CheapestToPush(runs[level], runs[level + 1]);
    return CompactionPick{.kind = CompactionPick::Kind::kPush,
                          .first = level,
                          .count = 2,
                          .files = {runs[level].files[file].number}};
  }
  return std::nullopt;
}

}  // namespace bigtable
