// Files that are ingested into a table while a client writes to it: how long that takes, and what
// the client feels of it. The files are written before.
#ifndef BIGTABLE_BENCH_TRANSFER_INGESTIONS_H_
#define BIGTABLE_BENCH_TRANSFER_INGESTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "paper/engine.h"
#include "writing_client.h"

namespace bench {

struct IngestionOptions {
  EngineKind engine;
  std::string directory;  // new ones are made in it, and removed
  uint64_t rows = 0;      // of the table at first, of a kilobyte each, which the client overwrites
  // Of each ingestion, behind those of the table: as many rows in all as the table has, or more.
  // The engine is opened for twice the rows of the table.
  uint64_t file_rows = 0;
  int ingestions = 0;  // one in a quarter of a second
  uint64_t memory_limit = 0;
  double writes_per_second = 0;  // of the client, each at its time
};

struct IngestionResult {
  std::vector<absl::Duration> ingestions;  // ascending
  WriteTimes without;
  WriteTimes beside;
};

// DataLoss: there are not all rows in the end.
absl::StatusOr<IngestionResult> MeasureIngestions(const IngestionOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_TRANSFER_INGESTIONS_H_
