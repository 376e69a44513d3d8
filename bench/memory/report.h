// What a sweep measured, and its reports as tables and JSON.
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
  std::vector<std::string> ways;
  std::vector<std::string> reads;
  std::vector<uint64_t> readaheads;  // KiB that the kernel reads ahead; 0: unknown
  // By readahead, reads and way; one for each ratio. A way without writes has none for kinds that
  // write.
  std::map<std::tuple<uint64_t, std::string, std::string>, std::vector<Figures>> figures;

  // Null if there are none.
  const std::vector<Figures>* Of(uint64_t readahead, const std::string& kind,
                                 const std::string& way) const;
};

// Of a table or a panel.
std::string TitleOf(const std::string& text, uint64_t readahead);

// Operations a second, a table for each ratio, and then what an operation costs, by kinds.
void PrintTables(const SweepResults& results);
// One object a line. The file is replaced.
absl::Status WriteSweepJson(const SweepResults& results, const std::string& path);

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_REPORT_H_
