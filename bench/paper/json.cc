#include "json.h"

#include <cerrno>
#include <cmath>
#include <fstream>
#include <string_view>

#include "absl/strings/str_format.h"

namespace bench {
namespace {

std::string JsonNumber(double value) {
  return std::isnan(value) ? "null" : absl::StrFormat("%.9g", value);
}

// A figure that only some benchmarks measure.
bool IsExtraFigure(std::string_view name) {
  return name == "settled_ops_per_second" || name.starts_with("write_p") ||
         name == "writes_per_second";
}

}  // namespace

std::string JsonFigures(const Summary& s) {
  std::string members;
  for (const FigureName& f : kFigures) {
    const double value = s.median.*f.figure;
    if (IsExtraFigure(f.name) && (std::isnan(value) || IsPaperBenchmark(s.benchmark))) continue;
    absl::StrAppendFormat(&members, R"(, "%s": %s)", f.name, JsonNumber(value));
    if (f.figure == &Figures::ops_per_second) {
      absl::StrAppendFormat(&members, R"(, "ops_min": %s, "ops_max": %s)", JsonNumber(s.ops_min),
                            JsonNumber(s.ops_max));
    }
  }
  return members;
}

absl::Status WriteJson(const std::vector<Summary>& summaries, const std::string& path) {
  std::ofstream file(path, std::ios::trunc);
  for (const Summary& s : summaries) {
    file << absl::StrFormat(R"({"benchmark": "%s", "engine": "%s", "checksums": "%s")", s.benchmark,
                            s.engine, CheckingName(s.checking))
         << JsonFigures(s) << "}\n";
  }
  file.close();
  return file.good() ? absl::OkStatus() : absl::ErrnoToStatus(errno, path);
}

}  // namespace bench
