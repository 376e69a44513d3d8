// The paper's benchmarks for tables of this engine over increasing numbers of tablet servers and
// tablets, and the pauses that clients see during splits and moves. bench/scale/run builds and
// starts it.
//
//   spread         a number of servers and of tablets, as an engine for the rounds of ../paper
//   pacer          the times at which a client's operations are due
//   pause          a run in which tablets are split or moved
//   pause_rounds   the rounds of that, each run in a process of its own
//   report         the reports
#include <algorithm>
#include <cstdint>
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
#include "absl/time/time.h"

#include "common/flags.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/workload.h"
#include "paper/result.h"
#include "paper/runner.h"
#include "paper/summary.h"
#include "pause_rounds.h"
#include "report.h"
#include "spread.h"

ABSL_FLAG(bool, quick, false,
          "20,000 rows, one round, and fewer numbers of servers and tablets, instead of 1,000,000 "
          "and three");
ABSL_FLAG(uint64_t, rows, 0, "how many rows, 1,000 to 100,000,000; 0: depends on --quick");
ABSL_FLAG(uint64_t, rounds, 0, "how many rounds, 1 to 100; 0: depends on --quick");
ABSL_FLAG(std::string, servers, "",
          "numbers of tablet servers between commas; none: depends on --quick");
ABSL_FLAG(std::string, tablets, "", "numbers of tablets between commas; none: depends on --quick");
ABSL_FLAG(std::string, benchmarks, "", "names between commas; none: the paper's, and pauses");
ABSL_FLAG(std::string, json, "", "file to which the results go, one JSON object a line");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");

