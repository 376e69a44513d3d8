// Reads of tables that are smaller and larger than the memory, by this engine in each read mode and
// by its peers: a sweep over the ratio of the two, in a control group with limited memory.
// bench/memory/run builds and starts it.
//
//   memory_cgroup   the control group
//   disk_readahead  the kernel's readahead
//   subject         an engine; *_subject: each of them
//   zipf            the distribution of hot rows
//   operations      the kinds of operations
//   trial           one measurement, in a process of its own in the control group
//   sweep           all measurements
//   report, chart   the reports of them
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

#include "chart.h"
#include "common/flags.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/workload.h"
#include "disk_readahead.h"
#include "memory_cgroup.h"
#include "operations.h"
#include "report.h"
#include "subject.h"
#include "sweep.h"
#include "trial.h"

ABSL_FLAG(bool, quick, false,
          "128 MiB of memory, half and four times that of data, fewer kinds, a second for each");
ABSL_FLAG(uint64_t, memory, 0, "MiB of the control group, 64 to 1,048,576; 0: depends on --quick");
ABSL_FLAG(std::string, ratios, "", "of data to memory, between commas; none: depends on --quick");
ABSL_FLAG(std::string, ways, "", "names between commas; none: all");
ABSL_FLAG(std::string, reads, "", "names between commas; none: depends on --quick");
ABSL_FLAG(uint64_t, seconds, 0, "that each figure is measured, 1 to 3600; 0: depends on --quick");
ABSL_FLAG(uint64_t, warm_ups, 0, "before a figure, at most, 1 to 1000; 0: depends on --quick");
ABSL_FLAG(uint64_t, repeats, 1, "times that each is measured, 1 to 100; the median counts");
ABSL_FLAG(std::string, readaheads, "", "KiB, between commas, to set for the disk; none: as it is");
ABSL_FLAG(std::string, json, "", "file to which the results go, one JSON object a line");
ABSL_FLAG(std::string, plot, "", "directory to which a chart goes");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");

