// Reads of tables that are smaller and larger than the memory, in each read mode: a sweep over the
// ratio of the two, in a control group with limited memory. bench/memory/run builds and starts it.
//
//   memory_cgroup  the control group
//   disk_readahead the kernel's readahead
//   trial          one measurement, in a process of its own in the control group
//   report         the report of all measurements
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
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

#include "common/flags.h"
#include "common/interrupt.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "disk_readahead.h"
#include "memory_cgroup.h"
#include "report.h"
#include "trial.h"

ABSL_FLAG(bool, quick, false,
          "128 MiB of memory, up to four times that of data, a second for each");
ABSL_FLAG(uint64_t, memory, 0, "MiB of the control group, 64 to 1,048,576; 0: depends on --quick");
ABSL_FLAG(std::string, ratios, "", "of data to memory, between commas; none: depends on --quick");
ABSL_FLAG(std::string, reads, "", "names between commas; none: all");
ABSL_FLAG(uint64_t, seconds, 0, "that each figure is measured, 1 to 3600; 0: depends on --quick");
ABSL_FLAG(uint64_t, repeats, 1, "times that each is measured, 1 to 100; the median counts");
ABSL_FLAG(std::string, readaheads, "", "KiB, between commas, to set for the disk; none: as it is");
ABSL_FLAG(std::string, json, "", "file to which the results go, one JSON object a line");
ABSL_FLAG(std::string, plot, "", "directory to which a chart goes");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");

namespace bench {
namespace {

constexpr int kBadUsage = 2;
constexpr int kNoCgroup = 3;

struct SweepOptions {
  uint64_t memory = 0;  // bytes
  std::vector<double> ratios;
  std::vector<std::string> reads;
  absl::Duration time;
  uint64_t repeats = 1;
  std::vector<uint64_t> readaheads;  // none: as it is
  std::string directory;
};

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
  options.repeats = absl::GetFlag(FLAGS_repeats);
  if (absl::Status s = CheckRange("repeats", options.repeats, 1, 100); !s.ok()) return s;
  if (const std::string readaheads = absl::GetFlag(FLAGS_readaheads); !readaheads.empty()) {
    absl::StatusOr<std::vector<uint64_t>> numbers =
        Numbers("readaheads", readaheads, 4, uint64_t{1} << 20);
    if (!numbers.ok()) return numbers.status();
    options.readaheads = *std::move(numbers);
  }
  std::string list = absl::GetFlag(FLAGS_ratios);
  if (list.empty()) list = quick ? "0.25,1,4" : "0.25,0.5,1,2,4,8";
  absl::StatusOr<std::vector<double>> ratios = Ratios(list);
  if (!ratios.ok()) return ratios.status();
  options.ratios = *std::move(ratios);
  absl::StatusOr<std::vector<std::string>> reads =
      Names("reads", absl::GetFlag(FLAGS_reads), {kReads.begin(), kReads.end()}, "a kind of reads");
  if (!reads.ok()) return reads.status();
  options.reads = *std::move(reads);
  options.directory = absl::GetFlag(FLAGS_directory);
  if (options.directory.empty()) {
    return absl::InvalidArgumentError("--directory: must name a directory");
  }
  return options;
}

double Median(const std::vector<Figures>& trials, double Figures::*figure) {
  std::vector<double> values;
  for (const Figures& trial : trials) values.push_back(trial.*figure);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The modes take turns, so that other load on the machine affects all of them.
absl::Status MeasureWays(const SweepOptions& options, Trial trial, double ratio, uint64_t readahead,
                         SweepResults* results) {
  std::map<std::string_view, std::vector<Figures>> trials;
  for (uint64_t i = 0; i < options.repeats; ++i) {
    for (const std::string_view way : kWays) {
      if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
      trial.way = way;
      absl::StatusOr<Figures> figures = RunTrial(trial);
      if (!figures.ok()) return figures.status();
      absl::FPrintF(stderr, "%g times the memory, %s, readahead %d, %s: %.0f/s\n", ratio,
                    trial.reads, readahead, way, figures->per_second);
      trials[way].push_back(*figures);
    }
  }
  for (const std::string_view way : kWays) {
    results->figures[{readahead, trial.reads, std::string(way)}].push_back(
        {.per_second = Median(trials[way], &Figures::per_second),
         .cpu_micros = Median(trials[way], &Figures::cpu_micros),
         .disk_kilobytes = Median(trials[way], &Figures::disk_kilobytes)});
  }
  return absl::OkStatus();
}

absl::StatusOr<SweepResults> Sweep(const SweepOptions& options, const MemoryCgroup& cgroup,
                                   absl::StatusOr<DiskReadahead>* disk) {
  const InterruptHandler interrupts;
  SweepResults results = {
      .ratios = options.ratios, .reads = options.reads, .readaheads = options.readaheads};
  if (results.readaheads.empty()) results.readaheads.push_back(disk->ok() ? (*disk)->found() : 0);
  for (const double ratio : options.ratios) {
    absl::StatusOr<TemporaryDirectory> directory =
        TemporaryDirectory::Make(options.directory, "memory");
    if (!directory.ok()) return directory.status();
    const std::string database = Concat(directory->path(), "/database");
    const auto rows = static_cast<uint64_t>(ratio * static_cast<double>(options.memory) /
                                            static_cast<double>(kKeySize + kValueSize));
    if (absl::Status s = MakeTable(database, rows); !s.ok()) return s;
    for (const uint64_t readahead : results.readaheads) {
      if (!options.readaheads.empty()) {
        if (absl::Status s = (*disk)->Set(readahead); !s.ok()) return s;
      }
      for (const std::string& reads : options.reads) {
        const Trial trial = {.reads = reads,
                             .rows = rows,
                             .memory_budget = options.memory / 4,
                             .time = options.time,
                             .directory = database,
                             .cgroup = cgroup.path()};
        if (absl::Status s = MeasureWays(options, trial, ratio, readahead, &results); !s.ok()) {
          return s;
        }
      }
    }
  }
  return results;
}

absl::Status Run(const SweepOptions& options, const MemoryCgroup& cgroup) {
  absl::StatusOr<DiskReadahead> disk = DiskReadahead::Of(options.directory);
  if (!disk.ok() && !options.readaheads.empty()) return disk.status();
  absl::StatusOr<SweepResults> results = Sweep(options, cgroup, &disk);
  if (!results.ok()) return results.status();
  PrintTables(*results);
  absl::PrintF(
      "rows of %d + %d bytes; %d MiB of memory, %d MiB of them the database's budget\n%s\n",
      kKeySize, kValueSize, options.memory >> 20, options.memory >> 22, DescribeMachine());
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
