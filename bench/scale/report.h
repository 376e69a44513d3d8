// The results: tables for people, JSON for programs.
#ifndef BIGTABLE_BENCH_SCALE_REPORT_H_
#define BIGTABLE_BENCH_SCALE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "paper/summary.h"
#include "pause_rounds.h"

namespace bench {

struct ScaleResults {
  std::vector<uint64_t> servers;
  std::vector<uint64_t> tablets;
  std::vector<Summary> summaries;  // engines are named by SpreadName
  std::vector<PauseSummary> pauses;
};

// To stdout: a table for each benchmark, and one of the pauses.
void PrintTables(const ScaleResults& results);

// One object a line. The file is replaced.
absl::Status WriteScaleJson(const ScaleResults& results, const std::string& path);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SCALE_REPORT_H_
