// Rounds of runs with splits, with moves and without, each run in a child process.
#ifndef BIGTABLE_BENCH_SCALE_PAUSE_ROUNDS_H_
#define BIGTABLE_BENCH_SCALE_PAUSE_ROUNDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "pause.h"

namespace bench {

struct PauseRoundsOptions {
  uint64_t rounds = 0;
  uint64_t rows = 0;
  uint64_t memory_limit = 0;
  absl::Duration time;    // of each run
  std::string directory;  // where databases go, each run's in a directory of its own
};

struct PauseSummary {
  Change change = Change::kNone;
  PauseFigures figures;  // of all rounds, as PauseFigureName says
};

// In the order of kAllChanges. Tells on stderr how it goes. What was written to disk is gone
// afterwards, also after an error or SIGINT.
absl::StatusOr<std::vector<PauseSummary>> RunPauseRounds(const PauseRoundsOptions& options);

// The argument by which main() knows that it is a child of these rounds.
inline constexpr std::string_view kPauseChildArgument = "--as_child_for_pauses";

// The child's main(), with the arguments after kPauseChildArgument. Prints the figures to stdout.
int PauseChildMain(const std::vector<std::string>& arguments);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SCALE_PAUSE_ROUNDS_H_
