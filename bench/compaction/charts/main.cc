// Draws the charts of CSV files that bench/compaction/run --csv has written: bench/compaction/plot
// builds and starts it.
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/statusor.h"

#include "charts.h"
#include "compaction/read_csv.h"
#include "compaction/summary.h"

ABSL_FLAG(std::string, output, "", "directory to which the charts go");

namespace bench {
namespace {

int Main(const std::vector<char*>& files) {
  constexpr int kBadUsage = 2;
  const auto fail = [](const absl::Status& status) {
    std::cerr << "bench/compaction/plot: " << status.message() << "\n";
    return absl::IsInvalidArgument(status) ? kBadUsage : EXIT_FAILURE;
  };
  const std::string output = absl::GetFlag(FLAGS_output);
  if (output.empty()) return fail(absl::InvalidArgumentError("--output: must name a directory"));
  if (files.size() < 2) return fail(absl::InvalidArgumentError("must be called with a CSV file"));
  std::vector<RunResult> runs;
  for (size_t i = 1; i < files.size(); ++i) {
    absl::StatusOr<std::vector<RunResult>> read = ReadCsv(files[i]);
    if (!read.ok()) return fail(read.status());
    runs.insert(runs.end(), std::make_move_iterator(read->begin()),
                std::make_move_iterator(read->end()));
  }
  const absl::Status drawn = WriteCharts(runs, output);
  return drawn.ok() ? EXIT_SUCCESS : fail(drawn);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Charts of compaction policies. See bench/compaction/plot --help.");
  return bench::Main(absl::ParseCommandLine(argc, argv));
}
