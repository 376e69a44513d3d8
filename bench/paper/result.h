// The benchmarks by name, and the figures of one.
#ifndef BIGTABLE_BENCH_PAPER_RESULT_H_
#define BIGTABLE_BENCH_PAPER_RESULT_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "engine.h"

namespace bench {

// Section 7 of the paper.
inline constexpr std::array<std::string_view, 6> kPaperBenchmarks = {
    "sequential_writes", "random_writes",    "random_reads",
    "sequential_reads",  "random_reads_mem", "scans"};
// Two threads at once, and both kinds of operations at once.
inline constexpr std::array<std::string_view, 3> kExtraBenchmarks = {"random_reads_2", "writes_2",
                                                                     "read_while_writing"};

// More threads: only if they are requested.
inline constexpr std::array<std::string_view, 2> kRequestedBenchmarks = {"writes_4", "writes_8"};

// Of a benchmark of several writers: how many there are; 0: it is another one.
inline uint64_t WritersOf(std::string_view benchmark) {
  constexpr std::string_view kPrefix = "writes_";
  if (!benchmark.starts_with(kPrefix)) return 0;
  return static_cast<uint64_t>(benchmark[kPrefix.size()] - '0');
}

// All of the above, or those that a run without a list of names has.
std::vector<std::string> BenchmarkNames(bool with_requested);
bool IsBenchmark(std::string_view name);
bool IsPaperBenchmark(std::string_view name);

// "default", "every_read"
std::string_view CheckingName(Checking checking);

// NaN: not measured. Plain value.
struct Figures {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double ops_per_second = kNone;  // read_while_writing: of the reader
  double cpu_us_per_op = kNone;  // over all threads, until quiet; read_while_writing: any operation
  double p50_us = kNone;
  double p99_us = kNone;
  double p999_us = kNone;
  double write_amplification = kNone;
  double space_bytes = kNone;
  double rss_anon_bytes = kNone;
  double rss_bytes = kNone;
  double settle_seconds =
      kNone;  // from the last write until quiet; reads: from opening until quiet

  // Including the time until quiet; for the benchmarks that write.
  double settled_ops_per_second = kNone;
  // The writer in read_while_writing.
  double writes_per_second = kNone;
  double write_p50_us = kNone;
  double write_p99_us = kNone;
  double write_p999_us = kNone;
};

struct FigureName {
  std::string_view name;
  double Figures::*figure;
};
// ops_per_second is the first.
inline constexpr std::array<FigureName, 15> kFigures = {{
    {"ops_per_second", &Figures::ops_per_second},
    {"cpu_us_per_op", &Figures::cpu_us_per_op},
    {"p50_us", &Figures::p50_us},
    {"p99_us", &Figures::p99_us},
    {"p999_us", &Figures::p999_us},
    {"write_amplification", &Figures::write_amplification},
    {"space_bytes", &Figures::space_bytes},
    {"rss_anon_bytes", &Figures::rss_anon_bytes},
    {"rss_bytes", &Figures::rss_bytes},
    {"settle_seconds", &Figures::settle_seconds},
    {"settled_ops_per_second", &Figures::settled_ops_per_second},
    {"writes_per_second", &Figures::writes_per_second},
    {"write_p50_us", &Figures::write_p50_us},
    {"write_p99_us", &Figures::write_p99_us},
    {"write_p999_us", &Figures::write_p999_us},
}};

// One benchmark of one engine in one round. Plain value.
struct Result {
  std::string benchmark;
  Checking checking = Checking::kDefault;
  Figures figures;
};

// As one line of text without its end, and back: the message of a child process to its parent.
std::string ToLine(const Result& result);
absl::StatusOr<Result> FromLine(std::string_view line);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_RESULT_H_
