#include "trial.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/measure.h"
#include "common/median.h"
#include "common/page_cache.h"
#include "common/strings.h"
#include "common/temporary_directory.h"

namespace bench {
namespace {

class LoadedDatabase {
 public:
  // Loads and closes with `shortcuts_off`.
  LoadedDatabase(const Workload& workload, uint64_t shortcuts_off, std::string directory)
      : workload_(workload), shortcuts_off_(shortcuts_off), directory_(std::move(directory)) {
    options_.memory_budget = uint64_t{256} << 20;
    options_.tablet_servers = 1;
    schema_.locality_groups["default"] = {};
    schema_.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
    schema_.split.tablet_size = uint64_t{1} << 40;
    if (workload.settings != nullptr) workload.settings(&options_, &schema_);
  }
  ~LoadedDatabase() {
    bigtable::shortcuts_off = shortcuts_off_;
    subject_.database.reset();
    RemoveAll(directory_);
  }
  LoadedDatabase(const LoadedDatabase&) = delete;
  LoadedDatabase& operator=(const LoadedDatabase&) = delete;

  absl::Status Load() {
    bigtable::shortcuts_off = shortcuts_off_;
    if (absl::Status s = Open(); !s.ok()) return s;
    if (workload_.load != nullptr) {
      if (absl::Status s = workload_.load(&subject_); !s.ok()) return s;
    }
    return subject_.database->WaitUntilQuiet();
  }

  absl::StatusOr<Cost> Round(uint64_t shortcuts_off) {
    bigtable::shortcuts_off = shortcuts_off;
    if (workload_.start != Start::kOpen) {
      if (absl::Status s = Reopen(); !s.ok()) return s;
    }
    absl::StatusOr<absl::Duration> cpu = CpuTime();
    if (!cpu.ok()) return cpu.status();
    const absl::Time start = absl::Now();
    const absl::StatusOr<uint64_t> operations = workload_.run(&subject_);
    if (!operations.ok()) return operations.status();
    ++subject_.rounds;
    if (workload_.waits_until_quiet) {
      if (absl::Status s = subject_.database->WaitUntilQuiet(); !s.ok()) return s;
    }
    const absl::Duration time = absl::Now() - start;
    const absl::StatusOr<absl::Duration> cpu_at_end = CpuTime();
    if (!cpu_at_end.ok()) return cpu_at_end.status();
    if (absl::Status s = subject_.database->WaitUntilQuiet(); !s.ok()) return s;
    const auto count = static_cast<double>(*operations);
    return Cost{.cpu = absl::ToDoubleNanoseconds(*cpu_at_end - *cpu) / count,
                .time = absl::ToDoubleNanoseconds(time) / count};
  }

 private:
  absl::Status Open() {
    auto database = bigtable::Database::Open(directory_, options_);
    if (!database.ok()) return database.status();
    subject_.database = *std::move(database);
    absl::StatusOr<bigtable::Table*> table = subject_.database->OpenOrCreateTable("t", schema_);
    if (!table.ok()) return table.status();
    subject_.table = *table;
    return absl::OkStatus();
  }
  absl::Status Reopen() {
    if (absl::Status s = subject_.database->Close(); !s.ok()) return s;
    subject_.database.reset();
    if (workload_.start == Start::kCold) {
      if (absl::Status s = DropFromPageCache(directory_); !s.ok()) return s;
    }
    if (absl::Status s = Open(); !s.ok()) return s;
    return subject_.database->WaitUntilQuiet();
  }

  const Workload& workload_;
  const uint64_t shortcuts_off_;
  const std::string directory_;
  bigtable::DatabaseOptions options_;
  bigtable::TableSchema schema_;
  Subject subject_;
};

// Costs of rounds, by number.
struct Costs {
  void Add(const Cost& cost) {
    cpu.push_back(cost.cpu);
    time.push_back(cost.time);
  }
  Cost Medians() const { return {.cpu = Median(cpu), .time = Median(time)}; }

  std::vector<double> cpu;
  std::vector<double> time;
};

struct Results {
  Costs with;
  Costs without;
  Costs gains;
};

double Percent(double with, double without) { return (without / with - 1) * 100; }

// A database, and the way in which it is used.
struct Side {
  LoadedDatabase* database;
  uint64_t shortcuts_off;

  absl::StatusOr<Cost> Round() const { return database->Round(shortcuts_off); }
};

// Adds the costs of all rounds but the first ones.
absl::Status RunRounds(const Side& with, const Side& without, int rounds, Results* results) {
  for (const Side& side : {with, without}) {
    if (absl::Status s = side.Round().status(); !s.ok()) return s;  // to warm up
  }
  for (int round = 0; round < rounds; ++round) {
    const bool swap = round % 2 == 1;
    absl::StatusOr<Cost> first = (swap ? without : with).Round();
    if (!first.ok()) return first.status();
    absl::StatusOr<Cost> second = (swap ? with : without).Round();
    if (!second.ok()) return second.status();
    if (swap) std::swap(*first, *second);
    results->with.Add(*first);
    results->without.Add(*second);
    results->gains.Add(
        {.cpu = Percent(first->cpu, second->cpu), .time = Percent(first->time, second->time)});
  }
  return absl::OkStatus();
}

absl::Status RunTrial(const Workload& workload, uint64_t shortcut, Databases databases, int rounds,
                      const std::string& directory, bool loads_without_first, Results* results) {
  LoadedDatabase with(workload, 0, Concat(directory, "/with"));
  if (databases == Databases::kOne) {
    if (absl::Status s = with.Load(); !s.ok()) return s;
    return RunRounds({&with, 0}, {&with, shortcut}, rounds, results);
  }
  LoadedDatabase without(workload, shortcut, Concat(directory, "/without"));
  for (LoadedDatabase* const database :
       {loads_without_first ? &without : &with, loads_without_first ? &with : &without}) {
    if (absl::Status s = database->Load(); !s.ok()) return s;
  }
  return RunRounds({&with, 0}, {&without, shortcut}, rounds, results);
}

}  // namespace

absl::StatusOr<Comparison> Compare(const Workload& workload, bigtable::Shortcut shortcut,
                                   Databases databases, int trials, int rounds,
                                   const std::string& directory) {
  const uint64_t bit = uint64_t{1} << static_cast<uint32_t>(shortcut);
  Results results;
  for (int trial = 0; trial < trials; ++trial) {
    if (absl::Status s =
            RunTrial(workload, bit, databases, rounds, directory, trial % 2 == 1, &results);
        !s.ok()) {
      return s;
    }
  }
  return Comparison{.with = results.with.Medians(),
                    .without = results.without.Medians(),
                    .gain = results.gains.Medians()};
}

}  // namespace bench
