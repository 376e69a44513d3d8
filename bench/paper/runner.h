// Rounds of steps, each step in a child process.
#ifndef BIGTABLE_BENCH_PAPER_RUNNER_H_
#define BIGTABLE_BENCH_PAPER_RUNNER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine.h"
#include "result.h"

namespace bench {

// The limit for caches, write buffers, indexes and filters together of a database of this many
// rows: 256 MiB for a million rows, and at least the 64 MiB that engines need to work as designed.
uint64_t MemoryLimit(uint64_t rows);

struct RunOptions {
  std::vector<std::string> engines;
  std::vector<std::string> benchmarks;
  std::vector<Checking> checkings = {kCheckings.begin(), kCheckings.end()};
  uint64_t rounds = 0;
  uint64_t rows = 0;
  uint64_t memory_limit = 0;
  std::string directory;  // the parent of each run's own directory
};

struct EngineResult {
  std::string engine;
  Result result;
};

// Runs all rounds, one child at a time, and reports progress on stderr. Each round takes the
// engines in another order. Files on disk are removed afterwards, also after an error or SIGINT.
absl::StatusOr<std::vector<EngineResult>> RunRounds(const RunOptions& options);

// The arguments that identify a child in main().
inline constexpr std::string_view kChildArgument = "--as_child_of_the_runner";

// The engine with this name, if there is one.
using FindEngine = std::function<std::optional<EngineKind>(std::string_view name)>;

// The child's main(), with the arguments after kChildArgument. Prints results to stdout.
int ChildMain(const std::vector<std::string>& arguments, const FindEngine& find_engine);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_RUNNER_H_
