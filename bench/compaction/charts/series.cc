#include "series.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"

namespace bench {
namespace {

constexpr std::string_view kColors[] = {"#0072b2", "#d55e00", "#009e73", "#000000",
                                        "#cc79a7", "#56b4e9", "#e69f00"};
constexpr int kMarkers[] = {7, 5, 9, 13, 11, 15, 6, 4, 8, 12, 10, 14, 2, 1, 3};
constexpr int kDashes[] = {1, 2, 4};

// Pixels.
constexpr int kRowHeight = 18;
constexpr int kLineWidth = 34;
constexpr int kGap = 20;
constexpr int kCharacterWidth = 8;  // an upper bound, on average
constexpr int kTitleHeight = 30;

}  // namespace

SeriesStyle StyleOf(size_t series) {
  return {kColors[series % std::size(kColors)], kMarkers[series % std::size(kMarkers)],
          kDashes[series / std::size(kColors) % std::size(kDashes)]};
}

Legend::Legend(std::vector<std::string> names, ChartPage* page) : names_(std::move(names)) {
  size_t longest = 0;
  for (const std::string& name : names_) longest = std::max(longest, name.size());
  const int entry = kLineWidth + kGap + kCharacterWidth * static_cast<int>(longest);
  const int panels = static_cast<int>(std::min(page->panels, page->columns));
  page->panel_width = std::max(page->panel_width, (entry + panels - 1) / panels);
  columns_ = std::min(names_.size(), static_cast<size_t>(page->width() / entry));
  const size_t rows = (names_.size() + columns_ - 1) / columns_;
  page->legend_height = kRowHeight * static_cast<int>(rows);
}

std::string Legend::Script(const ChartPage& page) const {
  const double width = page.width();
  const double height = page.height();
  const double entry = width / static_cast<double>(columns_);
  std::string script;
  for (size_t i = 0; i < names_.size(); ++i) {
    const SeriesStyle style = StyleOf(i);
    const double left = entry * static_cast<double>(i % columns_) + kGap / 2.0;
    const double y =
        1 - (kTitleHeight + kRowHeight * (static_cast<double>(i / columns_) + 0.5)) / height;
    absl::StrAppendFormat(&script,
                          "set arrow from screen %.4f,%.4f to screen %.4f,%.4f nohead linewidth 2 "
                          "dashtype %d linecolor rgb '%s'\n",
                          left / width, y, (left + kLineWidth) / width, y, style.dash, style.color);
    absl::StrAppendFormat(&script,
                          "set label \"\" at screen %.4f,%.4f point pointtype %d linecolor rgb "
                          "'%s'\n",
                          (left + kLineWidth / 2.0) / width, y, style.marker, style.color);
    absl::StrAppendFormat(&script, "set label \"%s\" at screen %.4f,%.4f left noenhanced\n",
                          ChartQuoted(names_[i]), (left + kLineWidth + 6) / width, y);
  }
  return script;
}

}  // namespace bench
