// A run's samples, and those of its repeats, as one line.
#ifndef BIGTABLE_BENCH_COMPACTION_SUMMARY_H_
#define BIGTABLE_BENCH_COMPACTION_SUMMARY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "policy.h"
#include "sample.h"

namespace bench {

struct RunResult {
  std::string workload;
  Policy policy;
  Repeat repeat;
  std::vector<Sample> samples;  // at least one, the last at quiet
};

// In what follows the repeats of a run are adjacent, and are one line, which has their mean.

// Prints a line for each run, and the meaning of the columns, to stdout. A second line has the
// standard deviations of repeats.
void PrintSummary(const std::vector<RunResult>& runs);

// The figures in bytes and runs as a table in Markdown, a line for each run. Figures of repeats
// have their standard deviation.
std::vector<std::string> MarkdownTable(const std::vector<RunResult>& runs);
// FailedPrecondition unless each line of that table is a line of `file`: what a page says is what
// was measured.
absl::Status CheckDocumented(const std::vector<RunResult>& runs, const std::string& file);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_SUMMARY_H_