namespace bench {
namespace {

constexpr std::string_view kPauses = "pauses";
constexpr uint64_t kMostServers = 256;
constexpr uint64_t kMostTablets = 10'000;

struct ScaleOptions {
  std::vector<uint64_t> servers;
  std::vector<uint64_t> tablets;
  RunOptions run;  // of the paper's benchmarks, of which there may be none
  bool wants_pauses = false;
  absl::Duration pause_time;
};

// The benchmarks of ../paper, and the pauses; those of several threads only if they are requested.
absl::Status SetBenchmarks(ScaleOptions* options) {
  const std::string list = absl::GetFlag(FLAGS_benchmarks);
  std::vector<std::string> known(kPaperBenchmarks.begin(), kPaperBenchmarks.end());
  if (!list.empty()) known = BenchmarkNames(true);
  known.emplace_back(kPauses);
  absl::StatusOr<std::vector<std::string>> names = Names("benchmarks", list, known, "a benchmark");
  if (!names.ok()) return names.status();
  const auto pauses = std::find(names->begin(), names->end(), kPauses);
  options->wants_pauses = pauses != names->end();
  if (options->wants_pauses) names->erase(pauses);
  options->run.benchmarks = *std::move(names);
  return absl::OkStatus();
}

absl::Status SetSizes(RunOptions* options) {
  const bool quick = absl::GetFlag(FLAGS_quick);
  options->rows = absl::GetFlag(FLAGS_rows);
  if (options->rows == 0) options->rows = quick ? 20'000 : 1'000'000;
  options->rounds = absl::GetFlag(FLAGS_rounds);
  if (options->rounds == 0) options->rounds = quick ? 1 : 3;
  if (absl::Status s = CheckRange("rows", options->rows, 1'000, 100'000'000); !s.ok()) return s;
  if (absl::Status s = CheckRange("rounds", options->rounds, 1, 100); !s.ok()) return s;
  options->memory_limit = MemoryLimit(options->rows);
  return absl::OkStatus();
}

// After the rows are known: a tablet has at least one.
absl::Status SetSpreads(ScaleOptions* options) {
  const bool quick = absl::GetFlag(FLAGS_quick);
  std::string list = absl::GetFlag(FLAGS_servers);
  if (list.empty()) list = quick ? "1,4" : "1,2,4";
  absl::StatusOr<std::vector<uint64_t>> servers = Numbers("servers", list, 1, kMostServers);
  if (!servers.ok()) return servers.status();
  options->servers = *std::move(servers);

  list = absl::GetFlag(FLAGS_tablets);
  if (list.empty()) list = quick ? "1,100,1000" : "1,10,100,1000";
  absl::StatusOr<std::vector<uint64_t>> tablets = Numbers("tablets", list, 1, kMostTablets);
  if (!tablets.ok()) return tablets.status();
  options->tablets = *std::move(tablets);
  const uint64_t most = *std::max_element(options->tablets.begin(), options->tablets.end());
  if (most > options->run.rows) {
    return absl::InvalidArgumentError(Concat(
        "--tablets ", most, ": must be at most one for each of ", options->run.rows, " rows"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ScaleOptions> OptionsFromFlags() {
  ScaleOptions options;
  if (absl::Status s = SetSizes(&options.run); !s.ok()) return s;
  if (absl::Status s = SetBenchmarks(&options); !s.ok()) return s;
  options.run.checkings = {Checking::kDefault};
  options.pause_time = absl::Seconds(absl::GetFlag(FLAGS_quick) ? 2 : 10);

  if (absl::Status s = SetSpreads(&options); !s.ok()) return s;
  for (const uint64_t t : options.tablets) {
    for (const uint64_t s : options.servers) {
      options.run.engines.push_back(SpreadName({.servers = static_cast<int>(s), .tablets = t}));
    }
  }

  options.run.directory = absl::GetFlag(FLAGS_directory);
  if (options.run.directory.empty()) {
    return absl::InvalidArgumentError("--directory: must name a directory");
  }
  return options;
}

absl::StatusOr<ScaleResults> Measure(const ScaleOptions& options) {
  ScaleResults results = {.servers = options.servers, .tablets = options.tablets};
  if (!options.run.benchmarks.empty()) {
    absl::StatusOr<std::vector<EngineResult>> rounds = RunRounds(options.run);
    if (!rounds.ok()) return rounds.status();
    results.summaries = Summarize(*rounds, options.run.engines);
  }
  if (options.wants_pauses) {
    absl::StatusOr<std::vector<PauseSummary>> pauses =
        RunPauseRounds({.rounds = options.run.rounds,
                        .rows = options.run.rows,
                        .memory_limit = options.run.memory_limit,
                        .time = options.pause_time,
                        .directory = options.run.directory});
    if (!pauses.ok()) return pauses.status();
    results.pauses = *std::move(pauses);
  }
  return results;
}

absl::Status Run(const ScaleOptions& options) {
  absl::StatusOr<ScaleResults> results = Measure(options);
  if (!results.ok()) return results.status();
  PrintTables(*results);
  absl::PrintF("\n%d rows of %d + %d bytes, %d round%s, %d MiB of memory\n%s\n", options.run.rows,
               kKeySize, kValueSize, options.run.rounds, options.run.rounds == 1 ? "" : "s",
               options.run.memory_limit >> 20, DescribeMachine());
  const std::string json = absl::GetFlag(FLAGS_json);
  return json.empty() ? absl::OkStatus() : WriteScaleJson(*results, json);
}

int Main(const std::vector<std::string>& command) {
  constexpr int kBadUsage = 2;
  absl::StatusOr<ScaleOptions> options = OptionsFromFlags();
  if (!options.ok()) {
    std::cerr << "bench/scale/run: " << options.status().message() << "\n";
    return kBadUsage;
  }
  if (absl::Status s = Run(*options); !s.ok()) {
    std::cerr << "bench/scale/run: " << s << "\n";
    return EXIT_FAILURE;
  }
  absl::PrintF("bench/scale/run%s%s\n", command.size() > 1 ? " " : "",
               absl::StrJoin(command.begin() + 1, command.end(), " "));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const std::vector<std::string> command(argv, argv + argc);
  if (command.size() > 1 && command[1] == bench::kChildArgument) {
    return bench::ChildMain({command.begin() + 2, command.end()}, bench::SpreadEngine);
  }
  if (command.size() > 1 && command[1] == bench::kPauseChildArgument) {
    return bench::PauseChildMain({command.begin() + 2, command.end()});
  }
  absl::SetProgramUsageMessage(
      "The paper's benchmarks over servers and tablets. See bench/scale/run --help.");
  absl::ParseCommandLine(argc, argv);
  return bench::Main(command);
}
