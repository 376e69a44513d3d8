#include "plot.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>

#include "absl/strings/str_format.h"

#include "bench/candidates/engine_filters.h"
#include "common/gnuplot.h"
#include "common/strings.h"
#include "report.h"

namespace bench {
namespace {

constexpr std::string_view kColors[] = {"#1a5fb4", "#c64600", "#26a269", "#9a9996",
                                        "#813d9c", "#a51d2d", "#e5a50a", "#241f31"};

// One line of a chart, or one point.
struct Series {
  std::string label;
  std::vector<const Result*> results;  // by ascending x
};

struct Page {
  std::string name;  // of the file, without .svg
  std::string x_title;
  std::function<double(const Result&)> x;
  std::vector<Series> series;
  bool is_bits = false;  // x is the bits of the filter
};

// The range of the values on an axis.
struct Axis {
  double least = HUGE_VAL;
  double most = -HUGE_VAL;

  void Add(double value) {
    if (std::isnan(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  bool empty() const { return least > most; }
  // Where one value is so much smaller that it would lie on a linear axis' end.
  bool IsLogarithmic() const { return least > 0 && most >= 8 * least; }
};

// The columns of which some result has a value.
std::vector<Column> Panels(const std::vector<Result>& results) {
  std::vector<Column> panels;
  for (const absl::Span<const Column> columns : {FileColumns(), ReadColumns()}) {
    for (const Column& column : columns) {
      Axis axis;
      for (const Result& result : results) axis.Add(result.Of(column).mean);
      if (column.in_charts && !axis.empty()) panels.push_back(column);
    }
  }
  return panels;
}

// x, the means and the deviations of all panels, a line for each result.
std::string Data(const Page& page, const Series& series, size_t number,
                 const std::vector<Column>& panels) {
  const auto text = [](double value) {
    return std::isnan(value) ? " NaN" : absl::StrFormat(" %g", value);
  };
  std::string data = absl::StrFormat("$s%d << EOD\n", number);
  for (const Result* result : series.results) {
    data += text(page.x(*result));
    for (const Column& panel : panels) {
      const Spread spread = result->Of(panel);
      data += text(spread.mean) + text(spread.deviation);
    }
    data += "\n";
  }
  return data + "EOD\n";
}

std::string StyleOf(size_t series) {
  return absl::StrFormat("linewidth 2 pointtype %d linecolor rgb '%s'",
                         5 + 2 * (series / std::size(kColors)),
                         kColors[series % std::size(kColors)]);
}
constexpr std::string_view kTheoryStyle = "lines dashtype 2 linecolor rgb 'black'";

// What theory says of the engine's filter, for each number of bits on the axis.
std::string TheoryData(const Axis& bits) {
  std::string data = "$theory << EOD\n";
  for (int i = static_cast<int>(bits.least); i <= static_cast<int>(bits.most); ++i) {
    absl::StrAppendFormat(&data, "%d %g\n", i, 100 * candidates::EngineBloom(i).ExpectedRate());
  }
  return data + "EOD\n";
}

std::string PanelCommands(const Page& page, const Column& panel, size_t column, bool has_theory,
                          bool has_deviations) {
  Axis y;
  for (const Series& series : page.series) {
    for (const Result* result : series.results) {
      // Zero has no place on a logarithmic axis; the others have.
      if (const double mean = result->Of(panel).mean; mean > 0) y.Add(mean);
    }
  }
  std::string commands = absl::StrFormat("set title \"%s\"\n%s\n", panel.title,
                                         y.IsLogarithmic() ? "set logscale y\nset yrange [*:*]"
                                                           : "unset logscale y\nset yrange [0:*]");
  commands += "plot ";
  for (size_t i = 0; i < page.series.size(); ++i) {
    if (i > 0) commands += ", ";
    absl::StrAppendFormat(&commands, "$s%d using 1:%d with linespoints %s", i, column, StyleOf(i));
    if (!has_deviations) continue;
    absl::StrAppendFormat(&commands, ", $s%d using 1:%d:%d with yerrorbars %s", i, column,
                          column + 1, StyleOf(i));
  }
  if (has_theory) commands += Concat(", $theory using 1:2 with ", kTheoryStyle);
  return commands + "\n";
}

// The names of all series, in a panel of their own: a key in a panel would cover its lines.
std::string Legend(const Page& page, bool has_theory) {
  std::string commands =
      "unset logscale\nunset xlabel\nunset title\nunset border\nunset tics\nunset grid\n"
      "set key center center reverse Left\nplot [0:1] [0:1] ";
  for (size_t i = 0; i < page.series.size(); ++i) {
    absl::StrAppendFormat(&commands, "%s2 with linespoints %s title \"%s\"", i == 0 ? "" : ", ",
                          StyleOf(i), ChartText(page.series[i].label));
  }
  if (has_theory) commands += Concat(", 2 with ", kTheoryStyle, " title \"in theory\"");
  return commands + "\n";
}

// With some room on both sides, where gnuplot would go on to the next power or round number.
std::string XAxis(const Axis& x, const std::string& title) {
  constexpr double kRoom = 1.2;
  constexpr double kMostOfPowersOfTwo = 256;
  std::string commands = absl::StrFormat("set xlabel \"%s\"\n", title);
  if (!x.IsLogarithmic()) {
    const double room = std::max((x.most - x.least) / 20, x.most / 100);
    return commands + absl::StrFormat("set xrange [%g:%g]\n", x.least - room, x.most + room);
  }
  return commands + absl::StrFormat("set logscale x %d\nset xrange [%g:%g]\n",
                                    x.most <= kMostOfPowersOfTwo * x.least ? 2 : 10,
                                    x.least / kRoom, x.most * kRoom);
}

std::string Script(const Page& page, const std::vector<Result>& results, const std::string& path) {
  const std::vector<Column> panels = Panels(results);
  size_t widest = 0;
  Axis x;
  for (const Series& series : page.series) {
    widest = std::max(widest, series.label.size());
    for (const Result* result : series.results) x.Add(page.x(*result));
  }
  constexpr size_t kColumns = 4;
  std::string script =
      BeginPage({.path = path,
                 .title = Concat("by ", page.x_title),
                 .panels = panels.size() + 1,
                 .columns = kColumns,
                 .panel_width = std::max(360, 80 + 7 * static_cast<int>(widest)),
                 .panel_height = std::max(240, 60 + 19 * static_cast<int>(page.series.size()))});
  for (size_t i = 0; i < page.series.size(); ++i) script += Data(page, page.series[i], i, panels);
  if (page.is_bits) script += TheoryData(x);
  script += XAxis(x, page.x_title);
  const bool has_deviations = results.front().repeats.size() > 1;
  bool has_theory = false;
  for (size_t i = 0; i < panels.size(); ++i) {
    const bool of_theory = page.is_bits && panels[i].name == kFalsePositives;
    has_theory = has_theory || of_theory;
    script += PanelCommands(page, panels[i], 2 + 2 * i, of_theory, has_deviations);
  }
  return Concat(script, Legend(page, has_theory), kEndOfPage);
}

// A line for each combination of the arguments other than `parameter`. Results without an effect of
// it are left out.
Page PageBy(const Parameter& parameter, const std::vector<Parameter>& swept,
            const std::vector<Result>& results) {
  std::vector<Parameter> others;
  for (const Parameter& other : swept) {
    if (other.name != parameter.name) others.push_back(other);
  }
  const auto x = [&parameter](const Result& result) {
    return static_cast<double>(result.combination.*parameter.number);
  };
  Page page{.name = Concat("by_", parameter.name),
            .x_title = std::string(parameter.unit),
            .x = x,
            .series = {},
            .is_bits = parameter.number == &Combination::bits};
  for (const Result& result : results) {
    if (x(result) == 0) continue;
    const std::string label = Label(result.combination, others);
    auto series = std::find_if(page.series.begin(), page.series.end(),
                               [&](const Series& s) { return s.label == label; });
    if (series == page.series.end()) {
      series = page.series.insert(series, Series{.label = label, .results = {}});
    }
    series->results.push_back(&result);
  }
  for (Series& series : page.series) {
    std::sort(series.results.begin(), series.results.end(),
              [&](const Result* a, const Result* b) { return x(*a) < x(*b); });
  }
  return page;
}

Page PageByFileSize(const std::vector<Parameter>& swept, const std::vector<Result>& results) {
  Page page{.name = "by_file_size",
            .x_title = "MB of the file",
            .x = [](const Result& result) { return result.repeats.front().file_mb; },
            .series = {}};
  for (const Result& result : results) {
    page.series.push_back({.label = Label(result.combination, swept), .results = {&result}});
  }
  return page;
}

}  // namespace

absl::Status WriteCharts(const std::vector<Result>& results, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InvalidArgumentError(Concat(directory, ": ", error.message()));
  std::vector<Combination> combinations;
  for (const Result& result : results) combinations.push_back(result.combination);
  const std::vector<Parameter> swept = SweptParameters(combinations);
  std::vector<Page> pages = {PageByFileSize(swept, results)};
  for (const Parameter& parameter : swept) {
    if (parameter.number != nullptr) pages.push_back(PageBy(parameter, swept, results));
  }
  for (const Page& page : pages) {
    const std::string path = Concat(directory, "/", page.name, ".svg");
    if (absl::Status s = RunGnuplot(Script(page, results, path)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace bench
