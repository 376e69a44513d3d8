// One workload under one policy, on a database of its own.
#ifndef BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_
#define BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

#include "policy.h"
#include "row_format.h"
#include "sample.h"
#include "workloads/workload.h"

namespace bench {

struct ExperimentOptions {
  std::string workload;
  WorkloadOptions workload_options;
  Policy policy;
  RowFormat format;
  uint64_t samples = 0;  // besides the last one, when quiet
  bool lockstep = false;
  uint64_t memory_budget = 0;
  uint64_t memtable_size = 0;
  uint64_t tablet_size = 0;     // at which a tablet is split; 0: never
  std::string rocksdb_options;  // as in SubjectOptions
  std::string directory;        // does not exist, but its parent does
};

// Runs it and passes each sample to `report`. The samples are taken after equal numbers of
// operations; one is taken before the first operation if there are rows. A lost or restored row is
// an error. The directory stays.
//
// With `lockstep` the writer waits until quiet each time that a memtable may have been rotated:
// then the figures in bytes and runs are those of the policy, whatever the machine is and does.
absl::Status RunExperiment(const ExperimentOptions& options,
                           const std::function<void(const Sample&)>& report);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_
