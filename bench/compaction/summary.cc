#include "summary.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "absl/strings/str_format.h"

#include "common/strings.h"

namespace bench {
namespace {

// The mean of the samples before the last one that have the figure.
double Mean(const RunResult& run, double Sample::*figure) {
  double sum = 0;
  double count = 0;
  for (size_t i = 0; i + 1 < run.samples.size(); ++i) {
    const double value = run.samples[i].*figure;
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? Sample::kNone : sum / count;
}

double Max(const RunResult& run, double Sample::*figure) {
  double most = 0;
  for (const Sample& sample : run.samples) most = std::max(most, sample.*figure);
  return most;
}

void PrintLine(const RunResult& run, bool is_first) {
  const Sample& end = run.samples.back();
  absl::PrintF(
      "%-15s %-17s %7.2f %7.2f %6.2f %6.2f %6.1f %5.0f %5.0f %8.2f %8.2f %8.3f %7.2f %7.2f\n",
      is_first ? run.workload : "", run.policy.Name(), end.write_amplification,
      end.space_amplification, Mean(run, &Sample::space_amplification),
      Max(run, &Sample::disk_bytes) / Max(run, &Sample::live_bytes),
      Mean(run, &Sample::sorted_runs), Max(run, &Sample::sorted_runs), end.sorted_runs,
      Mean(run, &Sample::read_us), Mean(run, &Sample::missing_read_us),
      Mean(run, &Sample::scan_row_us), end.cpu_us_per_op, end.stall_seconds);
}

}  // namespace

void PrintSummary(const std::vector<RunResult>& runs) {
  absl::PrintF("%-15s %-17s %7s %22s %19s %26s %7s %7s\n", "", "", "", "space", "sorted runs",
               "CPU us of reads", "CPU us", "");
  absl::PrintF("%-15s %-17s %7s %7s %6s %6s %6s %5s %5s %8s %8s %8s %7s %7s\n", "workload",
               "policy", "w.amp", "end", "mean", "peak", "mean", "most", "end", "row", "missing",
               "scanned", "per op", "stall s");
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool is_first = i == 0 || runs[i - 1].workload != runs[i].workload;
    if (is_first && i > 0) absl::PrintF("\n");
    PrintLine(runs[i], is_first);
  }
  absl::PrintF(
      "\nw.amp: bytes written to log and SSTables, for each byte of the user's. space: bytes of "
      "SSTables for each\nlive byte at quiet, and on average; at its peak, the whole directory to "
      "the most live bytes. sorted runs: on\naverage, at most, and at quiet. Reads: averages of "
      "the samples. CPU us per op: of all threads until quiet.\nstall s: for how long writers were "
      "held back.\n");
}

std::vector<std::string> MarkdownTable(const std::vector<RunResult>& runs) {
  std::vector<std::string> lines = {
      "| workload | policy | write amplification | space, at the end | space, mean | runs, mean | "
      "runs, maximum |",
      "|---|---|---|---|---|---|---|"};
  for (const RunResult& run : runs) {
    lines.push_back(absl::StrFormat(
        "| %s | %s | %.2f | %.2f | %.2f | %.1f | %.0f |", run.workload, run.policy.Name(),
        run.samples.back().write_amplification, run.samples.back().space_amplification,
        Mean(run, &Sample::space_amplification), Mean(run, &Sample::sorted_runs),
        Max(run, &Sample::sorted_runs)));
  }
  return lines;
}

absl::Status CheckDocumented(const std::vector<RunResult>& runs, const std::string& file) {
  std::set<std::string> documented;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) documented.insert(line);
  std::string missing;
  for (const std::string& line : MarkdownTable(runs)) {
    if (documented.count(line) == 0) missing += "\n" + line;
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(Concat(file, " does not have these lines:", missing));
}

}  // namespace bench
