// The cost of a workload with and without a shortcut.
#ifndef BIGTABLE_BENCH_SHORTCUTS_TRIAL_H_
#define BIGTABLE_BENCH_SHORTCUTS_TRIAL_H_

#include <string>

#include "absl/status/statusor.h"

#include "base/shortcuts.h"
#include "workload.h"

namespace bench {

// Of an operation, in nanoseconds: medians over the rounds. CPU is of all threads.
struct Cost {
  double cpu = 0;
  double time = 0;
};

struct Comparison {
  Cost with;
  Cost without;
  // How much more it costs without, in percent of the cost with: the median over pairs of rounds
  // that follow one another.
  Cost gain;
};

// Two databases below `directory`, one of which is always used without the shortcut. Their rounds
// take turns, and so does which of the two comes first. All of it is done `trials` times: where in
// memory a database lies makes some percent, for as long as it is open.
absl::StatusOr<Comparison> Compare(const Workload& workload, bigtable::Shortcut shortcut,
                                   int trials, int rounds, const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SHORTCUTS_TRIAL_H_
