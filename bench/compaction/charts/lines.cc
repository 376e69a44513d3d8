#include <algorithm>
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

struct LinePanel {
  std::string_view title;
  double Sample::*figure;
};
constexpr LinePanel kLinePanels[] = {
    {"write amplification", &Sample::write_amplification},
    {"space amplification", &Sample::space_amplification},
    {"sorted runs", &Sample::sorted_runs},
    {"blocks: read of a row", &Sample::read_amplification},
    {"CPU us: read of a row", &Sample::read_us},
    {"CPU us: row of a scan", &Sample::scan_row_us},
    {"CPU us: operation, all threads", &Sample::cpu_us_per_op},
    {"us: writes, 99.9% below", &Sample::write_p999_us},
    {"us: reads of a row, 99.9% below", &Sample::read_p999_us},
    {"us: scans, 99% below", &Sample::scan_p99_us},
};

// The samples of all repeats, but for the last, which is taken when quiet after the operations.
size_t LineSamples(const Repeats& repeats) {
  size_t samples = repeats.front()->samples.size();
  for (const RunResult* result : repeats) samples = std::min(samples, result->samples.size());
  return samples - 1;
}

Spread FigureAt(const Repeats& repeats, size_t sample, double Sample::*figure) {
  return SpreadOver(repeats, [&](const RunResult& r) { return r.samples[sample].*figure; });
}

// Operations in thousands, and mean and deviation of each panel's figure.
std::string LineData(const Repeats& repeats, size_t number) {
  std::string data = absl::StrFormat("$r%d << EOD\n", number);
  for (size_t i = 0; i < LineSamples(repeats); ++i) {
    absl::StrAppendFormat(&data, "%g", repeats.front()->samples[i].operations / 1e3);
    for (const LinePanel& panel : kLinePanels) {
      const Spread spread = FigureAt(repeats, i, panel.figure);
      data += Concat(" ", ChartNumber(spread.mean), " ", ChartNumber(spread.deviation));
    }
    data += "\n";
  }
  return data + "EOD\n";
}

Axis LineAxis(const std::vector<Repeats>& policies, const LinePanel& panel) {
  Axis axis;
  for (const Repeats& repeats : policies) {
    for (size_t i = 0; i < LineSamples(repeats); ++i) {
      const Spread spread = FigureAt(repeats, i, panel.figure);
      axis.Add(spread.mean);
      axis.Add(spread.mean + spread.deviation);
    }
  }
  return axis;
}

// The bars of a policy with repeats, and its line, with a marker at one sample in eight.
std::string PlotOf(const Repeats& repeats, size_t number, size_t panel) {
  constexpr size_t kMarkers = 8;
  const SeriesStyle style = StyleOf(number);
  const size_t column = 2 + 2 * panel;
  const size_t every = std::max<size_t>(1, LineSamples(repeats) / kMarkers);
  std::string plot;
  if (repeats.size() > 1) {
    plot = absl::StrFormat(
        "$r%d every %d using 1:%d:%d with yerrorbars pointtype %d pointsize 0.7 linecolor rgb "
        "'%s', ",
        number, every, column, column + 1, style.marker, style.color);
  }
  return plot + absl::StrFormat(
                    "$r%d using 1:%d with linespoints pointinterval %d pointtype %d pointsize 0.7 "
                    "linewidth 1.5 dashtype %d linecolor rgb '%s'",
                    number, column, every, style.marker, style.dash, style.color);
}

std::string PlotsOf(const std::vector<Repeats>& policies, size_t panel) {
  std::string plots = "plot ";
  for (size_t i = 0; i < policies.size(); ++i) {
    plots += Concat(i == 0 ? "" : ", ", PlotOf(policies[i], i, panel));
  }
  return plots + "\n";
}

}  // namespace

std::string LinesPage(const std::vector<Repeats>& policies, const std::string& path) {
  std::vector<Axis> axes;
  for (const LinePanel& panel : kLinePanels) axes.push_back(LineAxis(policies, panel));
  ChartPage page{.path = path,
                 .title = ChartText(policies.front().front()->workload) +
                          ", by thousands of operations (less is better)",
                 .panels = static_cast<size_t>(std::count_if(
                     axes.begin(), axes.end(), [](const Axis& axis) { return !axis.is_empty(); })),
                 .panel_width = 360,
                 .panel_height = 230};
  page.panels = std::max<size_t>(page.panels, 1);
  const Legend legend(PolicyNames(policies), &page);
  std::string script = BeginPage(page);
  for (size_t i = 0; i < policies.size(); ++i) script += LineData(policies[i], i);
  script += legend.Script(page);
  for (size_t panel = 0; panel < std::size(kLinePanels); ++panel) {
    if (axes[panel].is_empty()) continue;
    script += Concat("set title \"", kLinePanels[panel].title, "\"\n", axes[panel].Script('y'),
                     PlotsOf(policies, panel), kAfterLegend);
  }
  return Concat(script, kEndOfPage);
}

}  // namespace bench
