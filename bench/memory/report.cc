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

const std::vector<Figures>& Of(const SweepResults& results, uint64_t readahead,
                               const std::string& reads, std::string_view way) {
  return results.figures.at({readahead, reads, std::string(way)});
}

std::string TitleOf(const std::string& reads, uint64_t readahead) {
  return readahead == 0 ? reads : Concat(reads, ", readahead ", readahead, " KiB");
}

void AddPanel(const SweepResults& results, uint64_t readahead, const std::string& reads,
              std::string* script) {
  std::string plot;
  for (size_t i = 0; i < kWays.size(); ++i) {
    const std::string data = absl::StrFormat("$%s%d_%d", reads, i, readahead);
    absl::StrAppendFormat(script, "%s << EOD\n", data);
    const std::vector<Figures>& figures = Of(results, readahead, reads, kWays[i]);
    for (size_t k = 0; k < figures.size(); ++k) {
      absl::StrAppendFormat(script, "%g %g\n", results.ratios[k], figures[k].per_second);
    }
    *script += "EOD\n";
    absl::StrAppendFormat(
        &plot, "%s%s with linespoints pointtype 7 pointsize 0.5 linewidth 2 linecolor rgb '%s'",
        i == 0 ? "" : ", ", data, kColors[i]);
  }
  absl::StrAppendFormat(script, "set title \"%s\"\nplot %s\nunset label\n",
                        ChartText(TitleOf(reads, readahead)), plot);
}

// A line for each mode.
void PrintLines(const SweepResults& results, uint64_t readahead, const std::string& reads,
                std::string_view unit, int digits, double Figures::*figure) {
  for (const std::string_view way : kWays) {
    absl::PrintF("\n  %-26s", Concat(way, ", ", unit));
    for (const Figures& figures : Of(results, readahead, reads, way)) {
      absl::PrintF(" %10.*f", digits, figures.*figure);
    }
  }
}

std::string Script(const SweepResults& results, const std::string& path) {
  std::string script =
      BeginPage({.path = path,
                 .title = "Operations a second, by how many times the memory the data are\\n",
                 .panels = results.reads.size() * results.readaheads.size(),
                 .columns = std::min<size_t>(results.reads.size(), 4),
                 .panel_width = 270,
                 .panel_height = 240});
  for (size_t i = 0; i < kWays.size(); ++i) {
    absl::StrAppendFormat(
        &script, "set label \"%s\" at screen %.3f,0.935 center textcolor rgb '%s'\n", kWays[i],
        static_cast<double>(i + 1) / static_cast<double>(kWays.size() + 1), kColors[i]);
  }
  script +=
      "set logscale x 2\nset logscale y\nset yrange [*:*]\nset format y \"%.0s%c\"\n"
      "set format x \"%g\"\n";
  for (const uint64_t readahead : results.readaheads) {
    for (const std::string& reads : results.reads) AddPanel(results, readahead, reads, &script);
  }
  return Concat(script, kEndOfPage);
}

}  // namespace

std::vector<double> Slowdowns(const SweepResults& results, uint64_t readahead,
                              const std::string& reads) {
  std::vector<double> slowdowns;
  const std::vector<Figures>& figures = Of(results, readahead, reads, kWays[0]);
  for (size_t i = 0; i < figures.size(); ++i) {
    const double best = std::max(Of(results, readahead, reads, kWays[1])[i].per_second,
                                 Of(results, readahead, reads, kWays[2])[i].per_second);
    slowdowns.push_back(best / figures[i].per_second);
  }
  return slowdowns;
}

void PrintTables(const SweepResults& results) {
  for (const uint64_t readahead : results.readaheads) {
    for (const std::string& reads : results.reads) {
      absl::PrintF("%s\n  %-26s", TitleOf(reads, readahead), "data / memory");
      for (const double ratio : results.ratios) absl::PrintF(" %10g", ratio);
      PrintLines(results, readahead, reads, "a second", 0, &Figures::per_second);
      absl::PrintF("\n  %-26s", "better / default");
      for (const double slowdown : Slowdowns(results, readahead, reads)) {
        absl::PrintF(" %10.2f", slowdown);
      }
      PrintLines(results, readahead, reads, "us of CPU", 2, &Figures::cpu_micros);
      PrintLines(results, readahead, reads, "KiB of disk", 2, &Figures::disk_kilobytes);
      absl::PrintF("\n\n");
    }
  }
}

absl::Status WriteSweepJson(const SweepResults& results, const std::string& path) {
  std::ofstream file(path);
  for (const auto& [key, figures] : results.figures) {
    const auto& [readahead, reads, way] = key;
    for (size_t i = 0; i < figures.size(); ++i) {
      file << absl::StrFormat(
          "{\"readahead_kb\":%d,\"reads\":\"%s\",\"way\":\"%s\",\"data_to_memory\":%g,"
          "\"per_second\":%.9g,\"cpu_us\":%.9g,\"disk_kib\":%.9g}\n",
          readahead, reads, way, results.ratios[i], figures[i].per_second, figures[i].cpu_micros,
          figures[i].disk_kilobytes);
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
