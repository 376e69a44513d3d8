#include "report.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_format.h"

#include "common/gnuplot.h"
#include "common/strings.h"
#include "common/table.h"
#include "subject.h"
#include "trial.h"

namespace bench {
namespace {

constexpr std::string_view kColors[] = {"#241f31", "#1a5fb4", "#c64600", "#2ec27e",
                                        "#9141ac", "#e5a50a", "#865e3c"};

constexpr int kLabelWidth = 31;

// Null if the way does not have these operations.
const std::vector<Figures>* Of(const SweepResults& results, uint64_t readahead,
                               const std::string& reads, const std::string& way) {
  const auto found = results.figures.find({readahead, reads, way});
  return found == results.figures.end() ? nullptr : &found->second;
}

bool HasWay(const SweepResults& results, std::string_view way) {
  return std::find(results.ways.begin(), results.ways.end(), way) != results.ways.end();
}

// The most operations a second among those ways that are peers, or that are not and are not the
// default either. Nothing if there are none.
std::optional<double> BestOthers(const SweepResults& results, uint64_t readahead,
                                 const std::string& reads, size_t ratio, bool are_peers) {
  std::optional<double> best;
  for (const std::string& way : results.ways) {
    if (way == kDefaultWay || IsPeer(way) != are_peers) continue;
    if (const std::vector<Figures>* figures = Of(results, readahead, reads, way)) {
      best = std::max(best.value_or(0), (*figures)[ratio].per_second);
    }
  }
  return best;
}

std::string TitleOf(const std::string& reads, uint64_t readahead) {
  return readahead == 0 ? reads : Concat(reads, ", readahead ", readahead, " KiB");
}

void AddPanel(const SweepResults& results, uint64_t readahead, const std::string& reads,
              std::string* script) {
  std::string plot;
  for (size_t i = 0; i < results.ways.size(); ++i) {
    const std::vector<Figures>* figures = Of(results, readahead, reads, results.ways[i]);
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
  if (plot.empty()) plot = "1/0";  // an empty panel
  absl::StrAppendFormat(script, "set title \"%s\"\nplot %s\nunset label\n",
                        ChartText(TitleOf(reads, readahead)), plot);
}

// Operations a second at one ratio. With peers, how many times as fast as the best of them, in all
// their ways, the default is.
void PrintRatio(const SweepResults& results, uint64_t readahead, size_t ratio) {
  const bool has_peers =
      HasWay(results, kDefaultWay) && std::any_of(results.ways.begin(), results.ways.end(), IsPeer);
  std::vector<std::string> header = {"a second"};
  header.insert(header.end(), results.ways.begin(), results.ways.end());
  if (has_peers) header.emplace_back("ratio");
  Table table(header);
  for (const std::string& reads : results.reads) {
    std::vector<std::string> line = {reads};
    for (const std::string& way : results.ways) {
      const std::vector<Figures>* figures = Of(results, readahead, reads, way);
      line.push_back(figures == nullptr ? ""
                                        : absl::StrFormat("%.0f", (*figures)[ratio].per_second));
    }
    if (has_peers) {
      const std::optional<double> best = BestOthers(results, readahead, reads, ratio, true);
      const std::vector<Figures>& figures =
          *Of(results, readahead, reads, std::string(kDefaultWay));
      line.push_back(best ? absl::StrFormat("%.2f", figures[ratio].per_second / *best) : "");
    }
    table.Add(line);
  }
  absl::PrintF(
      "%s\n\n%s\n",
      TitleOf(absl::StrFormat("data of %g times the memory", results.ratios[ratio]), readahead),
      table.Text());
}

// How many times slower the default is than the better of the other read modes, by ratio.
void PrintSlowdowns(const SweepResults& results, uint64_t readahead, const std::string& reads) {
  const std::vector<Figures>* figures = Of(results, readahead, reads, std::string(kDefaultWay));
  if (figures == nullptr || !BestOthers(results, readahead, reads, 0, false)) return;
  absl::PrintF("\n  %-*s", kLabelWidth, "better mode / default");
  for (size_t i = 0; i < figures->size(); ++i) {
    const std::optional<double> best = BestOthers(results, readahead, reads, i, false);
    absl::PrintF(" %10.2f", *best / (*figures)[i].per_second);
  }
}

// A line for each way.
void PrintLines(const SweepResults& results, uint64_t readahead, const std::string& reads,
                std::string_view unit, double Figures::*figure) {
  for (const std::string& way : results.ways) {
    const std::vector<Figures>* all = Of(results, readahead, reads, way);
    if (all == nullptr) continue;
    absl::PrintF("\n  %-*s", kLabelWidth, Concat(way, ", ", unit));
    for (const Figures& figures : *all) absl::PrintF(" %10.2f", figures.*figure);
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
  for (size_t i = 0; i < results.ways.size(); ++i) {
    absl::StrAppendFormat(&script,
                          "set label \"%s\" at screen %.3f,0.935 center textcolor rgb '%s'\n",
                          ChartText(results.ways[i]),
                          static_cast<double>(i + 1) / static_cast<double>(results.ways.size() + 1),
                          kColors[i % std::size(kColors)]);
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

void PrintTables(const SweepResults& results) {
  for (const uint64_t readahead : results.readaheads) {
    for (size_t i = 0; i < results.ratios.size(); ++i) PrintRatio(results, readahead, i);
    for (const std::string& reads : results.reads) {
      absl::PrintF("%s\n  %-*s", TitleOf(reads, readahead), kLabelWidth, "data / memory");
      for (const double ratio : results.ratios) absl::PrintF(" %10g", ratio);
      PrintSlowdowns(results, readahead, reads);
      PrintLines(results, readahead, reads, "us of CPU", &Figures::cpu_micros);
      PrintLines(results, readahead, reads, "KiB of disk", &Figures::disk_kilobytes);
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
