// The cost of reads at a time.
#ifndef BIGTABLE_BENCH_COMPACTION_PROBE_H_
#define BIGTABLE_BENCH_COMPACTION_PROBE_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "sample.h"
#include "subject.h"
#include "workloads/workload.h"

namespace bench {

struct ProbeOptions {
  // Measures the first time that a row is read, not the second.
  bool is_first = false;
  // Counts what is touched, too (Subject::CountTouches).
  bool counts_touches = false;
};

// Reads a few hundred rows, drawn with `seed`, and sets the costs of reads in `sample`. They are
// read twice, and the second time is measured: the cost of the first read of a block, checksum and
// page faults, depends on chance and not on the policy. If data is larger than the memory, the
// first time counts. Takes some milliseconds. DataLoss if a read returns a wrong result.
absl::Status ProbeReads(Subject& subject, const Workload& workload, uint64_t seed,
                        const ProbeOptions& options, Sample* sample);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_PROBE_H_
