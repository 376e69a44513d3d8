// Checkpoints of databases of increasing sizes, and what a client feels that writes beside them;
// and bulk loads. For this engine and RocksDB in one run. bench/transfer/run builds and starts it.
#include <algorithm>
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
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "backups.h"
#include "bulk_loads.h"
#include "changes.h"
#include "checkpoints.h"
#include "common/flags.h"
#include "common/machine.h"
#include "common/table.h"
#include "ingestions.h"
#include "paper/bigtable_engine.h"
#include "paper/engine.h"
#include "refreshes.h"

ABSL_FLAG(std::string, benchmarks, "",
          "of checkpoints, bulk_loads, ingestions, refreshes, changes, backups, between commas; "
          "none: all");
ABSL_FLAG(bool, quick, false, "few rows, two seconds each");
ABSL_FLAG(std::string, rows, "", "numbers of rows between commas, 1,000 to 100,000,000");
ABSL_FLAG(uint64_t, value_size, 100,
          "of the rows of bulk loads and changes, in bytes, 1 to 1,048,576");
ABSL_FLAG(uint64_t, threads, 2, "that sort and write files, 1 to 64");
ABSL_FLAG(uint64_t, repeats, 0, "of each bulk load, of which the median is shown, 1 to 100");
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

// What all benchmarks take from the flags.
struct Settings {
  bool quick = false;
  std::vector<std::string> engines;
  uint64_t memory = 0;  // in MiB
};

absl::StatusOr<std::vector<uint64_t>> RowsOr(std::vector<uint64_t> usual) {
  const std::string list = absl::GetFlag(FLAGS_rows);
  if (list.empty()) return usual;
  return Numbers("rows", list, 1000, 100'000'000);
}

// What those beside a client that writes take from them as well.
struct BesideAClient {
  std::vector<uint64_t> rows;
  uint64_t writes = 0;  // of the client, in a second
  absl::Duration time;
};

absl::StatusOr<BesideAClient> ReadBesideAClient(const Settings& settings) {
  absl::StatusOr<std::vector<uint64_t>> rows =
      RowsOr(settings.quick ? std::vector<uint64_t>{20'000, 100'000}
                            : std::vector<uint64_t>{100'000, 400'000, 1'600'000});
  if (!rows.ok()) return rows.status();
  uint64_t seconds = absl::GetFlag(FLAGS_seconds);
  if (seconds == 0) seconds = settings.quick ? 2 : 10;
  if (absl::Status s = CheckRange("seconds", seconds, 1, 3600); !s.ok()) return s;
  const uint64_t writes = absl::GetFlag(FLAGS_writes);
  if (absl::Status s = CheckRange("writes", writes, 1, 1'000'000); !s.ok()) return s;
  return BesideAClient{*std::move(rows), writes, absl::Seconds(static_cast<int64_t>(seconds))};
}

