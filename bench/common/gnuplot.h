// Charts, drawn by gnuplot.
#ifndef BIGTABLE_BENCH_COMMON_GNUPLOT_H_
#define BIGTABLE_BENCH_COMMON_GNUPLOT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace bench {

// A name for a chart: gnuplot prints the character after an underscore as a subscript.
std::string ChartText(std::string_view name);

// A page of `panels` panels, `columns` in a row.
struct ChartPage {
  std::string path;  // of the SVG file
  std::string title;
  size_t panels = 0;
  size_t columns = 3;
  int panel_width = 300;
  int panel_height = 240;
};

// The commands that begin a page, in the style of all charts. The panels' commands follow, and then
// kEndOfPage.
std::string BeginPage(const ChartPage& page);
inline constexpr std::string_view kEndOfPage = "unset multiplot\n";

absl::Status RunGnuplot(const std::string& script);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_GNUPLOT_H_
