// Makes the calls of a recording (bigtable/call_recording.h) again, under other policies and
// options, and compares what they cost. bench/replay/run builds and starts it.
//
//   overview    what is in the recording
//   target      the database: bigtable_target, rocksdb_target
//   replay      the calls, on threads, at a pace
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "common/flags.h"
#include "common/interrupt.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "compaction/plugin.h"
#include "compaction/policy.h"
#include "overview.h"
#include "replay.h"
#include "target.h"

ABSL_FLAG(bool, describe, false, "prints what is in the recording, and makes no call");
ABSL_FLAG(std::string, styles, "", "compaction styles between commas; none: as recorded");
ABSL_FLAG(std::vector<std::string>, policy, {}, "PATH.so[:NAME], between commas");
ABSL_FLAG(std::string, compression, "", "none, zstd or zstd_long_window; empty: as recorded");
ABSL_FLAG(std::string, filter, "", "none, row, row_and_column or row_index; empty: as recorded");
ABSL_FLAG(uint64_t, block, 0, "KiB of a block; 0: as recorded");
ABSL_FLAG(uint64_t, memtable, 64, "MiB of a memtable");
ABSL_FLAG(uint64_t, memory, 0, "MiB of memory; 0: eight memtables");
ABSL_FLAG(bool, positional, false, "files are read by position");
ABSL_FLAG(bool, scan_cache, false, "the scan cache is on");
ABSL_FLAG(uint64_t, servers, 1, "tablet servers");
ABSL_FLAG(uint64_t, threads, 1, "that make the calls");
ABSL_FLAG(double, speed, 0, "times as fast as recorded; 0: as fast as possible");
ABSL_FLAG(uint64_t, calls, 0, "makes only so many; 0: all");
ABSL_FLAG(uint64_t, repeats, 1, "of each run");
ABSL_FLAG(std::string, from, "", "a database that is copied to begin with");
ABSL_FLAG(std::string, csv, "", "file to which the figures go");
ABSL_FLAG(std::string, directory, "", "directory on the file system to use");

namespace bench {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;

template <typename Enum>
absl::Status Choose(std::string_view flag, const std::string& value,
                    const std::vector<std::string>& names, std::optional<Enum>* choice) {
  if (value.empty()) return absl::OkStatus();
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) {
    return absl::InvalidArgumentError(Concat(
        "--", flag, ": must be one of ", absl::StrJoin(names, ", "), ", and is \"", value, "\""));
  }
  *choice = static_cast<Enum>(found - names.begin());
  return absl::OkStatus();
}

absl::Status CheckFlags() {
  const double speed = absl::GetFlag(FLAGS_speed);
  if (!(speed == 0 || (speed >= 0.001 && speed <= 1000))) {
    return absl::InvalidArgumentError(
        Concat("--speed: must be 0, or 0.001 to 1000, and is ", speed));
  }
  for (const absl::Status& s : {CheckRange("memtable", absl::GetFlag(FLAGS_memtable), 1, 1024),
                                CheckRange("memory", absl::GetFlag(FLAGS_memory), 0, 1 << 20),
                                CheckRange("block", absl::GetFlag(FLAGS_block), 0, 16 << 10),
                                CheckRange("servers", absl::GetFlag(FLAGS_servers), 1, 256),
                                CheckRange("threads", absl::GetFlag(FLAGS_threads), 1, 256),
                                CheckRange("repeats", absl::GetFlag(FLAGS_repeats), 1, 1000)}) {
    if (!s.ok()) return s;
  }
  if (absl::GetFlag(FLAGS_directory).empty() && !absl::GetFlag(FLAGS_describe)) {
    return absl::InvalidArgumentError("--directory: must name a directory");
  }
  return absl::OkStatus();
}

