// Levels of a locality group by the sizes of its runs: what the papers on LSM trees call a level is
// here the runs between two powers of the size ratio T, since a group has only runs by age.
//
// A run is in level l if it has at least flush * T^l bytes, a quarter less being enough: a flush is
// a little smaller than a memtable, and a merge drops what it overwrites. No run is in a level
// above that of a newer one.
#ifndef BIGTABLE_BENCH_POLICIES_LEVELS_H_
#define BIGTABLE_BENCH_POLICIES_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bigtable/compaction_policy.h"

namespace policies {

// Adjacent runs of one level.
struct Level {
  int number = 0;  // 0: of the size of a flush
  size_t first = 0;
  size_t count = 0;
  uint64_t bytes = 0;
};

// The level of a run with so many bytes.
int LevelOf(uint64_t bytes, uint64_t flush_size, int size_ratio);
// The levels that have runs, from new to old.
std::vector<Level> LevelsOf(const bigtable::GroupSummary& group, int size_ratio);

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_LEVELS_H_
