// What it costs to keep the changes of a table, how fast they are read, and how far a second
// database that follows them is behind.
#ifndef BIGTABLE_BENCH_TRANSFER_CHANGES_H_
#define BIGTABLE_BENCH_TRANSFER_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "paper/engine.h"

namespace bench {

struct ChangesOptions {
  EngineKind engine;
  std::string directory;  // new ones are made in it, and removed
  uint64_t rows = 0;      // that are written, in random order, each once
  size_t value_size = 0;
  uint64_t memory_limit = 0;
};

struct ChangesResult {
  struct Writes {
    absl::Duration time;  // of the writes alone
    absl::Duration cpu;   // of all threads, until nothing is left to do
  };
  Writes without;
  Writes with;
  absl::Duration read;  // of all changes
  // Of a follower; none: the engine has none.
  std::optional<absl::Duration> catch_up;     // from an empty directory
  std::optional<absl::Duration> lag;          // median, while all rows are written once more
  std::optional<absl::Duration> longest_lag;  // and the longest
  std::optional<absl::Duration> lag_writes;   // and how long that takes
};

// DataLoss: there are not as many changes as writes.
absl::StatusOr<ChangesResult> MeasureChanges(const ChangesOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_TRANSFER_CHANGES_H_
