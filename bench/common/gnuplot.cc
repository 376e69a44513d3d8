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

std::string BeginPage(const ChartPage& page) {
  const size_t columns = std::min(page.panels, page.columns);
  const size_t lines = (page.panels + page.columns - 1) / page.columns;
  return absl::StrFormat(
      "set terminal svg size %d,%d font 'sans-serif,12' background rgb 'white'\n"
      "set output \"%s\"\n"
      "set multiplot layout %d,%d title \"%s\"\n"
      "unset key\nset yrange [0:*]\nset grid ytics linecolor rgb '#d0d0d0'\n"
      "set border 3\nset tics nomirror\n",
      page.panel_width * static_cast<int>(columns),
      60 + page.panel_height * static_cast<int>(lines),
      absl::StrReplaceAll(page.path, {{"\\", "\\\\"}, {"\"", "\\\""}}), lines, columns, page.title);
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