namespace bench {
namespace {

constexpr int kBadUsage = 2;
constexpr int kNoCgroup = 3;

// Of --quick.
constexpr std::string_view kQuickReads = "random_reads,zipf_reads,short_scans";

absl::StatusOr<std::vector<double>> Ratios(const std::string& list) {
  std::vector<double> ratios;
  for (const std::string& word : Split(list, ',')) {
    double ratio = 0;
    if (!absl::SimpleAtod(word, &ratio) || !(ratio >= 0.05 && ratio <= 100)) {
      return absl::InvalidArgumentError(
          Concat("--ratios ", list, ": must be numbers from 0.05 to 100 between commas"));
    }
    ratios.push_back(ratio);
  }
  return ratios;
}

absl::StatusOr<std::vector<std::string>> ReadsFromFlags() {
  std::string list = absl::GetFlag(FLAGS_reads);
  if (list.empty() && absl::GetFlag(FLAGS_quick)) list = kQuickReads;
  std::vector<std::string> known;
  std::vector<std::string> defaults;
  for (const OperationKind& kind : kOperationKinds) {
    known.emplace_back(kind.name);
    if (kind.is_default) defaults.emplace_back(kind.name);
  }
  if (list.empty()) return defaults;
  return Names("reads", list, known, "a kind of reads");
}

// Each kind of operations needs a way that has it.
absl::Status CheckWrites(const SweepOptions& options) {
  for (const std::string& reads : options.reads) {
    const bool can_run = std::any_of(options.ways.begin(), options.ways.end(),
                                     [&](const std::string& way) { return CanRun(way, reads); });
    if (!can_run) {
      return absl::InvalidArgumentError(
          Concat("--reads ", reads, ": it writes, and none of the ways does"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SweepOptions> OptionsFromFlags() {
  const bool quick = absl::GetFlag(FLAGS_quick);
  SweepOptions options;
  uint64_t memory = absl::GetFlag(FLAGS_memory);
  if (memory == 0) memory = quick ? 128 : 256;
  if (absl::Status s = CheckRange("memory", memory, 64, 1 << 20); !s.ok()) return s;
  options.memory = memory << 20;
  uint64_t seconds = absl::GetFlag(FLAGS_seconds);
  if (seconds == 0) seconds = quick ? 1 : 4;
  if (absl::Status s = CheckRange("seconds", seconds, 1, 3600); !s.ok()) return s;
  options.time = absl::Seconds(seconds);
  options.most_warm_ups = absl::GetFlag(FLAGS_warm_ups);
  if (options.most_warm_ups == 0) options.most_warm_ups = quick ? 1 : 16;
  if (absl::Status s = CheckRange("warm_ups", options.most_warm_ups, 1, 1000); !s.ok()) return s;
  options.repeats = absl::GetFlag(FLAGS_repeats);
  if (absl::Status s = CheckRange("repeats", options.repeats, 1, 100); !s.ok()) return s;
  if (const std::string readaheads = absl::GetFlag(FLAGS_readaheads); !readaheads.empty()) {
    absl::StatusOr<std::vector<uint64_t>> numbers =
        Numbers("readaheads", readaheads, 4, uint64_t{1} << 20);
    if (!numbers.ok()) return numbers.status();
    options.readaheads = *std::move(numbers);
  }
  std::string list = absl::GetFlag(FLAGS_ratios);
  if (list.empty()) list = quick ? "0.5,4" : "0.25,0.5,1,2,4,8";
  absl::StatusOr<std::vector<double>> ratios = Ratios(list);
  if (!ratios.ok()) return ratios.status();
  options.ratios = *std::move(ratios);
  absl::StatusOr<std::vector<std::string>> ways =
      Names("ways", absl::GetFlag(FLAGS_ways), BuiltWays(), "a way of reading of this build");
  if (!ways.ok()) return ways.status();
  options.ways = *std::move(ways);
  absl::StatusOr<std::vector<std::string>> reads = ReadsFromFlags();
  if (!reads.ok()) return reads.status();
  options.reads = *std::move(reads);
  if (absl::Status s = CheckWrites(options); !s.ok()) return s;
  options.directory = absl::GetFlag(FLAGS_directory);
  if (options.directory.empty()) {
    return absl::InvalidArgumentError("--directory: must name a directory");
  }
  return options;
}

absl::Status Run(const SweepOptions& options, const MemoryCgroup& cgroup) {
  absl::StatusOr<DiskReadahead> disk = DiskReadahead::Of(options.directory);
  if (!disk.ok() && !options.readaheads.empty()) return disk.status();
  absl::StatusOr<SweepResults> results = Sweep(options, cgroup, &disk);
  if (!results.ok()) return results.status();
  PrintTables(*results);
  absl::PrintF(
      "rows of %d + %d bytes; %d MiB of memory, %d MiB of them the database's budget\n%s\n",
      kKeySize, kValueSize, options.memory >> 20, MemoryBudget(options) >> 20, DescribeMachine());
  const std::string json = absl::GetFlag(FLAGS_json);
  if (!json.empty()) {
    if (absl::Status s = WriteSweepJson(*results, json); !s.ok()) return s;
  }
  const std::string plot = absl::GetFlag(FLAGS_plot);
  return plot.empty() ? absl::OkStatus() : WriteChart(*results, plot);
}

int Main(const std::vector<std::string>& command) {
  absl::StatusOr<SweepOptions> options = OptionsFromFlags();
  if (!options.ok()) {
    std::cerr << "bench/memory/run: " << options.status().message() << "\n";
    return kBadUsage;
  }
  absl::StatusOr<MemoryCgroup> cgroup = MemoryCgroup::Make(options->memory);
  if (!cgroup.ok()) {
    std::cerr << "bench/memory/run: " << cgroup.status().message() << "\n";
    return kNoCgroup;
  }
  if (absl::Status s = Run(*options, *cgroup); !s.ok()) {
    std::cerr << "bench/memory/run: " << s << "\n";
    return EXIT_FAILURE;
  }
  absl::PrintF("bench/memory/run%s%s\n", command.size() > 1 ? " " : "",
               absl::StrJoin(command.begin() + 1, command.end(), " "));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const std::vector<std::string> command(argv, argv + argc);
  if (command.size() > 1 && command[1] == bench::kTrialArgument) {
    return bench::TrialMain({command.begin() + 2, command.end()});
  }
  absl::SetProgramUsageMessage(
      "Reads of tables that are larger than the memory. See bench/memory/run --help.");
  absl::ParseCommandLine(argc, argv);
  return bench::Main(command);
}
