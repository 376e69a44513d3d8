// Reports of a sweep: tables, JSON and a chart.
#ifndef BIGTABLE_BENCH_MEMORY_REPORT_H_
#define BIGTABLE_BENCH_MEMORY_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"

#include "trial.h"

namespace bench {

struct SweepResults {
  std::vector<double> ratios;  // of data to memory
  std::vector<std::string> reads;
  std::vector<uint64_t> readaheads;  // KiB that the kernel reads ahead; 0: unknown
  // By readahead, reads and mode; one for each ratio.
  std::map<std::tuple<uint64_t, std::string, std::string>, std::vector<Figures>> figures;
};

// How many times slower the default is than the better of the two modes, by ratio.
std::vector<double> Slowdowns(const SweepResults& results, uint64_t readahead,
                              const std::string& reads);

void PrintTables(const SweepResults& results);
// One object a line. The file is replaced.
absl::Status WriteSweepJson(const SweepResults& results, const std::string& path);
// The file memory.svg in `directory`.
absl::Status WriteChart(const SweepResults& results, const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_REPORT_H_
