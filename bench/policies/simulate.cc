// Simulates Fluid LSM trees (fluid.h) of each shape in a range, and prints a line of CSV for each:
//
//   simulate --size_ratios 2..10 --most_runs 1..9 --most_largest 1..9 --gigabytes 1000
//
// Shapes whose bounds are not below the size ratio are left out: they are others of the range.
#include <algorithm>
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
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

#include "bench/policies/fluid.h"
#include "bench/policies/simulator.h"
#include "common/flags.h"
#include "common/strings.h"

ABSL_FLAG(std::string, size_ratios, "10", "T: a number, or a range as 2..10; 2 to 100");
ABSL_FLAG(std::string, most_runs, "1..9", "K: runs of each level but the largest; 1 to 99");
ABSL_FLAG(std::string, most_largest, "1..9", "Z: runs of the largest level; 1 to 99");
ABSL_FLAG(uint64_t, gigabytes, 1000, "of rows that are written, 1 to 1,000,000");
ABSL_FLAG(uint64_t, rewritten, 1, "how many times each row is written: 1 (all are new) to 1,000");
ABSL_FLAG(uint64_t, memtable, 64, "MB of a flush, 1 to 100,000");
ABSL_FLAG(uint64_t, row_bytes, 1000, "bytes of a row, 10 to 1,000,000");

namespace {

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
  const uint64_t rewritten = absl::GetFlag(FLAGS_rewritten);
  const uint64_t memtable = absl::GetFlag(FLAGS_memtable);
  const uint64_t row_bytes = absl::GetFlag(FLAGS_row_bytes);
  for (const absl::Status& s : {bench::CheckRange("gigabytes", gigabytes, 1, 1'000'000),
                                bench::CheckRange("rewritten", rewritten, 1, 1'000),
                                bench::CheckRange("memtable", memtable, 1, 100'000),
                                bench::CheckRange("row_bytes", row_bytes, 10, 1'000'000)}) {
    if (!s.ok()) return s;
  }
  const uint64_t flush = memtable * 1'000'000;
  policies::SimulatedWorkload workload;
  workload.flush_size = flush;
  workload.rows_per_flush = flush / row_bytes;
  workload.bytes_per_row = static_cast<double>(row_bytes);
  workload.flushes = std::max<uint64_t>(gigabytes * 1'000'000'000 / flush, 1);
  if (rewritten > 1) workload.rows = gigabytes * 1'000'000'000 / row_bytes / rewritten;
  return workload;
}

absl::Status Run() {
  const absl::StatusOr<policies::SimulatedWorkload> workload = WorkloadFromFlags();
  if (!workload.ok()) return workload.status();
  const absl::StatusOr<Range> t =
      ParseRange("size_ratios", absl::GetFlag(FLAGS_size_ratios), 2, 100);
  const absl::StatusOr<Range> k = ParseRange("most_runs", absl::GetFlag(FLAGS_most_runs), 1, 99);
  const absl::StatusOr<Range> z =
      ParseRange("most_largest", absl::GetFlag(FLAGS_most_largest), 1, 99);
  for (const absl::Status& s : {t.status(), k.status(), z.status()}) {
    if (!s.ok()) return s;
  }
  absl::PrintF(
      "size_ratio,most_runs,most_largest,write_amplification,space_mean,space_end,runs_mean,"
      "runs_most,compactions\n");
  for (int ratio = t->first; ratio <= t->last; ++ratio) {
    for (int runs = k->first; runs <= std::min(k->last, ratio - 1); ++runs) {
      for (int largest = z->first; largest <= std::min(z->last, ratio - 1); ++largest) {
        policies::Fluid policy({ratio, runs, largest});
        const absl::StatusOr<policies::SimulationResult> result =
            policies::Simulate(*workload, &policy);
        if (!result.ok()) return result.status();
        absl::PrintF("%d,%d,%d,%.3f,%.3f,%.3f,%.2f,%d,%d\n", ratio, runs, largest,
                     result->write_amplification, result->mean_space, result->space,
                     result->mean_runs, result->most_runs, result->compactions);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Simulates Fluid LSM trees of each shape in a range, and prints CSV.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status s = Run();
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << "simulate: " << s.message() << "\n";
  return EXIT_FAILURE;
}
