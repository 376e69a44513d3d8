// The results as a table, for people.
#ifndef BIGTABLE_BENCH_PAPER_REPORT_H_
#define BIGTABLE_BENCH_PAPER_REPORT_H_

#include <vector>

#include "summary.h"

namespace bench {

// To stdout.
void PrintTable(const std::vector<Summary>& summaries);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_REPORT_H_
