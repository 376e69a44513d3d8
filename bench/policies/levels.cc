#include "bench/policies/levels.h"

#include <algorithm>

namespace policies {

int LevelOf(uint64_t bytes, uint64_t flush_size, int size_ratio) {
  double least = 0.75 * static_cast<double>(std::max<uint64_t>(flush_size, 1)) * size_ratio;
  int level = 0;
  for (; static_cast<double>(bytes) >= least; ++level) least *= size_ratio;
  return level;
}

std::vector<Level> LevelsOf(const bigtable::GroupSummary& group, int size_ratio) {
  std::vector<Level> levels;
  for (size_t i = 0; i < group.runs.size(); ++i) {
    const uint64_t bytes = group.runs[i].bytes;
    const int level = LevelOf(bytes, group.flush_size, size_ratio);
    if (levels.empty() || level > levels.back().number) {
      levels.push_back({.number = level, .first = i});
    }
    ++levels.back().count;
    levels.back().bytes += bytes;
  }
  return levels;
}

}  // namespace policies
