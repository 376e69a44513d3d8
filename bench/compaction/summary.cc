#include "summary.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <span>

#include "absl/strings/str_format.h"

#include "common/spread.h"
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

double MostRuns(const RunResult& run) { return Max(run, &Sample::sorted_runs); }
double PeakSpace(const RunResult& run) {
  return Max(run, &Sample::disk_bytes) / Max(run, &Sample::live_bytes);
}

template <double Sample::*figure>
double AtEnd(const RunResult& run) {
  return run.samples.back().*figure;
}
template <double Sample::*figure>
double MeanOf(const RunResult& run) {
  return Mean(run, figure);
}

struct Figure {
  int width;
  int precision;
  bool is_in_markdown;
  double (*of)(const RunResult&);
};
// In the order of the columns.
constexpr Figure kFigures[] = {
    {7, 2, true, AtEnd<&Sample::write_amplification>},
    {7, 2, true, AtEnd<&Sample::space_amplification>},
    {6, 2, true, MeanOf<&Sample::space_amplification>},
    {6, 2, false, PeakSpace},
    {6, 1, true, MeanOf<&Sample::sorted_runs>},
    {5, 0, true, MostRuns},
    {5, 0, false, AtEnd<&Sample::sorted_runs>},
    {8, 2, false, MeanOf<&Sample::read_us>},
    {8, 2, false, MeanOf<&Sample::missing_read_us>},
    {8, 3, false, MeanOf<&Sample::scan_row_us>},
    {7, 2, false, AtEnd<&Sample::cpu_us_per_op>},
    {7, 2, false, AtEnd<&Sample::stall_seconds>},
};

// Not empty.
using Repeats = std::span<const RunResult>;

std::vector<Repeats> GroupRepeats(const std::vector<RunResult>& runs) {
  std::vector<Repeats> groups;
  for (size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    for (end = begin + 1; end < runs.size() && runs[end].repeat.number > 0;) ++end;
    groups.emplace_back(runs.data() + begin, end - begin);
  }
  return groups;
}

Spread SpreadOf(Repeats repeats, const Figure& figure) {
  std::vector<double> values;
  for (const RunResult& run : repeats) values.push_back(figure.of(run));
  return bench::SpreadOf(values);
}

// "-" for a figure that is not available.
std::string Text(double value, int precision) {
  return std::isnan(value) ? "-" : absl::StrFormat("%.*f", precision, value);
}

void PrintLines(Repeats repeats, bool is_first) {
  std::string means;
  std::string deviations;
  for (const Figure& figure : kFigures) {
    const Spread spread = SpreadOf(repeats, figure);
    absl::StrAppendFormat(&means, " %*s", figure.width, Text(spread.mean, figure.precision));
    // Small figures: a digit more.
    absl::StrAppendFormat(&deviations, " %*s", figure.width,
                          Text(spread.deviation, figure.precision + 1));
  }
  const RunResult& run = repeats.front();
  absl::PrintF("%-15s %-17s%s\n", is_first ? run.workload : "", run.policy.Name(), means);
  if (repeats.size() > 1) absl::PrintF("%-15s %-17s%s\n", "", "  deviation", deviations);
}

}  // namespace

void PrintSummary(const std::vector<RunResult>& runs) {
  absl::PrintF("%-15s %-17s %7s %22s %19s %26s %7s %7s\n", "", "", "", "space", "sorted runs",
               "CPU us of reads", "CPU us", "");
  absl::PrintF("%-15s %-17s %7s %7s %6s %6s %6s %5s %5s %8s %8s %8s %7s %7s\n", "workload",
               "policy", "w.amp", "end", "mean", "peak", "mean", "most", "end", "row", "missing",
               "scanned", "per op", "stall s");
  std::string last;
  for (const Repeats repeats : GroupRepeats(runs)) {
    const std::string& workload = repeats.front().workload;
    if (!last.empty() && workload != last) absl::PrintF("\n");
    PrintLines(repeats, workload != last);
    last = workload;
  }
  absl::PrintF(
      "\nw.amp: bytes written to log and SSTables, for each byte of the user's. space: bytes of "
      "SSTables for each\nlive byte at quiet, and on average; at its peak, the whole directory to "
      "the most live bytes. sorted runs: on\naverage, at most, and at quiet. Reads: averages of "
      "the samples. CPU us per op: of all threads until quiet.\nstall s: for how long writers were "
      "held back. deviation: the standard deviation of the repeats.\n");
}

std::vector<std::string> MarkdownTable(const std::vector<RunResult>& runs) {
  std::vector<std::string> lines = {
      "| workload | policy | write amplification | space, at the end | space, mean | runs, mean | "
      "runs, maximum |",
      "|---|---|---|---|---|---|---|"};
  for (const Repeats repeats : GroupRepeats(runs)) {
    const RunResult& run = repeats.front();
    std::string line = absl::StrFormat("| %s | %s |", run.workload, run.policy.Name());
    for (const Figure& figure : kFigures) {
      if (!figure.is_in_markdown) continue;
      const Spread spread = SpreadOf(repeats, figure);
      absl::StrAppendFormat(&line, " %s", Text(spread.mean, figure.precision));
      if (repeats.size() > 1 && !std::isnan(spread.mean)) {
        absl::StrAppendFormat(&line, " ± %s", Text(spread.deviation, figure.precision + 1));
      }
      line += " |";
    }
    lines.push_back(line);
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
