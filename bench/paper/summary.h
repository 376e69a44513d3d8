// The rounds of a benchmark, summarised.
#ifndef BIGTABLE_BENCH_PAPER_SUMMARY_H_
#define BIGTABLE_BENCH_PAPER_SUMMARY_H_

#include <string>
#include <vector>

#include "result.h"
#include "runner.h"

namespace bench {

// Plain value.
struct Summary {
  std::string benchmark;
  Checking checking = Checking::kDefault;
  std::string engine;
  Figures median;  // of each figure on its own
  double ops_min = 0;
  double ops_max = 0;
};

// By benchmark in the order of result.h, then checking, then engine as in `engines`.
std::vector<Summary> Summarize(const std::vector<EngineResult>& results,
                               const std::vector<std::string>& engines);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_SUMMARY_H_
