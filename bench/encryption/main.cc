// What encryption at rest costs: one workload on plain and on encrypted files, in turns.
// bench/encryption/run builds and starts it.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "common/flags.h"
#include "common/machine.h"
#include "common/median.h"
#include "common/table.h"
#include "trial.h"

ABSL_FLAG(uint64_t, rows, 200'000, "of a kilobyte, 10,000 to 10,000,000");
ABSL_FLAG(uint64_t, rounds, 3, "of which the median is shown, 1 to 100");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");

namespace bench {
namespace {

struct Way {
  std::string name;
  bool is_encrypted;
  bigtable::FileSystem::ReadMode read_mode;
  std::vector<TrialResult> results = {};
};

struct Figure {
  std::string name;
  double TrialResult::*value;
};

absl::Status Run() {
  const uint64_t rows = absl::GetFlag(FLAGS_rows);
  const uint64_t rounds = absl::GetFlag(FLAGS_rounds);
  if (absl::Status s = CheckRange("rows", rows, 10'000, 10'000'000); !s.ok()) return s;
  if (absl::Status s = CheckRange("rounds", rounds, 1, 100); !s.ok()) return s;

  using ReadMode = bigtable::FileSystem::ReadMode;
  std::vector<Way> ways = {{"plain, mapped", false, ReadMode::kMapped},
                           {"plain, by position", false, ReadMode::kPositional},
                           {"encrypted", true, ReadMode::kPositional}};
  // In turns, so that what else the machine does meets all.
  for (uint64_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < ways.size(); ++i) {
      Way& way = ways[(i + round) % ways.size()];
      const absl::StatusOr<TrialResult> result =
          RunTrial({.is_encrypted = way.is_encrypted,
                    .read_mode = way.read_mode,
                    .rows = rows,
                    .directory = absl::GetFlag(FLAGS_directory)});
      if (!result.ok()) return result.status();
      way.results.push_back(*result);
    }
  }

  Table table({"µs", ways[0].name, ways[1].name, ways[2].name});
  for (const Figure& figure :
       std::vector<Figure>{{"write, random", &TrialResult::write},
                           {"CPU of a write until quiet, all threads", &TrialResult::write_cpu},
                           {"write at kSync", &TrialResult::synced_write},
                           {"read, in the block cache", &TrialResult::cached_read},
                           {"read, in the page cache only", &TrialResult::uncached_read},
                           {"scanned row, in the page cache only", &TrialResult::scanned_row}}) {
    std::vector<std::string> line = {figure.name};
    for (const Way& way : ways) {
      std::vector<double> values;
      for (const TrialResult& result : way.results) values.push_back(result.*figure.value);
      line.push_back(absl::StrFormat("%.3g", Median(values)));
    }
    table.Add(std::move(line));
  }
  std::cout << rows << " rows of a kilobyte, the median of " << rounds << " rounds\n\n"
            << table.Text() << "\n"
            << DescribeMachine() << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("the cost of encryption; see bench/encryption/run");
  absl::ParseCommandLine(argc, argv);
  const absl::Status s = bench::Run();
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << "bench/encryption/run: " << std::string(s.message()) << "\n";
  return EXIT_FAILURE;
}
