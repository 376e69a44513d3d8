#include "report.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string_view>

#include "absl/strings/str_format.h"

#include "common/strings.h"
#include "paper/json.h"
#include "paper/result.h"
#include "spread.h"

namespace bench {
namespace {

constexpr int kNameWidth = 18;
constexpr int kCellWidth = 11;
constexpr int kLeastBlockWidth = 30;  // of its title and the space before

double WallMicroseconds(const Figures& f) { return 1e6 / f.ops_per_second; }
double CpuMicroseconds(const Figures& f) { return f.cpu_us_per_op; }

struct Block {
  std::string_view title;
  double (*figure)(const Figures& figures);
};
constexpr Block kBlocks[] = {
    {"microseconds an operation", WallMicroseconds},
    {"CPU microseconds", CpuMicroseconds},
};

const Summary* Find(const ScaleResults& results, std::string_view benchmark, uint64_t servers,
                    uint64_t tablets) {
  const std::string engine = SpreadName({.servers = static_cast<int>(servers), .tablets = tablets});
  const auto found = std::find_if(
      results.summaries.begin(), results.summaries.end(),
      [&](const Summary& s) { return s.benchmark == benchmark && s.engine == engine; });
  return found == results.summaries.end() ? nullptr : &*found;
}

std::vector<std::string> BenchmarksIn(const std::vector<Summary>& summaries) {
  std::vector<std::string> names;
  for (const Summary& s : summaries) {
    if (std::find(names.begin(), names.end(), s.benchmark) == names.end()) {
      names.push_back(s.benchmark);
    }
  }
  return names;
}

std::string Number(double value, int digits) {
  return std::isnan(value) ? "-" : absl::StrFormat("%.*f", digits, value);
}

// Each block of columns has one column for each number of servers.
void PrintHead(const ScaleResults& results, const std::string& benchmark, int indent) {
  absl::PrintF("%-*s", kNameWidth, benchmark);
  for (const Block& block : kBlocks) {
    absl::PrintF("%*s", indent + kCellWidth * static_cast<int>(results.servers.size()),
                 block.title);
  }
  absl::PrintF("\n%*s", kNameWidth, "tablets");
  for (size_t i = 0; i < std::size(kBlocks); ++i) {
    absl::PrintF("%*s", indent, "");
    for (const uint64_t servers : results.servers) {
      absl::PrintF("%*s", kCellWidth, Concat(servers, servers == 1 ? " server" : " servers"));
    }
  }
  absl::PrintF("\n");
}

void PrintBenchmark(const ScaleResults& results, const std::string& benchmark) {
  const int cells = kCellWidth * static_cast<int>(results.servers.size());
  const int indent = std::max(3, kLeastBlockWidth - cells);
  PrintHead(results, benchmark, indent);
  for (const uint64_t tablets : results.tablets) {
    absl::PrintF("%*d", kNameWidth, tablets);
    for (const Block& block : kBlocks) {
      absl::PrintF("%*s", indent, "");
      for (const uint64_t servers : results.servers) {
        const Summary* s = Find(results, benchmark, servers, tablets);
        absl::PrintF("%*s", kCellWidth, s == nullptr ? "-" : Number(block.figure(s->median), 2));
      }
    }
    absl::PrintF("\n");
  }
  absl::PrintF("\n");
}

void PrintPauses(const std::vector<PauseSummary>& pauses) {
  absl::PrintF("%-8s %40s %40s %8s %16s\n", "", "read, microseconds", "write, microseconds", "",
               "a change, ms");
  absl::PrintF("%-8s %9s %9s %9s %10s %9s %9s %9s %10s %8s %7s %8s\n", "changes", "p50", "p99",
               "p99.9", "longest", "p50", "p99", "p99.9", "longest", "changes", "p50", "longest");
  for (const PauseSummary& pause : pauses) {
    const PauseFigures& f = pause.figures;
    absl::PrintF("%-8s %9.1f %9.1f %9.1f %10.1f %9.1f %9.1f %9.1f %10.1f %8s %7s %8s\n",
                 ChangeName(pause.change), f.read_p50_us, f.read_p99_us, f.read_p999_us,
                 f.read_longest_us, f.write_p50_us, f.write_p99_us, f.write_p999_us,
                 f.write_longest_us, Number(f.changes, 0), Number(f.change_p50_us / 1e3, 1),
                 Number(f.change_longest_us / 1e3, 1));
  }
  absl::PrintF(
      "\nA reader and a writer, one operation of each every %d us, %d tablets on %d servers, a "
      "change every %d ms.\nPercentiles: medians of the rounds; longest: of all rounds.\n",
      absl::ToInt64Microseconds(kPausePeriod), kPauseTablets, kPauseServers,
      absl::ToInt64Milliseconds(kChangeInterval));
}

std::string JsonLine(const Summary& s, uint64_t servers, uint64_t tablets) {
  return absl::StrFormat(R"({"benchmark": "%s", "servers": %d, "tablets": %d)", s.benchmark,
                         servers, tablets) +
         JsonFigures(s) + "}\n";
}

std::string JsonLine(const PauseSummary& pause) {
  std::string line =
      absl::StrFormat(R"({"benchmark": "pauses", "change": "%s")", ChangeName(pause.change));
  for (const PauseFigureName& f : kPauseFigures) {
    const double value = pause.figures.*f.figure;
    if (!std::isnan(value)) absl::StrAppendFormat(&line, R"(, "%s": %.9g)", f.name, value);
  }
  return line + "}\n";
}

}  // namespace

void PrintTables(const ScaleResults& results) {
  const std::vector<std::string> benchmarks = BenchmarksIn(results.summaries);
  for (const std::string& benchmark : benchmarks) PrintBenchmark(results, benchmark);
  if (!benchmarks.empty()) {
    absl::PrintF(
        "Medians of the rounds. Microseconds of writes: until the last is acknowledged; CPU: of "
        "all threads, until quiet.\nIn scans an operation is a row.\n");
  }
  if (!benchmarks.empty() && !results.pauses.empty()) absl::PrintF("\n");
  if (!results.pauses.empty()) PrintPauses(results.pauses);
}

absl::Status WriteScaleJson(const ScaleResults& results, const std::string& path) {
  std::ofstream file(path, std::ios::trunc);
  for (const std::string& benchmark : BenchmarksIn(results.summaries)) {
    for (const uint64_t tablets : results.tablets) {
      for (const uint64_t servers : results.servers) {
        const Summary* s = Find(results, benchmark, servers, tablets);
        if (s != nullptr) file << JsonLine(*s, servers, tablets);
      }
    }
  }
  for (const PauseSummary& pause : results.pauses) file << JsonLine(pause);
  file.close();
  return file.good() ? absl::OkStatus() : absl::ErrnoToStatus(errno, path);
}

}  // namespace bench
