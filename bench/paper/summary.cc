#include "summary.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "common/median.h"

namespace bench {
namespace {

// NaN is left out: a figure that was not measured has no median.
std::vector<double> Values(const std::vector<const Figures*>& rounds, double Figures::*figure) {
  std::vector<double> values;
  for (const Figures* f : rounds) {
    if (!std::isnan(f->*figure)) values.push_back(f->*figure);
  }
  return values;
}

// nullopt if there are no such results.
std::optional<Summary> SummarizeOne(const std::vector<EngineResult>& results,
                                    std::string_view benchmark, Checking checking,
                                    const std::string& engine) {
  std::vector<const Figures*> rounds;
  for (const EngineResult& r : results) {
    if (r.engine == engine && r.result.benchmark == benchmark && r.result.checking == checking) {
      rounds.push_back(&r.result.figures);
    }
  }
  if (rounds.empty()) return std::nullopt;
  Summary summary = {.benchmark = std::string(benchmark), .checking = checking, .engine = engine};
  for (const FigureName& f : kFigures) {
    summary.median.*f.figure = Median(Values(rounds, f.figure));
  }
  const std::vector<double> ops = Values(rounds, &Figures::ops_per_second);
  summary.ops_min = *std::min_element(ops.begin(), ops.end());
  summary.ops_max = *std::max_element(ops.begin(), ops.end());
  return summary;
}

}  // namespace

std::vector<Summary> Summarize(const std::vector<EngineResult>& results,
                               const std::vector<std::string>& engines) {
  std::vector<Summary> summaries;
  for (const std::string& benchmark : BenchmarkNames(true)) {
    for (const Checking checking : kCheckings) {
      for (const std::string& engine : engines) {
        std::optional<Summary> summary = SummarizeOne(results, benchmark, checking, engine);
        if (summary) summaries.push_back(*std::move(summary));
      }
    }
  }
  return summaries;
}

}  // namespace bench