absl::Status RunCheckpoints(const Settings& settings) {
  const absl::StatusOr<BesideAClient> beside = ReadBesideAClient(settings);
  if (!beside.ok()) return beside.status();

  Table table({"rows", "engine", "checkpoints", "median, ms", "longest, ms", "write p50, us",
               "p99.9, ms", "longest, ms", "without: p50, us", "p99.9, ms", "longest, ms"});
  for (const uint64_t n : beside->rows) {
    for (const std::string& name : settings.engines) {
      const absl::StatusOr<CheckpointResult> result =
          MeasureCheckpoints({.engine = *BuiltEngine(name),
                              .directory = absl::GetFlag(FLAGS_directory),
                              .rows = n,
                              .memory_limit = settings.memory << 20,
                              .writes_per_second = static_cast<double>(beside->writes),
                              .time = beside->time});
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
  std::cout << "Checkpoints beside a client: " << beside->writes
            << " writes of a kilobyte a second\n\n"
            << table.Text() << "\n";
  return absl::OkStatus();
}

absl::Status RunBulkLoads(const Settings& settings) {
  const absl::StatusOr<std::vector<uint64_t>> rows =
      RowsOr({settings.quick ? uint64_t{200'000} : uint64_t{2'000'000}});
  if (!rows.ok()) return rows.status();
  const uint64_t value_size = absl::GetFlag(FLAGS_value_size);
  if (absl::Status s = CheckRange("value_size", value_size, 1, 1 << 20); !s.ok()) return s;
  const uint64_t threads = absl::GetFlag(FLAGS_threads);
  if (absl::Status s = CheckRange("threads", threads, 1, 64); !s.ok()) return s;
  uint64_t repeats = absl::GetFlag(FLAGS_repeats);
  if (repeats == 0) repeats = settings.quick ? 1 : 3;
  if (absl::Status s = CheckRange("repeats", repeats, 1, 100); !s.ok()) return s;

  Table table(
      {"rows", "engine", "by", "time, s", "CPU, s", "until quiet, s", "CPU, s", "MB written"});
  const auto seconds = [](absl::Duration time) {
    return absl::StrFormat("%.2f", absl::ToDoubleSeconds(time));
  };
  for (const uint64_t n : *rows) {
    for (const Load load : {Load::kWrites, Load::kFiles}) {
      // The engines in turn, so that what else the machine does meets both.
      std::map<std::string, std::vector<BulkLoadResult>> results;
      for (uint64_t i = 0; i < repeats; ++i) {
        for (const std::string& name : settings.engines) {
          const absl::StatusOr<BulkLoadResult> result =
              MeasureBulkLoad({.engine = *BuiltEngine(name),
                               .load = load,
                               .directory = absl::GetFlag(FLAGS_directory),
                               .rows = n,
                               .value_size = value_size,
                               .memory_limit = settings.memory << 20,
                               .threads = static_cast<int>(threads)});
          if (!result.ok()) return result.status();
          results[name].push_back(*result);
        }
      }
      for (const std::string& name : settings.engines) {
        std::vector<BulkLoadResult>& of = results[name];
        std::sort(of.begin(), of.end(),
                  [](const auto& a, const auto& b) { return a.time < b.time; });
        const BulkLoadResult& median = of[of.size() / 2];
        table.Add({absl::StrFormat("%d", n), name, load == Load::kWrites ? "writes" : "files",
                   seconds(median.time), seconds(median.cpu), seconds(median.until_quiet),
                   seconds(median.cpu_until_quiet),
                   absl::StrFormat("%d", median.bytes_written / 1'000'000)});
      }
    }
  }
  std::cout << "Bulk loads of rows of " << value_size << " bytes in random order, " << threads
            << " threads\n\n"
            << table.Text() << "\n";
  return absl::OkStatus();
}

absl::Status RunIngestions(const Settings& settings) {
  const absl::StatusOr<std::vector<uint64_t>> rows =
      RowsOr({settings.quick ? uint64_t{20'000} : uint64_t{200'000}});
  if (!rows.ok()) return rows.status();
  const uint64_t writes = absl::GetFlag(FLAGS_writes);
  if (absl::Status s = CheckRange("writes", writes, 1, 1'000'000); !s.ok()) return s;
  Table table({"rows", "engine", "ingestions", "median, ms", "longest, ms", "write p50, us",
               "p99, us", "p99.9, ms", "longest, ms", "without: p50, us", "p99, us", "p99.9, ms",
               "longest, ms"});
  std::vector<EngineKind> engines;
  for (const std::string& name : settings.engines) {
    engines.push_back(*BuiltEngine(name));
    if (name != "bigtable") continue;
    // The client's rows are one tablet, and those of the files another.
    engines.push_back(BigtableEngine({.servers = 1, .tablets = 2}));
    engines.back().name = "bigtable, other tablet";
  }
  for (const uint64_t n : *rows) {
    for (const EngineKind& engine : engines) {
      const absl::StatusOr<IngestionResult> result =
          MeasureIngestions({.engine = engine,
                             .directory = absl::GetFlag(FLAGS_directory),
                             .rows = n,
                             .file_rows = n / 20,
                             .ingestions = settings.quick ? 8 : 40,
                             .memory_limit = settings.memory << 20,
                             .writes_per_second = static_cast<double>(writes)});
      if (!result.ok()) return result.status();
      const std::vector<absl::Duration>& times = result->ingestions;
      std::vector<std::string> line = {
          absl::StrFormat("%d", n), engine.name, absl::StrFormat("%d", times.size()),
          Milliseconds(times[times.size() / 2]), Milliseconds(times.back())};
      for (const WriteTimes& of : {result->beside, result->without}) {
        line.push_back(absl::StrFormat("%.1f", absl::ToDoubleMicroseconds(of.median)));
        line.push_back(absl::StrFormat("%.1f", absl::ToDoubleMicroseconds(of.p99)));
        line.push_back(Milliseconds(of.p999));
        line.push_back(Milliseconds(of.most));
      }
      table.Add(std::move(line));
    }
  }
  std::cout << "Files of a twentieth of the rows that are ingested beside a client: " << writes
            << " writes of a kilobyte a second\n\n"
            << table.Text() << "\n";
  return absl::OkStatus();
}

absl::Status RunRefreshes(const Settings& settings) {
  const absl::StatusOr<BesideAClient> beside = ReadBesideAClient(settings);
  if (!beside.ok()) return beside.status();
  Table table({"rows", "engine", "opening, ms", "refreshes", "median, ms", "longest, ms",
               "unchanged, ms", "write p50, us", "p99.9, ms", "without: p50, us", "p99.9, ms"});
  for (const uint64_t n : beside->rows) {
    for (const std::string& name : settings.engines) {
      const absl::StatusOr<RefreshResult> result =
          MeasureRefreshes({.engine = *BuiltEngine(name),
                            .directory = absl::GetFlag(FLAGS_directory),
                            .rows = n,
                            .memory_limit = settings.memory << 20,
                            .writes_per_second = static_cast<double>(beside->writes),
                            .time = beside->time,
                            .interval = absl::Milliseconds(200)});
      if (!result.ok()) return result.status();
      const std::vector<absl::Duration>& times = result->refreshes;
      std::vector<std::string> line = {absl::StrFormat("%d", n),
                                       name,
                                       Milliseconds(result->opening),
                                       absl::StrFormat("%d", times.size()),
                                       Milliseconds(times[times.size() / 2]),
                                       Milliseconds(times.back()),
                                       Milliseconds(result->unchanged)};
      for (const WriteTimes& of : {result->beside, result->without}) {
        line.push_back(absl::StrFormat("%.1f", absl::ToDoubleMicroseconds(of.median)));
        line.push_back(Milliseconds(of.p999));
      }
      table.Add(std::move(line));
    }
  }
  std::cout << "Refreshes of a second opening, 200 ms after the last, beside a client: "
            << beside->writes << " writes of a kilobyte a second\n\n"
            << table.Text() << "\n";
  return absl::OkStatus();
}

absl::Status RunBackups(const Settings& settings) {
  const absl::StatusOr<std::vector<uint64_t>> rows =
      RowsOr({settings.quick ? uint64_t{100'000} : uint64_t{1'000'000}});
  if (!rows.ok()) return rows.status();
  Table table({"rows", "engine", "first, s", "MB", "tenth, s", "MB"});
  for (const uint64_t n : *rows) {
    for (const std::string& name : settings.engines) {
      const absl::StatusOr<BackupsResult> result =
          MeasureBackups({.engine = *BuiltEngine(name),
                          .directory = absl::GetFlag(FLAGS_directory),
                          .rows = n,
                          .memory_limit = settings.memory << 20});
      if (!result.ok()) return result.status();
      std::vector<std::string> line = {absl::StrFormat("%d", n), name};
      for (const BackupsResult::Backup& backup : {result->first, result->tenth}) {
        line.push_back(absl::StrFormat("%.2f", absl::ToDoubleSeconds(backup.time)));
        line.push_back(absl::StrFormat("%.1f", static_cast<double>(backup.bytes) / 1e6));
      }
      table.Add(std::move(line));
    }
  }
  std::cout << "Backups of rows of a kilobyte; before each but the first, a hundredth of the rows "
               "is written again\n\n"
            << table.Text() << "\n";
  return absl::OkStatus();
}

absl::Status RunChanges(const Settings& settings) {
  const absl::StatusOr<std::vector<uint64_t>> rows =
      RowsOr({settings.quick ? uint64_t{100'000} : uint64_t{1'000'000}});
  if (!rows.ok()) return rows.status();
  const uint64_t value_size = absl::GetFlag(FLAGS_value_size);
  if (absl::Status s = CheckRange("value_size", value_size, 1, 1 << 20); !s.ok()) return s;
  uint64_t repeats = absl::GetFlag(FLAGS_repeats);
  if (repeats == 0) repeats = settings.quick ? 1 : 3;
  if (absl::Status s = CheckRange("repeats", repeats, 1, 100); !s.ok()) return s;
  Table table({"rows", "engine", "writes/s without", "CPU, us", "with", "CPU, us", "reads/s",
               "follower: applies/s", "writes/s beside it", "lag, ms", "longest, ms"});
  for (const uint64_t n : *rows) {
    std::map<std::string, std::vector<ChangesResult>> results;
    for (uint64_t i = 0; i < repeats; ++i) {
      for (const std::string& name : settings.engines) {
        const absl::StatusOr<ChangesResult> result =
            MeasureChanges({.engine = *BuiltEngine(name),
                            .directory = absl::GetFlag(FLAGS_directory),
                            .rows = n,
                            .value_size = value_size,
                            .memory_limit = settings.memory << 20});
        if (!result.ok()) return result.status();
        results[name].push_back(*result);
      }
    }
    const auto count = static_cast<double>(n);
    for (const std::string& name : settings.engines) {
      // Each figure by itself.
      const auto median = [&](auto get) {
        std::vector<absl::Duration> all;
        for (const ChangesResult& result : results[name]) all.push_back(get(result));
        std::sort(all.begin(), all.end());
        return all[all.size() / 2];
      };
      const auto rate = [&](absl::Duration time) {
        return absl::StrFormat("%.0f", count / absl::ToDoubleSeconds(time));
      };
      const auto each = [&](absl::Duration time) {
        return absl::StrFormat("%.2f", absl::ToDoubleMicroseconds(time) / count);
      };
      std::vector<std::string> line = {absl::StrFormat("%d", n),
                                       name,
                                       rate(median([](const auto& r) { return r.without.time; })),
                                       each(median([](const auto& r) { return r.without.cpu; })),
                                       rate(median([](const auto& r) { return r.with.time; })),
                                       each(median([](const auto& r) { return r.with.cpu; })),
                                       rate(median([](const auto& r) { return r.read; }))};
      if (results[name].front().catch_up.has_value()) {
        line.push_back(rate(median([](const auto& r) { return *r.catch_up; })));
        line.push_back(rate(median([](const auto& r) { return *r.lag_writes; })));
        line.push_back(Milliseconds(median([](const auto& r) { return *r.lag; })));
        line.push_back(Milliseconds(median([](const auto& r) { return *r.longest_lag; })));
      } else {
        line.resize(11, "-");
      }
      table.Add(std::move(line));
    }
  }
  std::cout << "Changes of a table: writes of " << value_size
            << " bytes in random order without and with a change stream, and a follower\n\n"
            << table.Text() << "\n";
  return absl::OkStatus();
}

absl::Status Run() {
  Settings settings;
  settings.quick = absl::GetFlag(FLAGS_quick);
  std::vector<std::string> known;
  for (const EngineKind& engine : BuiltEngines()) {
    const bool has_neither = engine.name == "leveldb" || engine.name == "lmdb";
    if (!has_neither) known.push_back(engine.name);
  }
  absl::StatusOr<std::vector<std::string>> engines =
      Names("engines", absl::GetFlag(FLAGS_engines), known, "an engine of this build");
  if (!engines.ok()) return engines.status();
  settings.engines = *engines;
  settings.memory = absl::GetFlag(FLAGS_memory);
  if (absl::Status s = CheckRange("memory", settings.memory, 16, 1 << 20); !s.ok()) return s;
  const absl::StatusOr<std::vector<std::string>> benchmarks =
      Names("benchmarks", absl::GetFlag(FLAGS_benchmarks),
            {"checkpoints", "bulk_loads", "ingestions", "refreshes", "changes", "backups"},
            "a benchmark");
  if (!benchmarks.ok()) return benchmarks.status();
  for (const std::string& name : *benchmarks) {
    const absl::Status s = name == "checkpoints"  ? RunCheckpoints(settings)
                           : name == "bulk_loads" ? RunBulkLoads(settings)
                           : name == "ingestions" ? RunIngestions(settings)
                           : name == "refreshes"  ? RunRefreshes(settings)
                           : name == "changes"    ? RunChanges(settings)
                                                  : RunBackups(settings);
    if (!s.ok()) return s;
  }
  std::cout << settings.memory << " MiB of memory\n" << DescribeMachine() << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("checkpoints and bulk loads; see bench/transfer/run");
  absl::ParseCommandLine(argc, argv);
  const absl::Status s = bench::Run();
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << "bench/transfer/run: " << std::string(s.message()) << "\n";
  return EXIT_FAILURE;
}
