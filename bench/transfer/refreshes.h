// Refreshes of a second opening that reads a database while a client writes to it: how long they
// take, and what the client feels of them.
#ifndef BIGTABLE_BENCH_TRANSFER_REFRESHES_H_
#define BIGTABLE_BENCH_TRANSFER_REFRESHES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "paper/engine.h"
#include "writing_client.h"

namespace bench {

struct RefreshOptions {
  EngineKind engine;
  std::string directory;  // new ones are made in it, and removed
  uint64_t rows = 0;      // of the table, of a kilobyte each
  uint64_t memory_limit = 0;
  double writes_per_second = 0;  // of the client, each at its time
  absl::Duration time;           // with refreshes, and as long without
  absl::Duration interval;       // from the end of one to the next
};

struct RefreshResult {
  absl::Duration opening;
  std::vector<absl::Duration> refreshes;  // in order
  absl::Duration unchanged;               // median of those that find nothing new
  WriteTimes without;
  WriteTimes beside;
};

// Errors of the engine; DataLoss: a refresh did not bring the last write.
absl::StatusOr<RefreshResult> MeasureRefreshes(const RefreshOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_TRANSFER_REFRESHES_H_
