// Simulates a compaction policy on a table of any size (simulator.h), and prints a line of CSV for
// each shape in a range:
//
//   simulate --size_ratios 2..10 --most_runs 1..9 --most_largest 1..9 --gigabytes 1000
//   simulate --policy lethe --deadline 60 --deletions 10 --rows 60000 --memtable 1 --file 1
//
// Shapes of `fluid` whose bounds are not below the size ratio are left out: they are others of the
// range.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
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
#include "absl/time/time.h"

#include "bench/policies/fluid.h"
#include "bench/policies/lethe.h"
#include "bench/policies/partial.h"
#include "bench/policies/simulator.h"
#include "common/flags.h"
#include "common/strings.h"

ABSL_FLAG(std::string, policy, "fluid",
          "fluid, round_robin, least_overlap, oldest, most_deleted or lethe (with least_overlap)");
ABSL_FLAG(std::string, size_ratios, "10", "T: a number, or a range as 2..10; 2 to 100");
ABSL_FLAG(std::string, most_runs, "1..9",
          "K of fluid: runs of each level but the largest; 1 to 99");
ABSL_FLAG(std::string, most_largest, "1..9", "Z of fluid: runs of the largest level; 1 to 99");
ABSL_FLAG(uint64_t, deadline, 60,
          "minutes until a deletion has taken effect, with lethe; 1 to 1e6");
ABSL_FLAG(uint64_t, gigabytes, 0, "of rows that are written, 1 to 1,000,000; 0: by --flushes");
ABSL_FLAG(uint64_t, flushes, 600, "of --memtable each, 1 to 1,000,000; one is a minute");
ABSL_FLAG(uint64_t, rows, 0, "that exist before and are written again, to 1e12; 0: all are new");
ABSL_FLAG(uint64_t, deletions, 0, "of a hundred writes, 0 to 50; only with --rows");
ABSL_FLAG(uint64_t, memtable, 64, "MB of a flush, 1 to 100,000");
ABSL_FLAG(uint64_t, file, 0, "MB of a file, 1 to 100,000; 0: a run is one file");
ABSL_FLAG(uint64_t, row_bytes, 1000, "bytes of a row, 10 to 1,000,000");

