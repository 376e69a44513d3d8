// The two pages of a workload, as commands for gnuplot.
#ifndef BIGTABLE_BENCH_COMPACTION_CHARTS_PAGES_H_
#define BIGTABLE_BENCH_COMPACTION_CHARTS_PAGES_H_

#include <string>
#include <vector>

#include "repeats.h"

namespace bench {

// `policies` are of one workload. `path` ends in .svg or .pdf.
std::string LinesPage(const std::vector<Repeats>& policies, const std::string& path);
// Empty if the workload writes nothing.
std::string TradeoffsPage(const std::vector<Repeats>& policies, const std::string& path);

// The policies' names, for a legend.
std::vector<std::string> PolicyNames(const std::vector<Repeats>& policies);
// A number for gnuplot.
std::string ChartNumber(double value);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_CHARTS_PAGES_H_