absl::StatusOr<TargetOptions> TargetOptionsFromFlags() {
  TargetOptions options;
  for (const absl::Status& s :
       {CheckFlags(),
        Choose("compression", absl::GetFlag(FLAGS_compression),
               {"none", "zstd", "zstd_long_window"}, &options.compression),
        Choose("filter", absl::GetFlag(FLAGS_filter),
               {"none", "row", "row_and_column", "row_index"}, &options.filter)}) {
    if (!s.ok()) return s;
  }
  if (const uint64_t block = absl::GetFlag(FLAGS_block); block != 0) {
    options.block_size = block << 10;
  }
  const uint64_t memtable = absl::GetFlag(FLAGS_memtable) * kMebibyte;
  const uint64_t memory = absl::GetFlag(FLAGS_memory) * kMebibyte;
  options.database.memtable_size = memtable;
  options.database.memory_budget = memory != 0 ? memory : 8 * memtable;
  options.database.target_file_size = std::min(memtable, options.database.target_file_size);
  options.database.log_segment_size = std::min(memtable / 4, options.database.log_segment_size);
  options.database.tablet_servers = static_cast<int>(absl::GetFlag(FLAGS_servers));
  options.database.scan_cache = absl::GetFlag(FLAGS_scan_cache);
  if (absl::GetFlag(FLAGS_positional)) {
    options.database.read_mode = bigtable::FileSystem::ReadMode::kPositional;
  }
  return options;
}

// The style that stands for the policies of the recorded schemas.
constexpr std::string_view kRecorded = "recorded";

absl::StatusOr<std::vector<Policy>> PoliciesFromFlags() {
  std::vector<Policy> loaded;
  for (const std::string& argument : absl::GetFlag(FLAGS_policy)) {
    const absl::StatusOr<std::vector<Policy>> more = LoadPolicies(argument);
    if (!more.ok()) return more.status();
    loaded.insert(loaded.end(), more->begin(), more->end());
  }
  if (absl::GetFlag(FLAGS_styles).empty() && loaded.empty()) {
    return std::vector<Policy>{Policy{.style = std::string(kRecorded)}};
  }
  return ParsePolicies(absl::GetFlag(FLAGS_styles), loaded, RegisterByName);
}

absl::Status CopyDatabase(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(Concat("--from ", from, ": ", error.message()));
}

absl::StatusOr<ReplayResult> RunOne(const ReplayOptions& replay, const Overview& overview,
                                    const TargetOptions& options) {
  if (const std::string from = absl::GetFlag(FLAGS_from); !from.empty()) {
    if (options.policy.is_rocksdb) {
      return absl::InvalidArgumentError("--from: is a database of this engine, not of RocksDB");
    }
    if (absl::Status s = CopyDatabase(from, options.directory); !s.ok()) return s;
  }
  absl::StatusOr<std::unique_ptr<Target>> target = OpenTarget(overview, options);
  if (!target.ok()) return target.status();
  absl::StatusOr<ReplayResult> result = Replay(replay, overview, target->get());
  const absl::Status closed = (*target)->Close();
  target->reset();
  RemoveAll(options.directory);
  if (result.ok() && !closed.ok()) return closed;
  return result;
}

struct Figure {
  std::string_view name;
  double value;
};
std::vector<Figure> FiguresOf(ReplayResult& result) {
  const auto number = [](uint64_t n) { return static_cast<double>(n); };
  const double seconds = absl::ToDoubleSeconds(result.time);
  const double user_bytes = number(std::max<uint64_t>(result.user_bytes, 1));
  return {{"calls", number(result.calls)},
          {"skipped", number(result.skipped)},
          {"seconds", seconds},
          {"calls_per_second", number(result.calls) / seconds},
          {"cpu_us_per_call", absl::ToDoubleMicroseconds(result.cpu) / number(result.calls)},
          {"read_p50_us", result.reads.Percentile(0.5)},
          {"read_p99_us", result.reads.Percentile(0.99)},
          {"read_p999_us", result.reads.Percentile(0.999)},
          {"scan_p50_us", result.scans.Percentile(0.5)},
          {"scan_p99_us", result.scans.Percentile(0.99)},
          {"write_p50_us", result.writes.Percentile(0.5)},
          {"write_p99_us", result.writes.Percentile(0.99)},
          {"write_p999_us", result.writes.Percentile(0.999)},
          {"write_amplification", result.figures.written_bytes / user_bytes},
          {"file_bytes", result.figures.file_bytes},
          {"sorted_runs", result.figures.sorted_runs},
          {"stall_seconds", result.figures.stall_seconds},
          {"recorded_rows", number(result.recorded_rows)},
          {"rows", number(result.rows)}};
}

