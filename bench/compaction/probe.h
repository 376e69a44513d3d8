// The cost of reads at a time.
#ifndef BIGTABLE_BENCH_COMPACTION_PROBE_H_
#define BIGTABLE_BENCH_COMPACTION_PROBE_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "sample.h"
#include "subject.h"
#include "workloads/workload.h"

namespace bench {

// Microseconds of the calling thread's CPU for a row, as in Sample.
struct ReadCost {
  double read_us = Sample::kNone;
  double missing_read_us = Sample::kNone;
  double scan_row_us = Sample::kNone;
};

// Reads a few hundred rows, drawn with `seed`, twice, and measures the second time: the cost of the
// first read of a block, checksum and page faults, depends on chance and not on the policy. Takes
// some milliseconds. DataLoss if a read returns a wrong result.
absl::StatusOr<ReadCost> ProbeReads(Subject& subject, const Workload& workload, uint64_t seed);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_PROBE_H_
