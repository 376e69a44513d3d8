// Benchmarks of what the data model has beyond reads and writes of a cell: so far increments, by
// this library and by RocksDB. bench/model/run builds and starts it.
//
// Each case runs on an empty database, one store after another, in each round in another order.
// Reported are the medians of the rounds.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

#include "common/flags.h"
#include "common/interrupt.h"
#include "common/machine.h"
#include "common/median.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "increments.h"
#include "store.h"

ABSL_FLAG(bool, quick, false, "20,000 increments and three rounds, instead of 400,000 and five");
ABSL_FLAG(uint64_t, rounds, 0, "how many rounds, 1 to 100; 0: depends on --quick");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");

namespace bench {
namespace {

constexpr std::array kCases = {IncrementsCase{.counters = 1, .threads = 1},
                               IncrementsCase{.counters = 1, .threads = 8},
                               IncrementsCase{.counters = 100'000, .threads = 1},
                               IncrementsCase{.counters = 100'000, .threads = 8}};

struct Figures {
  std::vector<double> per_second;
  std::vector<double> cpu_micros;
};

absl::Status RunOnce(const StoreKind& kind, const IncrementsCase& work, uint64_t increments,
                     const std::string& directory, Figures* figures) {
  absl::StatusOr<std::unique_ptr<Store>> store = kind.open(directory);
  if (!store.ok()) return store.status();
  const absl::StatusOr<IncrementsResult> result = RunIncrements(store->get(), work, increments);
  if (!result.ok()) return result.status();
  figures->per_second.push_back(result->per_second);
  figures->cpu_micros.push_back(result->cpu_micros);
  return absl::OkStatus();
}

absl::Status RunCase(const IncrementsCase& work, uint64_t increments, uint64_t rounds,
                     const std::string& parent) {
  const std::vector<StoreKind> stores = BuiltStores();
  std::vector<Figures> figures(stores.size());
  for (uint64_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < stores.size(); ++i) {
      if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
      const size_t store = (i + round) % stores.size();
      const std::string directory = Concat(parent, "/database");
      absl::Status s = RunOnce(stores[store], work, increments, directory, &figures[store]);
      RemoveAll(directory);
      if (!s.ok()) return absl::Status(s.code(), Concat(stores[store].name, ": ", s.message()));
    }
  }
  for (size_t i = 0; i < stores.size(); ++i) {
    absl::PrintF("%8d %8d  %-20s %-24s %12.0f %10.2f\n", work.counters, work.threads,
                 stores[i].name, stores[i].way, Median(figures[i].per_second),
                 Median(figures[i].cpu_micros));
  }
  return absl::OkStatus();
}

absl::Status Run() {
  const bool quick = absl::GetFlag(FLAGS_quick);
  uint64_t rounds = absl::GetFlag(FLAGS_rounds);
  if (rounds == 0) rounds = quick ? 3 : 5;
  if (absl::Status s = CheckRange("rounds", rounds, 1, 100); !s.ok()) return s;
  const std::string parent = absl::GetFlag(FLAGS_directory);
  if (parent.empty()) return absl::InvalidArgumentError("--directory: must name a directory");
  const InterruptHandler handler;
  absl::StatusOr<TemporaryDirectory> directory = TemporaryDirectory::Make(parent, "model");
  if (!directory.ok()) return directory.status();
  absl::PrintF("%8s %8s  %-20s %-24s %12s %10s\n", "counters", "threads", "store", "increment by",
               "a second", "CPU in us");
  const uint64_t increments = quick ? 20'000 : 400'000;
  for (const IncrementsCase& work : kCases) {
    if (absl::Status s = RunCase(work, increments, rounds, directory->path()); !s.ok()) return s;
  }
  absl::PrintF("\n%d increments, median of %d rounds\n%s\n", increments, rounds, DescribeMachine());
  return absl::OkStatus();
}

int Main() {
  constexpr int kBadUsage = 2;
  const absl::Status s = Run();
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << "bench/model/run: " << s << "\n";
  return absl::IsInvalidArgument(s) ? kBadUsage : EXIT_FAILURE;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Benchmarks of the data model. See bench/model/run --help.");
  absl::ParseCommandLine(argc, argv);
  return bench::Main();
}
