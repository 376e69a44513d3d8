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
  std::string directory;  // the parent of each run's own directory
};

struct PauseSummary {
  Change change = Change::kNone;
  PauseFigures figures;  // of all rounds, as PauseFigureName describes
};

// In the order of kAllChanges. Reports progress on stderr. Files on disk are removed afterwards,
// also after an error or SIGINT.
absl::StatusOr<std::vector<PauseSummary>> RunPauseRounds(const PauseRoundsOptions& options);

// The argument that identifies a child of these rounds in main().
inline constexpr std::string_view kPauseChildArgument = "--as_child_for_pauses";

// The child's main(), with the arguments after kPauseChildArgument. Prints the figures to stdout.
int PauseChildMain(const std::vector<std::string>& arguments);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SCALE_PAUSE_ROUNDS_H_
