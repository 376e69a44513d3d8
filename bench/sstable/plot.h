// Charts of the results, drawn by gnuplot.
#ifndef BIGTABLE_BENCH_SSTABLE_PLOT_H_
#define BIGTABLE_BENCH_SSTABLE_PLOT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "figures.h"

namespace bench {

// Writes into `directory`, which is created if it does not exist: for each argument that has
// several numbers, by_<argument>.svg, with a line for each combination of the others; and
// by_file_size.svg, with a point for each result. Results are not empty.
absl::Status WriteCharts(const std::vector<Result>& results, const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SSTABLE_PLOT_H_
