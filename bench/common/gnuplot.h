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
  std::string path;  // of the file: SVG, or PDF if it ends in .pdf
  std::string title;
  size_t panels = 0;
  size_t columns = 3;
  int panel_width = 300;
  int panel_height = 240;
  // Pixels that are left free between the title and the panels. Then all panels have the same
  // margins, which have room for a label below.
  int legend_height = 0;

  size_t lines() const { return (panels + columns - 1) / columns; }
  int width() const;  // in pixels
  int height() const;
};

// The commands that begin a page, in the style of all charts. The panels' commands follow, and then
// kEndOfPage.
std::string BeginPage(const ChartPage& page);
inline constexpr std::string_view kEndOfPage = "unset multiplot\n";

// The characters that gnuplot does not print as they are in a string between double quotes.
std::string ChartQuoted(std::string_view text);

absl::Status RunGnuplot(const std::string& script);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_GNUPLOT_H_
