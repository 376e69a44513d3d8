#include "repeats.h"

#include <algorithm>
#include <cstddef>

namespace bench {

std::vector<Repeats> GroupRepeats(const std::vector<RunResult>& runs) {
  std::vector<Repeats> groups;
  for (const RunResult& run : runs) {
    const auto same = [&](const Repeats& group) {
      return group.front()->workload == run.workload &&
             group.front()->policy.Name() == run.policy.Name();
    };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) {
      groups.push_back({&run});
    } else {
      found->push_back(&run);
    }
  }
  return groups;
}

double MeanOfSamples(const RunResult& run, double Sample::*figure) {
  std::vector<double> values;
  for (size_t i = 0; i + 1 < run.samples.size(); ++i) values.push_back(run.samples[i].*figure);
  return SpreadOf(values).mean;
}

}  // namespace bench
