// One workload under one policy, on a database of its own.
#ifndef BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_
#define BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "event_log.h"
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
  int compaction_threads = 1;   // as in SubjectOptions
  std::string rocksdb_options;  // as in SubjectOptions
  bool positional = false;      // as in SubjectOptions; then reads are measured the first time
  bool counts_touches = false;  // as in SubjectOptions
  // The pages of the files are dropped from the page cache each time that a memtable may have been
  // filled, so that reads go to the disk.
  bool drops_pages = false;
  std::string directory;  // does not exist, but its parent does
};

// What becomes of a run.
class Report {
 public:
  virtual ~Report() = default;
  virtual void Add(const Sample& sample) = 0;
  // `begin`: of the measured operations.
  virtual void AddEvents(absl::Time begin, const std::vector<Event>& events) = 0;
};

// Runs it and reports each sample, and the events. The samples are taken after equal numbers of
// operations; one is taken before the first operation if there are rows. A lost or restored row is
// an error. The directory stays.
//
// With `lockstep` the writer waits until quiet each time that a memtable may have been rotated:
// then the figures in bytes and runs are those of the policy, whatever the machine is and does.
absl::Status RunExperiment(const ExperimentOptions& options, Report* report);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_EXPERIMENT_H_
