#include "report.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "absl/strings/str_format.h"

#include "common/gnuplot.h"
#include "common/strings.h"
#include "trial.h"

namespace bench {
namespace {

constexpr std::string_view kColors[] = {"#241f31", "#1a5fb4", "#c64600"};

const std::vector<double>& Of(const SweepResults& results, const std::string& reads,
                              std::string_view way) {
  return results.per_second.at({reads, std::string(way)});
}

std::string Script(const SweepResults& results, const std::string& path) {
  std::string script =
      BeginPage({.path = path,
                 .title = "Operations a second, by how many times the memory the data are\\n",
                 .panels = results.reads.size(),
                 .columns = 2,
                 .panel_width = 400,
                 .panel_height = 280});
  for (size_t i = 0; i < kWays.size(); ++i) {
    absl::StrAppendFormat(
        &script, "set label \"%s\" at screen %.3f,0.935 center textcolor rgb '%s'\n", kWays[i],
        static_cast<double>(i + 1) / static_cast<double>(kWays.size() + 1), kColors[i]);
  }
  script +=
      "set logscale x 2\nset logscale y\nset yrange [*:*]\nset format y \"%.0s%c\"\n"
      "set format x \"%g\"\n";
  for (const std::string& reads : results.reads) {
    std::string plot;
    for (size_t i = 0; i < kWays.size(); ++i) {
      absl::StrAppendFormat(&script, "$%s%d << EOD\n", reads, i);
      const std::vector<double>& figures = Of(results, reads, kWays[i]);
      for (size_t k = 0; k < figures.size(); ++k) {
        absl::StrAppendFormat(&script, "%g %g\n", results.ratios[k], figures[k]);
      }
      script += "EOD\n";
      absl::StrAppendFormat(
          &plot,
          "%s$%s%d with linespoints pointtype 7 pointsize 0.5 linewidth 2 linecolor rgb '%s'",
          i == 0 ? "" : ", ", reads, i, kColors[i]);
    }
    absl::StrAppendFormat(&script, "set title \"%s\"\nplot %s\nunset label\n", ChartText(reads),
                          plot);
  }
  return Concat(script, kEndOfPage);
}

}  // namespace

std::vector<double> Slowdowns(const SweepResults& results, const std::string& reads) {
  std::vector<double> slowdowns;
  const std::vector<double>& figures = Of(results, reads, kWays[0]);
  for (size_t i = 0; i < figures.size(); ++i) {
    const double best = std::max(Of(results, reads, kWays[1])[i], Of(results, reads, kWays[2])[i]);
    slowdowns.push_back(best / figures[i]);
  }
  return slowdowns;
}

void PrintTables(const SweepResults& results) {
  for (const std::string& reads : results.reads) {
    absl::PrintF("%s, operations a second\n  %-16s", reads, "data / memory");
    for (const double ratio : results.ratios) absl::PrintF(" %10g", ratio);
    for (const std::string_view way : kWays) {
      absl::PrintF("\n  %-16s", way);
      for (const double figure : Of(results, reads, way)) absl::PrintF(" %10.0f", figure);
    }
    absl::PrintF("\n  %-16s", "better / default");
    for (const double slowdown : Slowdowns(results, reads)) absl::PrintF(" %10.2f", slowdown);
    absl::PrintF("\n\n");
  }
}

absl::Status WriteSweepJson(const SweepResults& results, const std::string& path) {
  std::ofstream file(path);
  for (const std::string& reads : results.reads) {
    for (const std::string_view way : kWays) {
      for (size_t i = 0; i < results.ratios.size(); ++i) {
        file << absl::StrFormat(
            "{\"reads\":\"%s\",\"way\":\"%s\",\"data_to_memory\":%g,\"per_second\":%.9g}\n", reads,
            way, results.ratios[i], Of(results, reads, way)[i]);
      }
    }
  }
  file.close();
  return file ? absl::OkStatus() : absl::InternalError(Concat(path, ": cannot be written"));
}

absl::Status WriteChart(const SweepResults& results, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InvalidArgumentError(Concat(directory, ": ", error.message()));
  return RunGnuplot(Script(results, Concat(directory, "/memory.svg")));
}

}  // namespace bench
