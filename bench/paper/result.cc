#include "result.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include "common/strings.h"

namespace bench {

bool IsPaperBenchmark(std::string_view name) {
  return std::find(kPaperBenchmarks.begin(), kPaperBenchmarks.end(), name) !=
         kPaperBenchmarks.end();
}

std::vector<std::string> BenchmarkNames(bool with_requested) {
  std::vector<std::string> names(kPaperBenchmarks.begin(), kPaperBenchmarks.end());
  names.insert(names.end(), kExtraBenchmarks.begin(), kExtraBenchmarks.end());
  if (with_requested) {
    names.insert(names.end(), kRequestedBenchmarks.begin(), kRequestedBenchmarks.end());
  }
  return names;
}

bool IsBenchmark(std::string_view name) {
  const std::vector<std::string> names = BenchmarkNames(true);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view CheckingName(Checking checking) {
  return checking == Checking::kDefault ? "default" : "every_read";
}

std::string ToLine(const Result& result) {
  std::string line = Concat(result.benchmark, " ", CheckingName(result.checking));
  for (const FigureName& figure : kFigures) {
    const double value = result.figures.*figure.figure;
    if (!std::isnan(value)) absl::StrAppendFormat(&line, " %s=%.9g", figure.name, value);
  }
  return line;
}

absl::StatusOr<Result> FromLine(std::string_view line) {
  const absl::Status bad = absl::InternalError(Concat("not a result: ", line));
  const std::vector<std::string> words = Split(line, ' ');
  if (words.size() < 2 || !IsBenchmark(words[0])) return bad;
  Result result;
  result.benchmark = words[0];
  if (words[1] == CheckingName(Checking::kEveryRead)) {
    result.checking = Checking::kEveryRead;
  } else if (words[1] != CheckingName(Checking::kDefault)) {
    return bad;
  }
  for (size_t i = 2; i < words.size(); ++i) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    const auto figure = std::find_if(kFigures.begin(), kFigures.end(),
                                     [&](const FigureName& f) { return f.name == pair.first; });
    if (figure == kFigures.end() ||
        !absl::SimpleAtod(pair.second, &(result.figures.*figure->figure))) {
      return bad;
    }
  }
  return result;
}

}  // namespace bench
