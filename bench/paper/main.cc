// The benchmarks of the paper's section 7, "Performance Evaluation", for this library and others,
// but in one process on one machine. bench/run builds and starts it.
//
//   engine     the operations of an engine; *_engine.cc are this library and the peers
//   peer_settings   the settings of the peers, with reasons
//   quiet      whether any thread is still working
//   child      one step of one engine's round
//   runner     the rounds, each step in a process of its own
//   result, summary, report, json, plot   the reports
//
// Keys, values, measurements and other parts that the benchmarks share are in ../common.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "common/flags.h"
#include "common/machine.h"
#include "common/strings.h"
#include "engine.h"
#include "json.h"
#include "plot.h"
#include "report.h"
#include "result.h"
#include "runner.h"
#include "summary.h"

ABSL_FLAG(bool, quick, false, "100,000 rows and three rounds, instead of 1,000,000 and five");
ABSL_FLAG(uint64_t, rows, 0, "how many rows, 1,000 to 100,000,000; 0: depends on --quick");
ABSL_FLAG(uint64_t, rounds, 0, "how many rounds, 1 to 100; 0: depends on --quick");
ABSL_FLAG(std::string, engines, "", "names between commas; none: all that were built");
ABSL_FLAG(std::string, benchmarks, "", "names between commas; none: all");
ABSL_FLAG(std::string, json, "", "file to which the results go, one JSON object a line");
ABSL_FLAG(std::string, plot, "", "directory to which SVG charts go");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");

namespace bench {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;

absl::StatusOr<RunOptions> OptionsFromFlags() {
  const bool quick = absl::GetFlag(FLAGS_quick);
  RunOptions options;
  options.rows = absl::GetFlag(FLAGS_rows);
  if (options.rows == 0) options.rows = quick ? 100'000 : 1'000'000;
  options.rounds = absl::GetFlag(FLAGS_rounds);
  if (options.rounds == 0) options.rounds = quick ? 3 : 5;
  if (absl::Status s = CheckRange("rows", options.rows, 1'000, 100'000'000); !s.ok()) return s;
  if (absl::Status s = CheckRange("rounds", options.rounds, 1, 100); !s.ok()) return s;
  options.memory_limit = MemoryLimit(options.rows);

  std::vector<std::string> built;
  for (const EngineKind& engine : BuiltEngines()) built.push_back(engine.name);
  absl::StatusOr<std::vector<std::string>> engines =
      Names("engines", absl::GetFlag(FLAGS_engines), built, "an engine that this build has");
  if (!engines.ok()) return engines.status();
  options.engines = *std::move(engines);

  const std::string list = absl::GetFlag(FLAGS_benchmarks);
  absl::StatusOr<std::vector<std::string>> benchmarks =
      Names("benchmarks", list, BenchmarkNames(!list.empty()), "a benchmark");
  if (!benchmarks.ok()) return benchmarks.status();
  options.benchmarks = *std::move(benchmarks);

  options.directory = absl::GetFlag(FLAGS_directory);
  if (options.directory.empty()) {
    return absl::InvalidArgumentError("--directory: must name a directory");
  }
  return options;
}

std::string EngineVersions(const std::vector<std::string>& names) {
  std::vector<std::string> versions;
  for (const EngineKind& engine : BuiltEngines()) {
    if (std::find(names.begin(), names.end(), engine.name) != names.end()) {
      versions.push_back(Concat(engine.name, " ", engine.version));
    }
  }
  return absl::StrJoin(versions, ", ");
}

absl::Status Run(const RunOptions& options) {
  absl::StatusOr<std::vector<EngineResult>> results = RunRounds(options);
  if (!results.ok()) return results.status();
  const std::vector<Summary> summaries = Summarize(*results, options.engines);
  PrintTable(summaries);
  absl::PrintF("\n%d rows of %d + %d bytes, %d rounds, %d MiB of memory for each engine\n",
               options.rows, 16, 1000, options.rounds, options.memory_limit / kMebibyte);
  absl::PrintF("%s\n%s\n", EngineVersions(options.engines), DescribeMachine());
  const std::string json = absl::GetFlag(FLAGS_json);
  if (!json.empty()) {
    if (absl::Status s = WriteJson(summaries, json); !s.ok()) return s;
  }
  const std::string plot = absl::GetFlag(FLAGS_plot);
  return plot.empty() ? absl::OkStatus() : WriteCharts(summaries, plot);
}

int Main(const std::vector<std::string>& command) {
  constexpr int kBadUsage = 2;
  absl::StatusOr<RunOptions> options = OptionsFromFlags();
  if (!options.ok()) {
    std::cerr << "bench/run: " << options.status().message() << "\n";
    return kBadUsage;
  }
  if (absl::Status s = Run(*options); !s.ok()) {
    std::cerr << "bench/run: " << s << "\n";
    return EXIT_FAILURE;
  }
  absl::PrintF("bench/run%s%s\n", command.size() > 1 ? " " : "",
               absl::StrJoin(command.begin() + 1, command.end(), " "));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const std::vector<std::string> command(argv, argv + argc);
  if (command.size() > 1 && command[1] == bench::kChildArgument) {
    return bench::ChildMain({command.begin() + 2, command.end()}, bench::BuiltEngine);
  }
  absl::SetProgramUsageMessage("The paper's benchmarks. See bench/run --help.");
  absl::ParseCommandLine(argc, argv);
  return bench::Main(command);
}
