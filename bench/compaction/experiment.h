// One workload under one policy, on a database of its own.
#ifndef BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_
#define BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

#include "policy.h"
#include "sample.h"

namespace bench {

struct ExperimentOptions {
  std::string workload;
  Policy policy;
  uint64_t rows = 0;
  uint64_t samples = 0;  // beside the last one, at quiet
  bool lockstep = false;
  uint64_t memory_budget = 0;
  uint64_t memtable_size = 0;
  std::string directory;  // is not there, and its parent is
};

// Runs it and hands each sample to `report`. The samples come after equal numbers of operations;
// one before the first operation is there if rows are. Fails also if a row is lost or comes back.
// The directory stays.
//
// With `lockstep` the writer waits until quiet each time that a memtable may have been rotated: the
// figures in bytes and runs are then those of the policy alone, whatever the machine is and does.
absl::Status RunExperiment(const ExperimentOptions& options,
                           const std::function<void(const Sample&)>& report);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_