void PrintLine(const std::string& policy, ReplayResult& result) {
  const auto number = [](uint64_t n) { return static_cast<double>(n); };
  const double rows =
      100.0 * number(result.rows) / number(std::max<uint64_t>(1, result.recorded_rows));
  absl::PrintF(
      "%-17s %9d %9.0f %7.2f %7.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.2f %9.1f %5.0f %6.1f%%\n",
      policy, result.calls, number(result.calls) / absl::ToDoubleSeconds(result.time),
      absl::ToDoubleMicroseconds(result.cpu) / number(std::max<uint64_t>(1, result.calls)),
      result.reads.Percentile(0.5), result.reads.Percentile(0.99), result.scans.Percentile(0.5),
      result.scans.Percentile(0.99), result.writes.Percentile(0.5), result.writes.Percentile(0.99),
      result.figures.written_bytes / number(std::max<uint64_t>(1, result.user_bytes)),
      result.figures.file_bytes / 1e6, result.figures.sorted_runs, rows);
  std::cout.flush();
}

void PrintHeader() {
  absl::PrintF("\n%-17s %9s %9s %7s %16s %17s %17s %7s %9s %5s %7s\n", "", "", "calls", "CPU us",
               "us of a row", "us of a range", "us of a write", "", "MB of", "", "rows");
  absl::PrintF("%-17s %9s %9s %7s %7s %8s %8s %8s %8s %8s %7s %9s %5s %7s\n", "policy", "calls",
               "a second", "a call", "p50", "p99", "p50", "p99", "p50", "p99", "w.amp", "files",
               "runs", "read");
}

// Lines of the CSV, with its header.
class Csv {
 public:
  void Add(const std::string& policy, uint64_t repeat, const std::vector<Figure>& figures) {
    if (text_.empty()) {
      text_ = "policy,repeat";
      for (const Figure& figure : figures) text_ += Concat(",", figure.name);
      text_ += "\n";
    }
    text_ += Concat(policy, ",", repeat);
    for (const Figure& figure : figures) text_ += absl::StrFormat(",%.12g", figure.value);
    text_ += "\n";
  }
  absl::Status WriteTo(const std::string& path) const {
    if (path.empty() || (std::ofstream(path) << text_)) return absl::OkStatus();
    return absl::UnavailableError(Concat(path, ": cannot be written"));
  }

 private:
  std::string text_;
};

absl::Status RunAll(const ReplayOptions& replay, const Overview& overview, TargetOptions options) {
  const absl::StatusOr<std::vector<Policy>> policies = PoliciesFromFlags();
  if (!policies.ok()) return policies.status();
  const absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(absl::GetFlag(FLAGS_directory), "replay");
  if (!directory.ok()) return directory.status();
  options.directory = Concat(directory->path(), "/database");
  Csv csv;
  PrintHeader();
  for (const Policy& policy : *policies) {
    options.policy = policy;
    options.keeps_policies = policy.style == kRecorded;
    for (uint64_t repeat = 0; repeat < absl::GetFlag(FLAGS_repeats); ++repeat) {
      absl::StatusOr<ReplayResult> result = RunOne(replay, overview, options);
      if (!result.ok()) return result.status();
      PrintLine(policy.Name(), *result);
      csv.Add(policy.Name(), repeat, FiguresOf(*result));
    }
  }
  absl::PrintF(
      "\nw.amp: bytes written to log and files, for each byte of rows, qualifiers and values. rows "
      "read: of those\nthat were read when it was recorded. %s\n",
      DescribeMachine());
  return csv.WriteTo(absl::GetFlag(FLAGS_csv));
}

absl::Status Run(const std::string& recording) {
  const InterruptHandler handler;
  const absl::StatusOr<TargetOptions> options = TargetOptionsFromFlags();
  if (!options.ok()) return options.status();
  const absl::StatusOr<Overview> overview = ReadOverview(recording);
  if (!overview.ok()) return overview.status();
  Print(*overview);
  if (absl::GetFlag(FLAGS_describe)) return absl::OkStatus();
  return RunAll({.recording = recording,
                 .threads = absl::GetFlag(FLAGS_threads),
                 .speed = absl::GetFlag(FLAGS_speed),
                 .most_calls = absl::GetFlag(FLAGS_calls)},
                *overview, *options);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("A recording of calls made again. See bench/replay/run --help.");
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  absl::Status s = absl::InvalidArgumentError("must be given one recording");
  if (rest.size() == 2) s = bench::Run(rest[1]);
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << "bench/replay/run: " << s << "\n";
  return absl::IsInvalidArgument(s) ? 2 : EXIT_FAILURE;
}
