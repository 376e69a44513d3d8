// The chart of a sweep: a panel for each kind of operations and readahead, with a line for each
// way.
#ifndef BIGTABLE_BENCH_MEMORY_CHART_H_
#define BIGTABLE_BENCH_MEMORY_CHART_H_

#include <string>

#include "absl/status/status.h"

#include "report.h"

namespace bench {

// The file memory.svg in `directory`.
absl::Status WriteChart(const SweepResults& results, const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_CHART_H_
