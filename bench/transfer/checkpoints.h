// Checkpoints of a database while a client writes to it: how long they take, and what the client
// feels of them.
#ifndef BIGTABLE_BENCH_TRANSFER_CHECKPOINTS_H_
#define BIGTABLE_BENCH_TRANSFER_CHECKPOINTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "paper/engine.h"
#include "writing_client.h"

namespace bench {

struct CheckpointOptions {
  EngineKind engine;
  std::string directory;  // new ones are made in it, and removed
  uint64_t rows = 0;      // of the table, of a kilobyte each
  uint64_t memory_limit = 0;
  double writes_per_second = 0;  // of the client, each at its time
  absl::Duration time;           // with checkpoints, and as long without
};

struct CheckpointResult {
  std::vector<absl::Duration> checkpoints;  // one after the other, each in its order
  WriteTimes without;
  WriteTimes beside;
};

// DataLoss: a copy lacks a row that was written before it.
absl::StatusOr<CheckpointResult> MeasureCheckpoints(const CheckpointOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_TRANSFER_CHECKPOINTS_H_
