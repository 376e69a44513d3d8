// A run's samples as one line.
#ifndef BIGTABLE_BENCH_COMPACTION_SUMMARY_H_
#define BIGTABLE_BENCH_COMPACTION_SUMMARY_H_

#include <string>
#include <vector>

#include "policy.h"
#include "sample.h"

namespace bench {

struct RunResult {
  std::string workload;
  Policy policy;
  std::vector<Sample> samples;  // at least one, the last at quiet
};

// Prints a line for each run, and the meaning of the columns, to stdout.
void PrintSummary(const std::vector<RunResult>& runs);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_SUMMARY_H_
