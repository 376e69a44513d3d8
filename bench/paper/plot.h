// Charts of the results, drawn by gnuplot.
#ifndef BIGTABLE_BENCH_PAPER_PLOT_H_
#define BIGTABLE_BENCH_PAPER_PLOT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "summary.h"

namespace bench {

// Writes operations_<checking>.svg and cpu_<checking>.svg into `directory`, which is created if it
// does not exist. A panel for each benchmark, with a scale of its own.
absl::Status WriteCharts(const std::vector<Summary>& summaries, const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_PLOT_H_
