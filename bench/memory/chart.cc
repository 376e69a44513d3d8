#include "chart.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/str_format.h"

#include "common/gnuplot.h"
#include "common/strings.h"

namespace bench {
namespace {

constexpr std::string_view kColors[] = {"#241f31", "#1a5fb4", "#c64600", "#2ec27e",
                                        "#9141ac", "#e5a50a", "#865e3c"};
constexpr size_t kColumns = 4;    // of panels
constexpr int kPanelWidth = 270;  // pixels, as the next three
constexpr int kTitleHeight = 34;
constexpr int kNameWidth = 135;
constexpr int kNameHeight = 18;

void AddPanel(const SweepResults& results, uint64_t readahead, const std::string& reads,
              std::string* script) {
  std::string plot;
  for (size_t i = 0; i < results.ways.size(); ++i) {
    const std::vector<Figures>* figures = results.Of(readahead, reads, results.ways[i]);
    if (figures == nullptr) continue;
    const std::string data = absl::StrFormat("$%s%d_%d", reads, i, readahead);
    absl::StrAppendFormat(script, "%s << EOD\n", data);
    for (size_t k = 0; k < figures->size(); ++k) {
      absl::StrAppendFormat(script, "%g %g\n", results.ratios[k], (*figures)[k].per_second);
    }
    *script += "EOD\n";
    absl::StrAppendFormat(
        &plot, "%s%s with linespoints pointtype 7 pointsize 0.5 linewidth 2 linecolor rgb '%s'",
        plot.empty() ? "" : ", ", data, kColors[i % std::size(kColors)]);
  }
  absl::StrAppendFormat(script, "set title \"%s\"\nplot %s\nunset label\n",
                        ChartText(TitleOf(reads, readahead)), plot);
}

// The names of the ways, in as many rows below the title as they need.
class Legend {
 public:
  Legend(const SweepResults& results, size_t panels)
      : ways_(results.ways),
        in_row_(std::max<size_t>(2, std::min(panels, kColumns) * kPanelWidth / kNameWidth)) {}

  int height() const {
    return kNameHeight * static_cast<int>((ways_.size() + in_row_ - 1) / in_row_);
  }
  std::string Script(const ChartPage& page) const {
    const double in_row = static_cast<double>(std::min(in_row_, ways_.size()));
    std::string script;
    for (size_t i = 0; i < ways_.size(); ++i) {
      const double y = kTitleHeight + kNameHeight * static_cast<double>(i / in_row_);
      absl::StrAppendFormat(&script,
                            "set label \"%s\" at screen %.3f,%.3f center textcolor rgb '%s'\n",
                            ChartText(ways_[i]), (static_cast<double>(i % in_row_) + 0.5) / in_row,
                            1 - y / page.height(), kColors[i % std::size(kColors)]);
    }
    return script;
  }

 private:
  const std::vector<std::string>& ways_;
  const size_t in_row_;
};

std::string Script(const SweepResults& results, const std::string& path) {
  const size_t panels = results.reads.size() * results.readaheads.size();
  const size_t columns = std::min(results.reads.size(), kColumns);
  const Legend legend(results, columns);
  const ChartPage page = {.path = path,
                          .title = "Operations a second, by how many times the memory the data are",
                          .panels = panels,
                          .columns = columns,
                          .panel_width = kPanelWidth,
                          .panel_height = 240,
                          .legend_height = legend.height()};
  std::string script = BeginPage(page) + legend.Script(page);
  script +=
      "set logscale x 2\nset logscale y\nset yrange [*:*]\nset format y \"%.0s%c\"\n"
      "set format x \"%g\"\n";
  for (const uint64_t readahead : results.readaheads) {
    for (const std::string& reads : results.reads) AddPanel(results, readahead, reads, &script);
  }
  return Concat(script, kEndOfPage);
}

}  // namespace

absl::Status WriteChart(const SweepResults& results, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InvalidArgumentError(Concat(directory, ": ", error.message()));
  return RunGnuplot(Script(results, Concat(directory, "/memory.svg")));
}

}  // namespace bench
