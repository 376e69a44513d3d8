#include "charts.h"

#include <cmath>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"

#include "common/gnuplot.h"
#include "common/strings.h"
#include "pages.h"

namespace bench {
namespace {

absl::Status DrawWorkload(const std::vector<Repeats>& policies, const std::string& directory) {
  const std::string base = Concat(directory, "/", policies.front().front()->workload);
  for (const std::string_view ending : {".svg", ".pdf"}) {
    absl::Status s = RunGnuplot(LinesPage(policies, Concat(base, ending)));
    if (!s.ok()) return s;
    const std::string tradeoffs = TradeoffsPage(policies, Concat(base, "_tradeoffs", ending));
    if (tradeoffs.empty()) continue;
    if (s = RunGnuplot(tradeoffs); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> PolicyNames(const std::vector<Repeats>& policies) {
  std::vector<std::string> names;
  for (const Repeats& repeats : policies) names.push_back(repeats.front()->policy.Name());
  return names;
}

std::string ChartNumber(double value) {
  return std::isnan(value) ? "NaN" : absl::StrFormat("%g", value);
}

absl::Status WriteCharts(const std::vector<RunResult>& runs, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::InvalidArgumentError(Concat(directory, ": ", error.message()));
  std::vector<Repeats> left = GroupRepeats(runs);
  while (!left.empty()) {
    const std::string workload = left.front().front()->workload;
    std::vector<Repeats> policies;
    std::vector<Repeats> others;
    for (Repeats& repeats : left) {
      const bool is_of_it = repeats.front()->workload == workload;
      (is_of_it ? policies : others).push_back(std::move(repeats));
    }
    if (absl::Status s = DrawWorkload(policies, directory); !s.ok()) return s;
    left = std::move(others);
  }
  return absl::OkStatus();
}

}  // namespace bench
