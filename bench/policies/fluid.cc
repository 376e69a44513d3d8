#include "bench/policies/fluid.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/policies/levels.h"

namespace policies {

std::optional<bigtable::CompactionPick> Fluid::Pick(const bigtable::GroupSummary& group) {
  const std::vector<Level> levels = LevelsOf(group, shape_.size_ratio);
  const auto bound = [&](size_t i) {
    const bool is_largest = i + 1 == levels.size() && group.reaches_oldest;
    return static_cast<size_t>(is_largest ? shape_.most_largest : shape_.most_runs);
  };
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].count <= bound(i)) continue;
    size_t count = levels[i].count;
    uint64_t bytes = levels[i].bytes;
    for (size_t next = i + 1; next < levels.size(); ++next) {
      const int joins = LevelOf(bytes, group.flush_size, shape_.size_ratio);
      if (joins < levels[next].number || levels[next].count + 1 <= bound(next)) break;
      count += levels[next].count;
      bytes += levels[next].bytes;
    }
    return bigtable::CompactionPick{.first = levels[i].first,
                                    .count = count,
                                    .reason = "level " + std::to_string(levels[i].number) +
                                              " has " + std::to_string(levels[i].count) + " runs"};
  }
  return std::nullopt;
}

}  // namespace policies