namespace {

constexpr uint64_t kMegabyte = 1'000'000;
constexpr uint64_t kGigabyte = 1'000'000'000;

struct Range {
  int first = 0;
  int last = 0;
};

absl::StatusOr<Range> ParseRange(std::string_view flag, const std::string& text, int least,
                                 int most) {
  Range range;
  const size_t dots = text.find("..");
  const std::string last = dots == std::string::npos ? text : text.substr(dots + 2);
  if (absl::SimpleAtoi(text.substr(0, dots), &range.first) && absl::SimpleAtoi(last, &range.last) &&
      range.first >= least && range.last <= most && range.first <= range.last) {
    return range;
  }
  return absl::InvalidArgumentError(bench::Concat("--", flag, " ", text, ": must be a number from ",
                                                  least, " to ", most, ", or a range of them"));
}

absl::StatusOr<policies::SimulatedWorkload> WorkloadFromFlags() {
  const uint64_t gigabytes = absl::GetFlag(FLAGS_gigabytes);
  const uint64_t flushes = absl::GetFlag(FLAGS_flushes);
  const uint64_t rows = absl::GetFlag(FLAGS_rows);
  const uint64_t deletions = absl::GetFlag(FLAGS_deletions);
  const uint64_t memtable = absl::GetFlag(FLAGS_memtable);
  const uint64_t file = absl::GetFlag(FLAGS_file);
  const uint64_t row_bytes = absl::GetFlag(FLAGS_row_bytes);
  for (const absl::Status& s : {bench::CheckRange("gigabytes", gigabytes, 0, 1'000'000),
                                bench::CheckRange("flushes", flushes, 1, 1'000'000),
                                bench::CheckRange("rows", rows, 0, 1'000'000'000'000),
                                bench::CheckRange("deletions", deletions, 0, rows == 0 ? 0 : 50),
                                bench::CheckRange("memtable", memtable, 1, 100'000),
                                bench::CheckRange("file", file, 0, 100'000),
                                bench::CheckRange("row_bytes", row_bytes, 10, 1'000'000)}) {
    if (!s.ok()) return s;
  }
  constexpr double kDeletion = 50;
  policies::SimulatedWorkload workload;
  workload.rows = rows;
  workload.begins_full = rows > 0;
  workload.deletions = static_cast<double>(deletions) / 100;
  workload.flush_size = memtable * kMegabyte;
  workload.rows_per_flush = std::max<uint64_t>(workload.flush_size / row_bytes, 1);
  workload.bytes_per_row = static_cast<double>(row_bytes);
  workload.bytes_per_deletion = kDeletion;
  workload.flushes =
      gigabytes == 0 ? flushes : std::max<uint64_t>(gigabytes * kGigabyte / workload.flush_size, 1);
  workload.file_size = file * kMegabyte;
  workload.time_per_flush = absl::Minutes(1);
  return workload;
}

// A policy, and the columns that name it.
struct Subject {
  std::string name;
  int size_ratio = 0;
  int most_runs = 1;
  int most_largest = 1;
  std::unique_ptr<bigtable::CompactionPolicy> policy;
};

absl::Status AddFluid(int size_ratio, std::vector<Subject>* subjects) {
  const absl::StatusOr<Range> k = ParseRange("most_runs", absl::GetFlag(FLAGS_most_runs), 1, 99);
  if (!k.ok()) return k.status();
  const absl::StatusOr<Range> z =
      ParseRange("most_largest", absl::GetFlag(FLAGS_most_largest), 1, 99);
  if (!z.ok()) return z.status();
  for (int runs = k->first; runs <= std::min(k->last, size_ratio - 1); ++runs) {
    for (int largest = z->first; largest <= std::min(z->last, size_ratio - 1); ++largest) {
      subjects->push_back(
          {"fluid", size_ratio, runs, largest,
           std::make_unique<policies::Fluid>(policies::FluidShape{size_ratio, runs, largest})});
    }
  }
  return absl::OkStatus();
}

absl::Status AddSubjects(const std::string& name, int size_ratio, std::vector<Subject>* subjects) {
  using policies::FileChoice;
  if (name == "fluid") return AddFluid(size_ratio, subjects);
  FileChoice choice = FileChoice::kLeastOverlap;
  if (name == "round_robin") {
    choice = FileChoice::kRoundRobin;
  } else if (name == "oldest") {
    choice = FileChoice::kOldest;
  } else if (name == "most_deleted") {
    choice = FileChoice::kMostDeleted;
  } else if (name != "least_overlap" && name != "lethe") {
    return absl::InvalidArgumentError(
        bench::Concat("--policy ", name, ": must be fluid, round_robin, least_overlap, oldest, ",
                      "most_deleted or lethe"));
  }
  std::unique_ptr<bigtable::CompactionPolicy> policy =
      std::make_unique<policies::PartialLeveling>(size_ratio, choice);
  if (name == "lethe") {
    const uint64_t deadline = absl::GetFlag(FLAGS_deadline);
    if (absl::Status s = bench::CheckRange("deadline", deadline, 1, 1'000'000); !s.ok()) return s;
    policy =
        std::make_unique<policies::Lethe>(std::move(policy), absl::Minutes(deadline), size_ratio);
  }
  subjects->push_back({name, size_ratio, 1, 1, std::move(policy)});
  return absl::OkStatus();
}

absl::Status Run() {
  const absl::StatusOr<policies::SimulatedWorkload> workload = WorkloadFromFlags();
  if (!workload.ok()) return workload.status();
  const absl::StatusOr<Range> ratios =
      ParseRange("size_ratios", absl::GetFlag(FLAGS_size_ratios), 2, 100);
  if (!ratios.ok()) return ratios.status();
  std::vector<Subject> subjects;
  for (int ratio = ratios->first; ratio <= ratios->last; ++ratio) {
    if (absl::Status s = AddSubjects(absl::GetFlag(FLAGS_policy), ratio, &subjects); !s.ok()) {
      return s;
    }
  }
  absl::PrintF(
      "policy,size_ratio,most_runs,most_largest,write_amplification,space_mean,space_end,runs_mean,"
      "runs_most,compactions,oldest_deletion_minutes\n");
  for (const Subject& subject : subjects) {
    const absl::StatusOr<policies::SimulationResult> result =
        policies::Simulate(*workload, subject.policy.get());
    if (!result.ok()) return result.status();
    absl::PrintF("%s,%d,%d,%d,%.3f,%.3f,%.3f,%.2f,%d,%d,%.0f\n", subject.name, subject.size_ratio,
                 subject.most_runs, subject.most_largest, result->write_amplification,
                 result->mean_space, result->space, result->mean_runs, result->most_runs,
                 result->compactions, absl::ToDoubleMinutes(result->oldest_deletion));
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Simulates compaction policies, and prints CSV. See simulate.cc.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status s = Run();
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << "simulate: " << s.message() << "\n";
  return EXIT_FAILURE;
}
