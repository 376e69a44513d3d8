// The cost of one SSTable by its options: how fast it is built, how large it is, and what reads of
// rows, of missing rows and of everything cost. bench/sstable/run builds and starts it.
//
//   combination  the options that are varied
//   measurement  builds one file and reads it
//   figures      what is measured
//   report, plot   tables, CSV and charts of it
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "combination.h"
#include "common/flags.h"
#include "common/interrupt.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "figures.h"
#include "measurement.h"
#include "plot.h"
#include "report.h"

ABSL_FLAG(std::string, rows, "1000000", "how many rows, 1,000 to 100,000,000");
ABSL_FLAG(std::string, value, "100", "bytes of a value, 1 to 100,000");
ABSL_FLAG(std::string, block, "16", "KiB of a block, 1 to 16,384");
ABSL_FLAG(std::string, compression, "none", "none, zstd or zstd_long_window");
ABSL_FLAG(std::string, level, "3", "of the compression, 1 to 19");
ABSL_FLAG(std::string, filter, "row", "none, row, row_and_column or row_index");
ABSL_FLAG(std::string, bits, "10", "of the Bloom filter for each row, 1 to 32");
ABSL_FLAG(std::string, read_mode, "mapped", "mapped, or positional, through the block cache");
ABSL_FLAG(std::string, memory, "64", "MiB for the block cache, index and filter, at least 8");
ABSL_FLAG(uint64_t, reads, 200'000, "how many reads of single rows, 1 to 10,000,000");
ABSL_FLAG(uint64_t, repeats, 1, "of each combination, 1 to 100");
ABSL_FLAG(uint64_t, seed, 1, "of the rows that are read; each repeat has the next one");
ABSL_FLAG(std::string, csv, "", "file to which the figures go");
ABSL_FLAG(std::string, plot, "", "directory to which SVG charts go");
ABSL_FLAG(std::string, directory, ".", "directory on the file system to use");

namespace bench {
namespace {

struct RunOptions {
  std::vector<Combination> combinations;
  uint64_t reads;
  uint64_t repeats;
  uint64_t seed;
};

absl::StatusOr<RunOptions> OptionsFromFlags() {
  RunOptions options{.combinations = {},
                     .reads = absl::GetFlag(FLAGS_reads),
                     .repeats = absl::GetFlag(FLAGS_repeats),
                     .seed = absl::GetFlag(FLAGS_seed)};
  for (const absl::Status& s : {CheckRange("reads", options.reads, 1, 10'000'000),
                                CheckRange("repeats", options.repeats, 1, 100)}) {
    if (!s.ok()) return s;
  }
  absl::StatusOr<std::vector<Combination>> combinations =
      Combinations({.rows = absl::GetFlag(FLAGS_rows),
                    .value = absl::GetFlag(FLAGS_value),
                    .block = absl::GetFlag(FLAGS_block),
                    .compression = absl::GetFlag(FLAGS_compression),
                    .level = absl::GetFlag(FLAGS_level),
                    .filter = absl::GetFlag(FLAGS_filter),
                    .bits = absl::GetFlag(FLAGS_bits),
                    .read_mode = absl::GetFlag(FLAGS_read_mode),
                    .memory = absl::GetFlag(FLAGS_memory)});
  if (!combinations.ok()) return combinations.status();
  options.combinations = *std::move(combinations);
  return options;
}

// The repeats go round all combinations, so that a slow minute of the machine affects all of them.
absl::StatusOr<std::vector<Result>> RunAll(const RunOptions& options, std::ostream* csv) {
  const InterruptHandler handler;
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(absl::GetFlag(FLAGS_directory), "sstable");
  if (!directory.ok()) return directory.status();
  const std::string path = Concat(directory->path(), "/a.sst");
  const std::vector<Parameter> swept = SweptParameters(options.combinations);
  std::vector<Result> results;
  for (const Combination& c : options.combinations) {
    results.push_back({.combination = c, .repeats = {}});
  }
  *csv << CsvHeader();
  for (uint64_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (size_t i = 0; i < results.size(); ++i) {
      const uint64_t seed = options.seed + repeat;
      absl::FPrintF(stderr, "repeat %d, %d of %d  %s\n", repeat + 1, i + 1, results.size(),
                    Label(results[i].combination, swept));
      const absl::StatusOr<Figures> figures =
          Measure(results[i].combination, options.reads, seed, path);
      if (!figures.ok()) return figures.status();
      if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
      results[i].repeats.push_back(*figures);
      *csv << CsvLine(results[i].combination, repeat + 1, seed, *figures) << std::flush;
    }
  }
  return results;
}

// The arguments that are the same in all combinations.
std::string Common(const RunOptions& options) {
  std::string common;
  for (const Parameter& parameter : Parameters()) {
    const std::set<std::string> texts = parameter.Texts(options.combinations);
    if (texts.size() == 1) common += Concat(parameter.name, "=", *texts.begin(), " ");
  }
  return common;
}

// The file that --csv names; what is written to none is lost.
absl::StatusOr<std::ofstream> OpenCsv() {
  const std::string path = absl::GetFlag(FLAGS_csv);
  std::ofstream csv;
  if (path.empty()) return csv;
  csv.open(path, std::ios::trunc);
  if (csv.good()) return csv;
  return absl::InvalidArgumentError(Concat("--csv ", path, ": must be a file that can be written"));
}

absl::Status Run(const RunOptions& options) {
  absl::StatusOr<std::ofstream> csv = OpenCsv();
  if (!csv.ok()) return csv.status();
  const absl::StatusOr<std::vector<Result>> results = RunAll(options, &*csv);
  if (!results.ok()) return results.status();
  if (csv->is_open() && !csv->good()) {
    return absl::UnavailableError(Concat(absl::GetFlag(FLAGS_csv), ": cannot be written"));
  }
  absl::PrintF("%s\n%sreads=%d repeats=%d seed=%d\n", Tables(*results), Common(options),
               options.reads, options.repeats, options.seed);
  absl::PrintF(
      "Percentiles are of reads that are timed one by one, and include %.3f µs of the clock; the "
      "mean does not.%s\n%s\n",
      ClockMicros(), options.repeats == 1 ? "" : " ±: the standard deviation of a repeat.",
      DescribeMachine());
  const std::string plot = absl::GetFlag(FLAGS_plot);
  return plot.empty() ? absl::OkStatus() : WriteCharts(*results, plot);
}

int Main(const std::vector<std::string>& command) {
  constexpr int kBadUsage = 2;
  const absl::StatusOr<RunOptions> options = OptionsFromFlags();
  if (!options.ok()) {
    std::cerr << "bench/sstable/run: " << options.status().message() << "\n";
    return kBadUsage;
  }
  if (absl::Status s = Run(*options); !s.ok()) {
    std::cerr << "bench/sstable/run: " << s.message() << "\n";
    return absl::IsInvalidArgument(s) ? kBadUsage : EXIT_FAILURE;
  }
  absl::PrintF("bench/sstable/run%s%s\n", command.size() > 1 ? " " : "",
               absl::StrJoin(command.begin() + 1, command.end(), " "));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("One SSTable by its options. See bench/sstable/run --help.");
  absl::ParseCommandLine(argc, argv);
  return bench::Main({argv, argv + argc});
}
