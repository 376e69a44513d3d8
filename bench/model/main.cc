// Benchmarks of what the data model has beyond reads and writes of a cell: increments, batches and
// transactions, by this library and by RocksDB. bench/model/run builds and starts it.
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
#include "store.h"
#include "work.h"

ABSL_FLAG(bool, quick, false, "20,000 operations and three rounds, instead of 400,000 and five");
ABSL_FLAG(uint64_t, rounds, 0, "how many rounds, 1 to 100; 0: depends on --quick");
ABSL_FLAG(std::string, only, "", "measure only the cases whose title contains this text");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");

namespace bench {
namespace {

struct NamedCase {
  WorkCase work;
  const char* name;
};

constexpr std::array kCases = {
    NamedCase{{Work::kIncrements, 1, 1}, "increments of one counter"},
    NamedCase{{Work::kIncrements, 1, 8}, "increments of one counter"},
    NamedCase{{Work::kIncrements, 100'000, 1}, "increments of 100,000 counters"},
    NamedCase{{Work::kIncrements, 100'000, 8}, "increments of 100,000 counters"},
    NamedCase{{Work::kBatches, kMostRows, 1}, "batches of ten rows"},
    NamedCase{{Work::kBatches, kMostRows, 8}, "batches of ten rows"},
    NamedCase{{Work::kTransactions, 100'000, 1}, "transactions on 100,000 rows"},
    NamedCase{{Work::kTransactions, 100'000, 8}, "transactions on 100,000 rows"},
    NamedCase{{Work::kTransactions, 20, 8}, "transactions on 20 rows"},
};

struct Figures {
  std::vector<double> per_second;
  std::vector<double> cpu_micros;
};

absl::Status RunOnce(const StoreKind& kind, const WorkCase& work, uint64_t operations,
                     const std::string& directory, Figures* figures) {
  absl::StatusOr<std::unique_ptr<Store>> store = kind.open(directory);
  if (!store.ok()) return store.status();
  const absl::StatusOr<WorkResult> result = RunWork(store->get(), work, operations);
  if (!result.ok()) return result.status();
  figures->per_second.push_back(result->per_second);
  figures->cpu_micros.push_back(result->cpu_micros);
  return absl::OkStatus();
}

std::string TitleOf(const NamedCase& work) {
  return absl::StrFormat("%s, %d thread%s", work.name, work.work.threads,
                         work.work.threads > 1 ? "s" : "");
}

absl::Status RunCase(const NamedCase& work, uint64_t operations, uint64_t rounds,
                     const std::string& parent) {
  const std::vector<StoreKind> stores = BuiltStores(work.work.work);
  std::vector<Figures> figures(stores.size());
  for (uint64_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < stores.size(); ++i) {
      if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
      const size_t store = (i + round) % stores.size();
      const std::string directory = Concat(parent, "/database");
      absl::Status s = RunOnce(stores[store], work.work, operations, directory, &figures[store]);
      RemoveAll(directory);
      if (!s.ok()) return absl::Status(s.code(), Concat(stores[store].name, ": ", s.message()));
    }
  }
  absl::PrintF("%s\n", TitleOf(work));
  for (size_t i = 0; i < stores.size(); ++i) {
    absl::PrintF("  %-10s %-32s %12.0f %10.2f\n", stores[i].name, stores[i].way,
                 Median(figures[i].per_second), Median(figures[i].cpu_micros));
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
  absl::PrintF("  %-10s %-32s %12s %10s\n", "store", "by", "a second", "CPU in us");
  const uint64_t operations = quick ? 20'000 : 400'000;
  const std::string only = absl::GetFlag(FLAGS_only);
  const auto is_chosen = [&](const NamedCase& work) {
    return TitleOf(work).find(only) != std::string::npos;
  };
  if (std::ranges::none_of(kCases, is_chosen)) {
    return absl::InvalidArgumentError(Concat("--only ", only, ": no case has this in its title"));
  }
  for (const NamedCase& work : kCases) {
    if (!is_chosen(work)) continue;
    if (absl::Status s = RunCase(work, operations, rounds, directory->path()); !s.ok()) return s;
  }
  absl::PrintF("\n%d operations, median of %d rounds\n%s\n", operations, rounds, DescribeMachine());
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
