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

// Where in memory a database lies makes some percent, for as long as it is open. So a shortcut that
// is looked up by each read is compared in one database, if the workload only reads. Others are
// compared in two, and need more trials.
enum class Databases { kOne, kTwo };

// Rounds with the shortcut and without it take turns, and so does which of the two comes first, in
// databases below `directory`, which are made anew for each of `trials`.
absl::StatusOr<Comparison> Compare(const Workload& workload, bigtable::Shortcut shortcut,
                                   Databases databases, int trials, int rounds,
                                   const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SHORTCUTS_TRIAL_H_
