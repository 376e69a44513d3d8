// How the policies of a page are told apart: colours, markers and dashes, and the legend.
#ifndef BIGTABLE_BENCH_COMPACTION_CHARTS_SERIES_H_
#define BIGTABLE_BENCH_COMPACTION_CHARTS_SERIES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/gnuplot.h"

namespace bench {

// Seven colours that people with a colour blindness tell apart (Okabe and Ito, 2008), fifteen
// markers, and three dashes. So the first fifteen differ by their markers alone, as in a black and
// white print, and the first 105 somehow.
struct SeriesStyle {
  std::string_view color;
  int marker;  // gnuplot's pointtype
  int dash;    // gnuplot's dashtype
};
SeriesStyle StyleOf(size_t series);

// The policies' names with their lines and markers, in as many rows as they need for the width of
// the page. Sets the page's legend_height, and makes its panels wider if a name needs it.
class Legend {
 public:
  Legend(std::vector<std::string> names, ChartPage* page);

  // Labels and arrows, after BeginPage. They are drawn with the next panel: `kAfterLegend` follows
  // it.
  std::string Script(const ChartPage& page) const;

 private:
  const std::vector<std::string> names_;
  size_t columns_ = 1;
};
inline constexpr std::string_view kAfterLegend = "unset label\nunset arrow\n";

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_CHARTS_SERIES_H_
