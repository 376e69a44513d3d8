#include "plot.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

#include "common/gnuplot.h"
#include "common/strings.h"

namespace bench {
namespace {

constexpr std::string_view kColors[] = {"#1a5fb4", "#c64600", "#9a9996"};

struct Chart {
  std::string_view file;
  std::string_view title;
  double Figures::*figure;
  double scale;    // a value is multiplied with this
  bool has_range;  // whether minimum and maximum are known
};
constexpr Chart kCharts[] = {
    {"operations", "thousand operations per second (more is better)", &Figures::ops_per_second,
     1e-3, true},
    {"cpu", "microseconds of CPU per operation, all threads (less is better)",
     &Figures::cpu_us_per_op, 1, false},
};

std::vector<std::string> BenchmarksIn(const std::vector<Summary>& summaries) {
  std::vector<std::string> names;
  for (const Summary& s : summaries) {
    if (names.empty() || names.back() != s.benchmark) names.push_back(s.benchmark);
  }
  return names;
}

// A panel: inline data, and the plot of it. Bars from 0, with the range of the rounds.
std::string Panel(const Chart& chart, const std::vector<Summary>& summaries,
                  const std::string& benchmark, size_t number) {
  std::string data;
  std::string ticks;
  size_t bar = 0;
  for (const Summary& s : summaries) {
    const double value = s.median.*chart.figure * chart.scale;
    if (s.benchmark != benchmark || std::isnan(value)) continue;
    const std::string_view color = kColors[std::min(bar, std::size(kColors) - 1)];
    const std::string rgb = absl::StrReplaceAll(std::string(color), {{"#", "0x"}});
    absl::StrAppendFormat(&data, "%d %g %g %g %s\n", bar, value,
                          chart.has_range ? s.ops_min * chart.scale : value,
                          chart.has_range ? s.ops_max * chart.scale : value, rgb);
    absl::StrAppendFormat(&ticks, "%s\"%s\" %d", bar == 0 ? "" : ", ", s.engine, bar);
    ++bar;
  }
  if (bar == 0) return "";
  std::string panel = absl::StrFormat("$p%d << EOD\n%sEOD\n", number, data);
  absl::StrAppendFormat(&panel, "set title \"%s\"\nset xtics (%s)\nset xrange [-0.6:%g]\n",
                        ChartText(benchmark), ticks, static_cast<double>(bar) - 0.4);
  absl::StrAppendFormat(&panel, "plot $p%d using 1:2:5 with boxes linecolor rgb variable", number);
  if (chart.has_range) {
    absl::StrAppendFormat(&panel,
                          ", $p%d using 1:2:3:4 with yerrorbars linecolor rgb '#303030' "
                          "pointtype 0",
                          number);
  }
  return panel + "\n";
}

std::string Script(const Chart& chart, const std::vector<Summary>& summaries,
                   std::string_view checking, const std::string& path) {
  const std::vector<std::string> benchmarks = BenchmarksIn(summaries);
  std::string script =
      BeginPage({.path = path,
                 .title = absl::StrFormat("%s, checking: %s", chart.title, ChartText(checking)),
                 .panels = benchmarks.size()});
  script += "set boxwidth 0.7\nset style fill solid noborder\n";
  for (size_t i = 0; i < benchmarks.size(); ++i) {
    script += Panel(chart, summaries, benchmarks[i], i);
  }
  return Concat(script, kEndOfPage);
}

}  // namespace

absl::Status WriteCharts(const std::vector<Summary>& summaries, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InvalidArgumentError(Concat(directory, ": ", error.message()));
  for (const Checking checking : {Checking::kDefault, Checking::kEveryRead}) {
    std::vector<Summary> of_checking;
    std::copy_if(summaries.begin(), summaries.end(), std::back_inserter(of_checking),
                 [&](const Summary& s) { return s.checking == checking; });
    if (of_checking.empty()) continue;
    const std::string_view name = CheckingName(checking);
    for (const Chart& chart : kCharts) {
      const std::string path = Concat(directory, "/", chart.file, "_", name, ".svg");
      if (absl::Status s = RunGnuplot(Script(chart, of_checking, name, path)); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

}  // namespace bench
