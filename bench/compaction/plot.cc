#include "plot.h"

#include <cmath>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "absl/strings/str_format.h"

#include "common/gnuplot.h"
#include "common/strings.h"

namespace bench {
namespace {

constexpr std::string_view kColors[] = {"#1a5fb4", "#c64600", "#26a269", "#9a9996",
                                        "#813d9c", "#a51d2d", "#e5a50a", "#241f31"};

struct Panel {
  std::string_view title;
  double Sample::*figure;
};
constexpr Panel kPanels[] = {
    {"write amplification", &Sample::write_amplification},
    {"space amplification", &Sample::space_amplification},
    {"sorted runs", &Sample::sorted_runs},
    {"CPU us: read of a row", &Sample::read_us},
    {"CPU us: row of a scan", &Sample::scan_row_us},
    {"CPU us: operation, all threads", &Sample::cpu_us_per_op},
};

// Operations in thousands and the figures of all panels, a line for each sample but the last, which
// is taken when quiet after the operations.
std::string Data(const RunResult& run, size_t number) {
  std::string data = absl::StrFormat("$r%d << EOD\n", number);
  for (size_t i = 0; i + 1 < run.samples.size(); ++i) {
    absl::StrAppendFormat(&data, "%g", run.samples[i].operations / 1e3);
    for (const Panel& panel : kPanels) {
      const double value = run.samples[i].*panel.figure;
      data += std::isnan(value) ? " NaN" : absl::StrFormat(" %g", value);
    }
    data += "\n";
  }
  return data + "EOD\n";
}

std::string_view ColorOf(size_t run) { return kColors[run % std::size(kColors)]; }

// The policies' names in the colours of their lines, in an empty line of the page's title. A key
// would cover lines, or would be as narrow as a panel.
std::string Legend(const std::vector<const RunResult*>& runs) {
  std::string legend;
  const double width = 1.0 / static_cast<double>(runs.size() + 1);
  for (size_t i = 0; i < runs.size(); ++i) {
    absl::StrAppendFormat(
        &legend, "set label \"%s\" at screen %.3f,0.935 center textcolor rgb '%s'\n",
        ChartText(runs[i]->policy.Name()), width * static_cast<double>(i + 1), ColorOf(i));
  }
  return legend;
}

std::string Script(const std::vector<const RunResult*>& runs, const std::string& path) {
  std::string script = BeginPage({.path = path,
                                  .title = ChartText(runs.front()->workload) +
                                           ", by thousands of operations (less is better)\\n",
                                  .panels = std::size(kPanels),
                                  .panel_width = 360});
  for (size_t i = 0; i < runs.size(); ++i) script += Data(*runs[i], i);
  script += Legend(runs);
  for (size_t panel = 0; panel < std::size(kPanels); ++panel) {
    absl::StrAppendFormat(&script, "set title \"%s\"\nplot ", kPanels[panel].title);
    for (size_t i = 0; i < runs.size(); ++i) {
      absl::StrAppendFormat(&script, "%s$r%d using 1:%d with lines linewidth 2 linecolor rgb '%s'",
                            i == 0 ? "" : ", ", i, panel + 2, ColorOf(i));
    }
    script += "\nunset label\n";
  }
  return Concat(script, kEndOfPage);
}

}  // namespace

absl::Status WriteCharts(const std::vector<RunResult>& runs, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InvalidArgumentError(Concat(directory, ": ", error.message()));
  for (size_t i = 0; i < runs.size();) {
    std::vector<const RunResult*> of_workload;
    const std::string& workload = runs[i].workload;
    for (; i < runs.size() && runs[i].workload == workload; ++i) of_workload.push_back(&runs[i]);
    const std::string path = Concat(directory, "/", workload, ".svg");
    if (absl::Status s = RunGnuplot(Script(of_workload, path)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace bench
