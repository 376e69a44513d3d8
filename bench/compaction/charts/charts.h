// Charts of runs, drawn by gnuplot, from what was just measured or from a CSV.
#ifndef BIGTABLE_BENCH_COMPACTION_CHARTS_CHARTS_H_
#define BIGTABLE_BENCH_COMPACTION_CHARTS_CHARTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "compaction/summary.h"

namespace bench {

// Writes, as SVG and as PDF, into `directory`, which is created if it does not exist:
//
//   <workload>             figures over the operations, a line for each policy
//   <workload>_tradeoffs   a point for each policy: write amplification against space, runs, blocks
//                          and latencies; not if the workload writes nothing
//
// Of repeats the means, with bars of a standard deviation up and down. An axis on which the figures
// differ by more than a factor of twenty is logarithmic.
absl::Status WriteCharts(const std::vector<RunResult>& runs, const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_CHARTS_CHARTS_H_
