// Many rows in random order into an empty table: by ordinary writes, and by files that are
// ingested.
#ifndef BIGTABLE_BENCH_TRANSFER_BULK_LOADS_H_
#define BIGTABLE_BENCH_TRANSFER_BULK_LOADS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "paper/engine.h"

namespace bench {

struct BulkLoadOptions {
  EngineKind engine;
  Load load = Load::kFiles;
  std::string directory;  // a new one is made in it, and removed
  uint64_t rows = 0;
  size_t value_size = 0;
  uint64_t memory_limit = 0;  // of the engine
  int threads = 1;
};

struct BulkLoadResult {
  absl::Duration time;         // until all rows are there, and durable
  absl::Duration cpu;          // of all threads
  absl::Duration until_quiet;  // time until nothing is left to be compacted, `time` included
  absl::Duration cpu_until_quiet;
  uint64_t bytes_written = 0;  // until then
};

// Unimplemented: the engine does not have this way. DataLoss: a row is not there afterwards.
absl::StatusOr<BulkLoadResult> MeasureBulkLoad(const BulkLoadOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_TRANSFER_BULK_LOADS_H_
