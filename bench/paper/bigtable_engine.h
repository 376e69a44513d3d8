// Ours, through the public interface alone.
#ifndef BIGTABLE_BENCH_PAPER_BIGTABLE_ENGINE_H_
#define BIGTABLE_BENCH_PAPER_BIGTABLE_ENGINE_H_

#include <cstdint>

#include "bigtable/schema.h"

#include "engine.h"

namespace bench {

// How the table is spread. Plain value; what it is without is what a user has who says nothing.
struct Spread {
  int servers = 0;  // DatabaseOptions::tablet_servers
  // Tablets with the same number of rows each, that many for good: the table does not split by
  // itself. 0: one in the beginning, and it does.
  uint64_t tablets = 0;
};

EngineKind BigtableEngine(const Spread& spread = {});

// The locality group of the benchmarks' table.
bigtable::LocalityGroup PaperGroup(bool in_memory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_BIGTABLE_ENGINE_H_
