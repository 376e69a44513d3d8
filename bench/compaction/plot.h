// Charts of the samples, drawn by gnuplot.
#ifndef BIGTABLE_BENCH_COMPACTION_PLOT_H_
#define BIGTABLE_BENCH_COMPACTION_PLOT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "summary.h"

namespace bench {

// Writes <workload>.svg into `directory`, which is created if it does not exist: figures over the
// operations, a line for each policy.
absl::Status WriteCharts(const std::vector<RunResult>& runs, const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_PLOT_H_
