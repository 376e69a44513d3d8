// The makers of the workloads that workloads.h lists. Only workloads.cc calls them.
#ifndef BIGTABLE_BENCH_COMPACTION_WORKLOADS_KINDS_H_
#define BIGTABLE_BENCH_COMPACTION_WORKLOADS_KINDS_H_

#include <cstdint>
#include <memory>

#include "workload.h"

namespace bench {

// loads.cc: new rows.
std::unique_ptr<Workload> MakeLoadRandom(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeLoadSequential(const WorkloadOptions& options);

// fixed_rows.cc: the set of rows does not change.
std::unique_ptr<Workload> MakeOverwrite(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeOverwriteZipf(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeReadMix(const WorkloadOptions& options);

// deletes.cc
std::unique_ptr<Workload> MakeDeletes(const WorkloadOptions& options);
std::unique_ptr<Workload> MakeWideDeletes(const WorkloadOptions& options);

// time_series.cc: rows expire. Each of the sources writes in turn.
std::unique_ptr<Workload> MakeTimeSeries(const WorkloadOptions& options, uint64_t sources);

// ycsb.cc. The shares are percent of the operations, and their sum is 100.
struct YcsbMix {
  enum class Distribution { kZipf, kLatest };
  uint64_t reads = 0;
  uint64_t updates = 0;
  uint64_t inserts = 0;
  uint64_t scans = 0;
  uint64_t read_modify_writes = 0;
  Distribution distribution = Distribution::kZipf;
};
std::unique_ptr<Workload> MakeYcsb(const WorkloadOptions& options, const YcsbMix& mix);

// phases.cc
std::unique_ptr<Workload> MakePhases(const WorkloadOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_WORKLOADS_KINDS_H_
