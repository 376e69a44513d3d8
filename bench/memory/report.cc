#include "report.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"

#include "common/strings.h"
#include "common/table.h"
#include "subject.h"
#include "trial.h"

namespace bench {
namespace {

constexpr int kLabelWidth = 31;

bool HasWay(const SweepResults& results, std::string_view way) {
  return std::find(results.ways.begin(), results.ways.end(), way) != results.ways.end();
}

// The most operations a second among those ways that are peers, or that are not and are another
// mode of reading than the default. Nothing if there are none.
std::optional<double> BestOthers(const SweepResults& results, uint64_t readahead,
                                 const std::string& reads, size_t ratio, bool are_peers) {
  std::optional<double> best;
  for (const std::string& way : results.ways) {
    if (way == kDefaultWay || way == kLargeBudgetWay || IsPeer(way) != are_peers) continue;
    if (const std::vector<Figures>* figures = results.Of(readahead, reads, way)) {
      best = std::max(best.value_or(0), (*figures)[ratio].per_second);
    }
  }
  return best;
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
      const std::vector<Figures>* figures = results.Of(readahead, reads, way);
      line.push_back(figures == nullptr ? ""
                                        : absl::StrFormat("%.0f", (*figures)[ratio].per_second));
    }
    if (has_peers) {
      const std::optional<double> best = BestOthers(results, readahead, reads, ratio, true);
      const std::vector<Figures>& figures = *results.Of(readahead, reads, std::string(kDefaultWay));
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
  const std::vector<Figures>* figures = results.Of(readahead, reads, std::string(kDefaultWay));
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
    const std::vector<Figures>* all = results.Of(readahead, reads, way);
    if (all == nullptr) continue;
    absl::PrintF("\n  %-*s", kLabelWidth, Concat(way, ", ", unit));
    for (const Figures& figures : *all) absl::PrintF(" %10.2f", figures.*figure);
  }
}

}  // namespace

const std::vector<Figures>* SweepResults::Of(uint64_t readahead, const std::string& kind,
                                             const std::string& way) const {
  const auto found = figures.find({readahead, kind, way});
  return found == figures.end() ? nullptr : &found->second;
}

std::string TitleOf(const std::string& text, uint64_t readahead) {
  return readahead == 0 ? text : Concat(text, ", readahead ", readahead, " KiB");
}

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

}  // namespace bench
