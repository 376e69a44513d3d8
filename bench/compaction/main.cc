// Compares compaction policies: runs workloads under each of them, and measures the cost of writes,
// space and reads as the table grows and changes. bench/compaction/run builds and starts it.
//
//   policy      a compaction style with its factor
//   plugin      policies in shared objects
//   workloads/  the operations on the table
//   row_format  the sizes of keys and values
//   subject     the table, in a database of its own: bigtable_subject, rocksdb_subject
//   probe       the cost of reads at a time
//   sample      the figures at a time, and their line of the CSV
//   experiment  one workload under one policy
//   summary, charts/   reports of them; read_csv
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "charts/charts.h"
#include "common/flags.h"
#include "common/interrupt.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "event_log.h"
#include "experiment.h"
#include "plugin.h"
#include "policy.h"
#include "sample.h"
#include "summary.h"
#include "workloads/workloads.h"

ABSL_FLAG(bool, quick, false, "20,000 rows and 20 samples, instead of 200,000 and 50");
ABSL_FLAG(uint64_t, rows, 0, "how many rows, 1,000 to 10,000,000; 0: depends on --quick");
ABSL_FLAG(uint64_t, samples, 0, "how many samples of each run, 1 to 1,000; 0: depends on --quick");
ABSL_FLAG(std::string, styles, "", "compaction styles between commas; none: all");
ABSL_FLAG(std::vector<std::string>, policy, {},
          "PATH.so[:NAME], between commas: also runs policies of shared objects");
ABSL_FLAG(std::string, sweep, "",
          "factor=2..10 or K=1,2,4: of policies that take it and were given none");
ABSL_FLAG(std::string, rocksdb_options, "", "in RocksDB's notation, for its policies");
ABSL_FLAG(uint64_t, tablet, 0, "MiB at which a tablet is split; 0: never");
ABSL_FLAG(std::string, workloads, "", "names between commas; none: those of the published table");
ABSL_FLAG(uint64_t, value_size, bench::kValueSize, "bytes of a value, 1 to 100,000");
ABSL_FLAG(uint64_t, key_size, bench::kKeySize, "bytes of a key, 16 to 200");
ABSL_FLAG(uint64_t, seed, 0, "of the random operations, 0 to 1,000,000,000");
ABSL_FLAG(uint64_t, repeats, 1, "how many times each run is made, with the seeds that follow");
ABSL_FLAG(double, skew, bench::WorkloadOptions::kDefaultSkew,
          "exponent of the Zipf distributions, 0 to 2");
ABSL_FLAG(uint64_t, memtable, 0, "KiB of a memtable; 0: a hundredth of the rows");
ABSL_FLAG(uint64_t, memory, 0, "MiB of memory; 0: eight memtables, and at least 16");
ABSL_FLAG(uint64_t, compaction_threads, 1, "threads that merge, 1 to 64; not RocksDB's");
ABSL_FLAG(bool, lockstep, false, "the writer waits for compactions");
ABSL_FLAG(std::string, csv, "", "file to which the samples go");
ABSL_FLAG(std::string, events, "", "file to which flushes, compactions and stalls go");
ABSL_FLAG(bool, touches, false, "counts what reads touch; operations take longer");
ABSL_FLAG(bool, positional, false, "files are read by position, and reads measured at first");
ABSL_FLAG(bool, drop_pages, false, "reads go to the disk; needs --positional");
ABSL_FLAG(bool, markdown, false, "prints the figures in bytes and runs as Markdown, too");
ABSL_FLAG(std::string, check, "", "file that must have the lines of --markdown");
ABSL_FLAG(std::string, plot, "", "directory to which charts go");
ABSL_FLAG(std::string, directory, "", "directory on the file system to use");

