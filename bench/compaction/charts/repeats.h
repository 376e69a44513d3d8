// The repeats of a run as one.
#ifndef BIGTABLE_BENCH_COMPACTION_CHARTS_REPEATS_H_
#define BIGTABLE_BENCH_COMPACTION_CHARTS_REPEATS_H_

#include <vector>

#include "common/spread.h"
#include "compaction/summary.h"

namespace bench {

// Runs of one workload under one policy that differ by their seed. At least one.
using Repeats = std::vector<const RunResult*>;
// In the order of the first of each.
std::vector<Repeats> GroupRepeats(const std::vector<RunResult>& runs);

// The mean of the samples before the last one that have the figure.
double MeanOfSamples(const RunResult& run, double Sample::*figure);

// Of what `figure` returns for each run.
template <typename Figure>
Spread SpreadOver(const Repeats& repeats, const Figure& figure) {
  std::vector<double> values;
  for (const RunResult* run : repeats) values.push_back(figure(*run));
  return SpreadOf(values);
}

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_CHARTS_REPEATS_H_
