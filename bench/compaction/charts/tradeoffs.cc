#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "absl/strings/str_format.h"

#include "axis.h"
#include "common/gnuplot.h"
#include "common/strings.h"
#include "pages.h"
#include "series.h"

namespace bench {
namespace {

struct TradeoffPanel {
  std::string_view title;
  double (*of)(const RunResult&);
};
constexpr TradeoffPanel kTradeoffPanels[] = {
    {"space amplification, mean",
     [](const RunResult& r) { return MeanOfSamples(r, &Sample::space_amplification); }},
    {"sorted runs, mean",
     [](const RunResult& r) { return MeanOfSamples(r, &Sample::sorted_runs); }},
    {"blocks: read of a row",
     [](const RunResult& r) { return MeanOfSamples(r, &Sample::read_amplification); }},
    {"CPU us: row of a scan",
     [](const RunResult& r) { return MeanOfSamples(r, &Sample::scan_row_us); }},
    {"us: writes, 99% below", [](const RunResult& r) { return r.samples.back().write_p99_us; }},
    {"us: writes, 99.99% below",
     [](const RunResult& r) { return r.samples.back().write_p9999_us; }},
    {"us: reads of a row, 99% below",
     [](const RunResult& r) { return r.samples.back().read_p99_us; }},
    {"us: scans, 99% below", [](const RunResult& r) { return r.samples.back().scan_p99_us; }},
};

double WriteAmplification(const RunResult& result) {
  return result.samples.back().write_amplification;
}

// A deviation that a bar can have: none is drawn as one of no length.
double BarOf(const Spread& spread) { return std::isnan(spread.deviation) ? 0 : spread.deviation; }

// The values at both ends of the bars of all policies.
template <typename Figure>
Axis AxisOf(const std::vector<Repeats>& policies, const Figure& figure) {
  Axis axis;
  for (const Repeats& repeats : policies) {
    const Spread spread = SpreadOver(repeats, figure);
    axis.Add(spread.mean - BarOf(spread));
    axis.Add(spread.mean + BarOf(spread));
  }
  return axis;
}

// A point for each policy.
std::string PointsOf(const std::vector<Repeats>& policies, size_t panel) {
  std::string data;
  std::string plot = "plot ";
  for (size_t i = 0; i < policies.size(); ++i) {
    const Spread x = SpreadOver(policies[i], WriteAmplification);
    const Spread y = SpreadOver(policies[i], kTradeoffPanels[panel].of);
    const SeriesStyle style = StyleOf(i);
    absl::StrAppendFormat(&data, "$p%d_%d << EOD\n%s %s %g %g\nEOD\n", panel, i,
                          ChartNumber(x.mean), ChartNumber(y.mean), BarOf(x), BarOf(y));
    absl::StrAppendFormat(&plot,
                          "%s$p%d_%d using 1:2%s pointtype %d pointsize 1.2 linewidth 1.2 "
                          "linecolor rgb '%s'",
                          i == 0 ? "" : ", ", panel, i,
                          policies[i].size() > 1 ? ":3:4 with xyerrorbars" : " with points",
                          style.marker, style.color);
  }
  return Concat(data, plot, "\n");
}

}  // namespace

std::string TradeoffsPage(const std::vector<Repeats>& policies, const std::string& path) {
  const Axis writes = AxisOf(policies, WriteAmplification);
  if (writes.is_empty()) return "";
  std::vector<Axis> axes;
  for (const TradeoffPanel& panel : kTradeoffPanels) axes.push_back(AxisOf(policies, panel.of));
  ChartPage page{.path = path,
                 .title = ChartText(policies.front().front()->workload) +
                          ", by write amplification (below and to the left is better)",
                 .panels = static_cast<size_t>(std::count_if(
                     axes.begin(), axes.end(), [](const Axis& axis) { return !axis.is_empty(); })),
                 .panel_width = 360,
                 .panel_height = 260};
  page.panels = std::max<size_t>(page.panels, 1);
  const Legend legend(PolicyNames(policies), &page);
  std::string script = Concat(BeginPage(page), writes.Script('x'),
                              "set grid xtics linecolor rgb '#d0d0d0'\n", legend.Script(page));
  for (size_t panel = 0; panel < std::size(kTradeoffPanels); ++panel) {
    if (axes[panel].is_empty()) continue;
    script += Concat("set title \"", kTradeoffPanels[panel].title, "\"\n", axes[panel].Script('y'),
                     PointsOf(policies, panel), kAfterLegend);
  }
  return Concat(script, kEndOfPage);
}

}  // namespace bench
