#include "common/gnuplot.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

#include "common/strings.h"

namespace bench {

std::string ChartText(std::string_view name) {
  return absl::StrReplaceAll(ToAbsl(name), {{"_", " "}});
}

int ChartPage::width() const { return panel_width * static_cast<int>(std::min(panels, columns)); }

int ChartPage::height() const {
  constexpr int kTitle = 60;
  return kTitle + legend_height + panel_height * static_cast<int>(lines());
}

namespace {

// Which is a file of vectors in both cases, in the same proportions.
std::string Terminal(const ChartPage& page) {
  constexpr std::string_view kPdf = ".pdf";
  if (page.path.size() < kPdf.size() ||
      page.path.compare(page.path.size() - kPdf.size(), kPdf.size(), kPdf) != 0) {
    return absl::StrFormat("svg size %d,%d font 'sans-serif,12' background rgb 'white'",
                           page.width(), page.height());
  }
  constexpr double kPixelsPerInch = 96;  // so 12 pixels are 9 points
  return absl::StrFormat("pdfcairo size %.3fin,%.3fin font 'sans-serif,9' background rgb 'white'",
                         page.width() / kPixelsPerInch, page.height() / kPixelsPerInch);
}

// The margins of the panels, if there is room for a legend above them.
std::string Margins(const ChartPage& page) {
  if (page.legend_height == 0) return "";
  constexpr double kLeft = 58;
  constexpr double kRight = 14;
  constexpr double kBottom = 46;
  constexpr double kTop = 70;  // of the page's title and the panel's
  constexpr double kBetween = 72;
  const double width = page.width();
  const double height = page.height();
  return absl::StrFormat(" margins screen %.4f,%.4f,%.4f,%.4f spacing screen %.4f,%.4f",
                         kLeft / width, 1 - kRight / width, kBottom / height,
                         1 - (kTop + page.legend_height) / height, (kLeft + kRight) / width,
                         kBetween / height);
}

}  // namespace

std::string BeginPage(const ChartPage& page) {
  return absl::StrFormat(
      "set terminal %s\n"
      "set output \"%s\"\n"
      "set multiplot layout %d,%d%s title \"%s\"\n"
      "unset key\nset yrange [0:*]\nset grid ytics linecolor rgb '#d0d0d0'\n"
      "set border 3\nset tics nomirror\n",
      Terminal(page), ChartQuoted(page.path), page.lines(), std::min(page.panels, page.columns),
      Margins(page), page.title);
}

std::string ChartQuoted(std::string_view text) {
  return absl::StrReplaceAll(ToAbsl(text), {{"\\", "\\\\"}, {"\"", "\\\""}});
}

absl::Status RunGnuplot(const std::string& script) {
  FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) return absl::ErrnoToStatus(errno, "gnuplot");
  const bool written = std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
  const int status = pclose(gnuplot);
  if (!written || status != 0) {
    return absl::InternalError(Concat("gnuplot failed with status ", status));
  }
  return absl::OkStatus();
}

}  // namespace bench
