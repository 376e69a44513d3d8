// The measurements of a run: each way of reading, for each kind of operations, at each ratio of
// data to memory.
#ifndef BIGTABLE_BENCH_MEMORY_SWEEP_H_
#define BIGTABLE_BENCH_MEMORY_SWEEP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "disk_readahead.h"
#include "memory_cgroup.h"
#include "report.h"

namespace bench {

struct SweepOptions {
  uint64_t memory = 0;  // bytes
  std::vector<double> ratios;
  std::vector<std::string> ways;   // of BuiltWays
  std::vector<std::string> reads;  // of kOperationKinds
  absl::Duration time;
  uint64_t most_warm_ups = 1;  // Trial::most_warm_ups
  uint64_t repeats = 1;
  std::vector<uint64_t> readaheads;  // none: as it is
  std::string directory;
};

// An engine's share of the group's memory.
inline uint64_t MemoryBudget(const SweepOptions& options) { return options.memory / 4; }

// False if the operations write, and the way's engine is for reads only.
bool CanRun(std::string_view way, std::string_view reads);

// At each ratio, each engine's table is made once, and removed after the trials. `disk` may be an
// error if there are no readaheads to set.
absl::StatusOr<SweepResults> Sweep(const SweepOptions& options, const MemoryCgroup& cgroup,
                                   absl::StatusOr<DiskReadahead>* disk);

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_SWEEP_H_
