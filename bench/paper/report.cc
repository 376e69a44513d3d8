#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_format.h"

namespace bench {
namespace {

constexpr std::string_view kOurs = "bigtable";

std::string Number(double value, int digits) {
  return std::isnan(value) ? "-" : absl::StrFormat("%.*f", digits, value);
}

// 1234567 as 1,234,567
std::string Count(double value) {
  std::string digits = absl::StrFormat("%.0f", value);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string Megabytes(double bytes) { return Number(bytes / 1e6, 0); }

bool IsSameBenchmark(const Summary& a, const Summary& b) {
  return a.benchmark == b.benchmark && a.checking == b.checking;
}

// The compared figure: for several writers it includes the time until quiet.
double Throughput(const Summary& s) {
  return WritersOf(s.benchmark) > 0 ? s.median.settled_ops_per_second : s.median.ops_per_second;
}

// The ratio to the best peer in the same benchmark; "" for a peer, or if there is none.
std::string Ratio(const std::vector<Summary>& summaries, const Summary& summary) {
  if (summary.engine != kOurs) return "";
  double best = 0;
  for (const Summary& s : summaries) {
    if (s.engine != kOurs && IsSameBenchmark(s, summary)) best = std::max(best, Throughput(s));
  }
  return best == 0 ? "" : absl::StrFormat("%.2f", Throughput(summary) / best);
}

void PrintLine(const std::vector<Summary>& summaries, const Summary& s, bool is_first) {
  const Figures& f = s.median;
  absl::PrintF("%-18s %-10s  %-8s %11s %24s %6s %7s %8s %8s %8s %6s %6s %6s %6s %7s\n",
               is_first ? s.benchmark : "", is_first ? CheckingName(s.checking) : "", s.engine,
               Count(f.ops_per_second),
               absl::StrFormat("%s - %s", Count(s.ops_min), Count(s.ops_max)), Ratio(summaries, s),
               Number(f.cpu_us_per_op, 2), Number(f.p50_us, 2), Number(f.p99_us, 2),
               Number(f.p999_us, 2), Number(f.write_amplification, 2), Megabytes(f.space_bytes),
               Megabytes(f.rss_anon_bytes), Megabytes(f.rss_bytes), Number(f.settle_seconds, 2));
}

// Prints the figures of the benchmarks of several threads for which the table has no columns.
void PrintThreads(const std::vector<Summary>& summaries) {
  for (const Summary& s : summaries) {
    const auto one_thread = [&](std::string_view benchmark) {
      const auto found = std::find_if(summaries.begin(), summaries.end(), [&](const Summary& o) {
        return o.benchmark == benchmark && o.checking == s.checking && o.engine == s.engine;
      });
      return found == summaries.end() ? nullptr : &*found;
    };
    const Figures& f = s.median;
    if (s.benchmark == "random_reads_2") {
      const Summary* one = one_thread("random_reads");
      if (one == nullptr) continue;
      absl::PrintF("%-8s two readers have %.2f times the throughput of one (checking: %s)\n",
                   s.engine, f.ops_per_second / one->median.ops_per_second,
                   CheckingName(s.checking));
    } else if (const uint64_t writers = WritersOf(s.benchmark); writers > 0) {
      absl::PrintF("%-8s %d writers, with the time until quiet: %s/s", s.engine, writers,
                   Count(f.settled_ops_per_second));
      const Summary* one = one_thread("random_writes");
      if (one != nullptr) {
        absl::PrintF(", %.2f times the throughput of one (%s/s)",
                     f.settled_ops_per_second / one->median.settled_ops_per_second,
                     Count(one->median.settled_ops_per_second));
      }
      absl::PrintF("\n");
    } else if (s.benchmark == "read_while_writing") {
      absl::PrintF(
          "%-8s the writer with the reader: %s/s, p50 %.2f us, p99 %.2f us, "
          "p99.9 %.2f us\n",
          s.engine, Count(f.writes_per_second), f.write_p50_us, f.write_p99_us, f.write_p999_us);
    }
  }
}

}  // namespace

void PrintTable(const std::vector<Summary>& summaries) {
  absl::PrintF("%-18s %-10s  %-8s %11s %24s %6s %7s %8s %8s %8s %6s %6s %6s %6s %7s\n", "benchmark",
               "checking", "engine", "ops/s", "min - max", "ratio", "CPU us", "p50 us", "p99 us",
               "p99.9 us", "w.amp", "disk", "anon", "RSS", "settle");
  for (size_t i = 0; i < summaries.size(); ++i) {
    const bool is_first = i == 0 || !IsSameBenchmark(summaries[i - 1], summaries[i]);
    if (is_first && i > 0) absl::PrintF("\n");
    PrintLine(summaries, summaries[i], is_first);
  }
  absl::PrintF(
      "\nMedians of the rounds. ratio: bigtable to the best peer (writes_N: with the time until "
      "quiet).\nCPU us: of all threads until quiet, an operation; in read_while_writing of reads "
      "and writes alike, and\nops/s and latencies are the reader's. disk, anon (anonymous memory), "
      "RSS: MB of 10^6 bytes, at quiet.\nsettle: seconds from the last write until quiet; of reads "
      "from opening until quiet.\n\n");
  PrintThreads(summaries);
}

}  // namespace bench