namespace bench {
namespace {

constexpr uint64_t kKibibyte = 1 << 10;
constexpr uint64_t kMebibyte = 1 << 20;

struct RunOptions {
  std::vector<Policy> policies;
  std::vector<std::string> workloads;
  // Common to all experiments.
  ExperimentOptions common;
  uint64_t repeats = 1;
  std::string directory;
};

absl::Status SetRowFormat(RowFormat* format) {
  constexpr uint64_t kMostValueSize = 100'000;
  format->key_size = absl::GetFlag(FLAGS_key_size);
  format->value_size = absl::GetFlag(FLAGS_value_size);
  if (absl::Status s = CheckRange("key_size", format->key_size, kKeySize, kMostKeySize); !s.ok()) {
    return s;
  }
  return CheckRange("value_size", format->value_size, 1, kMostValueSize);
}

// What is random in the operations.
absl::Status SetRandomness(RunOptions* options) {
  constexpr uint64_t kMostRepeats = 100;
  constexpr uint64_t kMostSeed = 1'000'000'000;
  constexpr double kMostSkew = 2;
  WorkloadOptions& workload = options->common.workload_options;
  workload.seed = absl::GetFlag(FLAGS_seed);
  if (absl::Status s = CheckRange("seed", workload.seed, 0, kMostSeed); !s.ok()) return s;
  options->repeats = absl::GetFlag(FLAGS_repeats);
  if (absl::Status s = CheckRange("repeats", options->repeats, 1, kMostRepeats); !s.ok()) return s;
  workload.skew = absl::GetFlag(FLAGS_skew);
  if (workload.skew >= 0 && workload.skew <= kMostSkew) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("--skew %g: must be 0 to %g", workload.skew, kMostSkew));
}

// Needs the format of rows.
absl::Status SetSizes(ExperimentOptions* options) {
  constexpr uint64_t kMemtablesOfRows = 100;
  constexpr uint64_t kMemtablesOfMemory = 8;
  constexpr uint64_t kLeastMemtable = 64 * kKibibyte;
  constexpr uint64_t kMostMemtable = 1024 * kMebibyte;
  constexpr uint64_t kLeastMemory = 16 * kMebibyte;
  const bool quick = absl::GetFlag(FLAGS_quick);
  uint64_t& rows = options->workload_options.rows;
  rows = absl::GetFlag(FLAGS_rows);
  if (rows == 0) rows = quick ? 20'000 : 200'000;
  if (absl::Status s = CheckRange("rows", rows, 1'000, 10'000'000); !s.ok()) return s;
  options->samples = absl::GetFlag(FLAGS_samples);
  if (options->samples == 0) options->samples = quick ? 20 : 50;
  if (absl::Status s = CheckRange("samples", options->samples, 1, 1'000); !s.ok()) return s;

  const uint64_t memtable = absl::GetFlag(FLAGS_memtable);
  if (memtable != 0) {
    if (absl::Status s = CheckRange("memtable", memtable, 64, 1 << 20); !s.ok()) return s;
  }
  options->memtable_size = memtable != 0
                               ? memtable * kKibibyte
                               : std::clamp(rows * options->format.row_size() / kMemtablesOfRows,
                                            kLeastMemtable, kMostMemtable);
  const uint64_t memory = absl::GetFlag(FLAGS_memory);
  options->memory_budget =
      memory != 0 ? memory * kMebibyte
                  : std::max(kLeastMemory, kMemtablesOfMemory * options->memtable_size);
  // A memtable may take a quarter of it.
  const uint64_t least = std::max<uint64_t>(8, (4 * options->memtable_size - 1) / kMebibyte + 1);
  if (memory == 0) return absl::OkStatus();
  return CheckRange("memory", memory, least, 1 << 20);
}

absl::StatusOr<std::vector<Policy>> PoliciesFromFlags() {
  std::vector<Policy> all_loaded;
  for (const std::string& argument : absl::GetFlag(FLAGS_policy)) {
    const absl::StatusOr<std::vector<Policy>> loaded = LoadPolicies(argument);
    if (!loaded.ok()) return loaded.status();
    all_loaded.insert(all_loaded.end(), loaded->begin(), loaded->end());
  }
  const absl::StatusOr<std::vector<Policy>> policies =
      ParsePolicies(absl::GetFlag(FLAGS_styles), all_loaded, RegisterByName);
  if (!policies.ok()) return policies.status();
  return Sweep(*policies, absl::GetFlag(FLAGS_sweep), RegisterByName);
}

absl::StatusOr<RunOptions> OptionsFromFlags() {
  RunOptions options;
  if (absl::Status s = SetRowFormat(&options.common.format); !s.ok()) return s;
  if (absl::Status s = SetSizes(&options.common); !s.ok()) return s;
  if (absl::Status s = SetRandomness(&options); !s.ok()) return s;
  options.common.lockstep = absl::GetFlag(FLAGS_lockstep);
  options.common.rocksdb_options = absl::GetFlag(FLAGS_rocksdb_options);
  options.common.counts_touches = absl::GetFlag(FLAGS_touches);
  options.common.positional = absl::GetFlag(FLAGS_positional);
  options.common.drops_pages = absl::GetFlag(FLAGS_drop_pages);
  if (options.common.drops_pages && !options.common.positional) {
    return absl::InvalidArgumentError(
        "--drop_pages: needs --positional, since the kernel keeps pages that are mapped");
  }
  const uint64_t threads = absl::GetFlag(FLAGS_compaction_threads);
  if (absl::Status s = CheckRange("compaction_threads", threads, 1, 64); !s.ok()) return s;
  options.common.compaction_threads = static_cast<int>(threads);
  constexpr uint64_t kMostTablet = 1 << 20;
  const uint64_t tablet = absl::GetFlag(FLAGS_tablet);
  if (absl::Status s = CheckRange("tablet", tablet, 0, kMostTablet); !s.ok()) return s;
  options.common.tablet_size = tablet * kMebibyte;
  absl::StatusOr<std::vector<Policy>> policies = PoliciesFromFlags();
  if (!policies.ok()) return policies.status();
  options.policies = *std::move(policies);
  absl::StatusOr<std::vector<std::string>> workloads =
      Names("workloads", absl::GetFlag(FLAGS_workloads), WorkloadNames(), "a workload");
  if (!workloads.ok()) return workloads.status();
  options.workloads = *std::move(workloads);
  if (absl::GetFlag(FLAGS_workloads).empty()) options.workloads = DefaultWorkloadNames();
  options.directory = absl::GetFlag(FLAGS_directory);
  if (options.directory.empty()) {
    return absl::InvalidArgumentError("--directory: must name a directory");
  }
  return options;
}

// A CSV; nothing is written if it has no path.
class CsvFile {
 public:
  absl::Status Open(const std::string& path, const std::string& header) {
    path_ = path;
    if (path.empty()) return absl::OkStatus();
    file_.open(path, std::ios::trunc);
    file_ << header;
    return Flush();
  }
  void Write(const std::string& line) {
    if (!path_.empty()) file_ << line;
  }
  absl::Status Flush() {
    if (path_.empty() || file_.flush().good()) return absl::OkStatus();
    return absl::UnavailableError(Concat(path_, ": cannot be written"));
  }

 private:
  std::string path_;
  std::ofstream file_;
};

// The files that --csv and --events name.
struct CsvFiles {
  absl::Status Open() {
    absl::Status s = samples.Open(absl::GetFlag(FLAGS_csv), CsvHeader());
    return s.ok() ? events.Open(absl::GetFlag(FLAGS_events), EventCsvHeader()) : s;
  }
  absl::Status Flush() {
    absl::Status s = samples.Flush();
    return s.ok() ? events.Flush() : s;
  }

  CsvFile samples;
  CsvFile events;
};

class RunReport final : public Report {
 public:
  RunReport(RunResult* run, CsvFiles* files) : run_(*run), files_(*files) {}
  void Add(const Sample& sample) override {
    files_.samples.Write(CsvLine(run_.workload, run_.policy, run_.repeat, sample));
    run_.samples.push_back(sample);
  }
  void AddEvents(absl::Time begin, const std::vector<Event>& events) override {
    for (const Event& event : events) {
      files_.events.Write(EventCsvLine(run_.workload, run_.policy, run_.repeat, begin, event));
    }
  }

 private:
  RunResult& run_;
  CsvFiles& files_;
};

absl::StatusOr<RunResult> RunOne(const ExperimentOptions& options, uint64_t repeat,
                                 CsvFiles& files) {
  RunResult run{.workload = options.workload,
                .policy = options.policy,
                .repeat = {.number = repeat, .seed = options.workload_options.seed},
                .samples = {}};
  RunReport report(&run, &files);
  absl::Status s = RunExperiment(options, &report);
  RemoveAll(options.directory);
  if (!s.ok()) {
    return absl::Status(s.code(), Concat(run.workload, ", ", run.policy.Name(), ": ", s.message()));
  }
  if (s = files.Flush(); !s.ok()) return s;
  const Sample& end = run.samples.back();
  absl::FPrintF(stderr, "%-15s %-17s %7.1f s  %10.0f/s  write amplification %.2f\n", run.workload,
                run.policy.Name(), end.seconds, end.ops_per_second, end.write_amplification);
  return run;
}

absl::StatusOr<std::vector<RunResult>> RunAll(const RunOptions& options) {
  const InterruptHandler handler;
  CsvFiles files;
  if (absl::Status s = files.Open(); !s.ok()) return s;
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(options.directory, "compaction");
  if (!directory.ok()) return directory.status();
  std::vector<RunResult> runs;
  for (const std::string& workload : options.workloads) {
    const bool expires =
        MakeWorkload(workload, options.common.workload_options)->lifetime().has_value();
    for (const Policy& policy : options.policies) {
      if (expires && policy.is_rocksdb) continue;  // it has no expiry by the workload's clock
      ExperimentOptions experiment = options.common;
      experiment.workload = workload;
      experiment.policy = policy;
      experiment.directory = Concat(directory->path(), "/database");
      for (uint64_t repeat = 0; repeat < options.repeats; ++repeat) {
        absl::StatusOr<RunResult> run = RunOne(experiment, repeat, files);
        if (!run.ok()) return run.status();
        runs.push_back(*std::move(run));
        ++experiment.workload_options.seed;
      }
    }
  }
  return runs;
}

absl::Status Run(const RunOptions& options) {
  absl::StatusOr<std::vector<RunResult>> runs = RunAll(options);
  if (!runs.ok()) return runs.status();
  PrintSummary(*runs);
  const ExperimentOptions& common = options.common;
  absl::PrintF("\n%d rows of %d + %d bytes, memtables of %d KiB, %d MiB of memory%s\n%s\n",
               common.workload_options.rows, common.format.key_size, common.format.value_size,
               common.memtable_size / kKibibyte, common.memory_budget / kMebibyte,
               common.lockstep ? ", the writer waits for compactions" : "", DescribeMachine());
  if (absl::GetFlag(FLAGS_markdown)) {
    absl::PrintF("\n%s\n", absl::StrJoin(MarkdownTable(*runs), "\n"));
  }
  if (const std::string file = absl::GetFlag(FLAGS_check); !file.empty()) {
    if (absl::Status s = CheckDocumented(*runs, file); !s.ok()) return s;
  }
  const std::string plot = absl::GetFlag(FLAGS_plot);
  return plot.empty() ? absl::OkStatus() : WriteCharts(*runs, plot);
}

int Main(const std::vector<std::string>& command) {
  constexpr int kBadUsage = 2;
  absl::StatusOr<RunOptions> options = OptionsFromFlags();
  if (!options.ok()) {
    std::cerr << "bench/compaction/run: " << options.status().message() << "\n";
    return kBadUsage;
  }
  if (absl::Status s = Run(*options); !s.ok()) {
    std::cerr << "bench/compaction/run: " << s << "\n";
    return EXIT_FAILURE;
  }
  absl::PrintF("bench/compaction/run%s%s\n", command.size() > 1 ? " " : "",
               absl::StrJoin(command.begin() + 1, command.end(), " "));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Compaction policies compared. See bench/compaction/run --help.");
  absl::ParseCommandLine(argc, argv);
  return bench::Main({argv, argv + argc});
}
