// This engine, through the public interface only.
#ifndef BIGTABLE_BENCH_PAPER_BIGTABLE_ENGINE_H_
#define BIGTABLE_BENCH_PAPER_BIGTABLE_ENGINE_H_

#include <cstdint>

#include "bigtable/schema.h"

#include "engine.h"

namespace bench {

// The distribution of the table. Plain value; the defaults are those of the library.
struct Spread {
  int servers = 0;  // DatabaseOptions::tablet_servers
  // A fixed number of tablets with the same number of rows each: the table does not split. 0: one
  // tablet at first, and the table splits.
  uint64_t tablets = 0;
};

EngineKind BigtableEngine(const Spread& spread = {});

// The locality group of the benchmarks' table.
bigtable::LocalityGroup PaperGroup(bool in_memory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_BIGTABLE_ENGINE_H_
