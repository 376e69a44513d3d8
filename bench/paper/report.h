// What is told about the results: a table for people, JSON for programs.
#ifndef BIGTABLE_BENCH_PAPER_REPORT_H_
#define BIGTABLE_BENCH_PAPER_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "summary.h"

namespace bench {

// To stdout.
void PrintTable(const std::vector<Summary>& summaries);

// One object a line. The file is replaced.
absl::Status WriteJson(const std::vector<Summary>& summaries, const std::string& path);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_REPORT_H_
