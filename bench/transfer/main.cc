// Checkpoints of databases of increasing sizes, and what a client feels that writes beside them,
// for this engine and RocksDB in one run. bench/transfer/run builds and starts it.
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
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "checkpoints.h"
#include "common/flags.h"
#include "common/machine.h"
#include "common/table.h"
#include "paper/engine.h"

ABSL_FLAG(bool, quick, false, "20,000 and 100,000 rows, two seconds each");
ABSL_FLAG(std::string, rows, "", "numbers of rows between commas, 1,000 to 100,000,000");
ABSL_FLAG(std::string, engines, "", "of bigtable, rocksdb, between commas; none: both");
ABSL_FLAG(uint64_t, writes, 10'000, "of the client in a second, 1 to 1,000,000");
ABSL_FLAG(uint64_t, memory, 256, "MiB of memory, 16 to 1,048,576");
ABSL_FLAG(uint64_t, seconds, 0, "with checkpoints, and as long without, 1 to 3600");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");

namespace bench {
namespace {

std::string Milliseconds(absl::Duration time) {
  return absl::StrFormat("%.2f", absl::ToDoubleMilliseconds(time));
}

absl::Status Run() {
  const bool quick = absl::GetFlag(FLAGS_quick);
  std::vector<uint64_t> rows = quick ? std::vector<uint64_t>{20'000, 100'000}
                                     : std::vector<uint64_t>{100'000, 400'000, 1'600'000};
  if (const std::string list = absl::GetFlag(FLAGS_rows); !list.empty()) {
    absl::StatusOr<std::vector<uint64_t>> numbers = Numbers("rows", list, 1000, 100'000'000);
    if (!numbers.ok()) return numbers.status();
    rows = *numbers;
  }
  std::vector<std::string> known;
  for (const EngineKind& engine : BuiltEngines()) {
    if (engine.name != "leveldb") known.push_back(engine.name);  // it has none
  }
  absl::StatusOr<std::vector<std::string>> engines =
      Names("engines", absl::GetFlag(FLAGS_engines), known, "an engine of this build");
  if (!engines.ok()) return engines.status();
  uint64_t seconds = absl::GetFlag(FLAGS_seconds);
  if (seconds == 0) seconds = quick ? 2 : 10;
  if (absl::Status s = CheckRange("seconds", seconds, 1, 3600); !s.ok()) return s;
  const uint64_t writes = absl::GetFlag(FLAGS_writes);
  if (absl::Status s = CheckRange("writes", writes, 1, 1'000'000); !s.ok()) return s;
  const uint64_t memory = absl::GetFlag(FLAGS_memory);
  if (absl::Status s = CheckRange("memory", memory, 16, 1 << 20); !s.ok()) return s;

  Table table({"rows", "engine", "checkpoints", "median, ms", "longest, ms", "write p50, us",
               "p99.9, ms", "longest, ms", "without: p50, us", "p99.9, ms", "longest, ms"});
  for (const uint64_t n : rows) {
    for (const std::string& name : *engines) {
      const absl::StatusOr<CheckpointResult> result =
          MeasureCheckpoints({.engine = *BuiltEngine(name),
                              .directory = absl::GetFlag(FLAGS_directory),
                              .rows = n,
                              .memory_limit = memory << 20,
                              .writes_per_second = static_cast<double>(writes),
                              .time = absl::Seconds(static_cast<int64_t>(seconds))});
      if (!result.ok()) return result.status();
      const std::vector<absl::Duration>& times = result->checkpoints;
      std::vector<std::string> line = {
          absl::StrFormat("%d", n), name, absl::StrFormat("%d", times.size()),
          Milliseconds(times[times.size() / 2]), Milliseconds(times.back())};
      for (const WriteTimes& of : {result->beside, result->without}) {
        line.push_back(absl::StrFormat("%.1f", absl::ToDoubleMicroseconds(of.median)));
        line.push_back(Milliseconds(of.p999));
        line.push_back(Milliseconds(of.most));
      }
      table.Add(std::move(line));
    }
  }
  std::cout << table.Text() << "\n"
            << writes << " writes of a kilobyte a second, " << memory << " MiB of memory\n"
            << DescribeMachine() << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("checkpoints beside a client that writes; see bench/transfer/run");
  absl::ParseCommandLine(argc, argv);
  const absl::Status s = bench::Run();
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << "bench/transfer/run: " << std::string(s.message()) << "\n";
  return EXIT_FAILURE;
}
