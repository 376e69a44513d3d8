// One step of one engine's round, in a process of its own. So the memory, the CPU time and the
// bytes written that the kernel counts are those of the step.
#ifndef BIGTABLE_BENCH_PAPER_CHILD_H_
#define BIGTABLE_BENCH_PAPER_CHILD_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "engine.h"
#include "result.h"

namespace bench {

// In the order of a round. A step that writes to a fresh directory is named after its benchmark;
// the others use the database of random_writes.
inline constexpr std::array<std::string_view, 8> kSteps = {
    "sequential_writes", "writes_2", "writes_4",  "writes_8",
    "random_writes",     "reads",    "reads_mem", "read_while_writing"};

// The benchmarks of a step.
std::vector<std::string_view> BenchmarksOf(std::string_view step);

struct StepOptions {
  EngineKind engine;
  std::string step;
  std::vector<std::string> benchmarks;  // the requested ones; others of the step are skipped
  std::vector<Checking> checkings;      // of the benchmarks that only read
  std::string directory;
  uint64_t rows = 0;
  uint64_t memory_limit = 0;
};

// Runs the step and calls `report` after each benchmark. An error of the engine, a missing row, or
// a wrong value ends it.
absl::Status RunStep(const StepOptions& options, const std::function<void(const Result&)>& report);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_CHILD_H_
