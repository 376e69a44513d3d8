#include "figures.h"

namespace bench {
namespace {

constexpr Column kFileColumns[] = {
    {"build_mrows_s", "build, M rows/s", [](const Figures& f) { return f.build_rows; }, true},
    {"build_mb_s", "build, MB/s", [](const Figures& f) { return f.build_mb; }},
    {"file_mb", "file, MB", [](const Figures& f) { return f.file_mb; }},
    {"row_bytes", "bytes a row", [](const Figures& f) { return f.row_bytes; }, true},
    {"blocks", "blocks", [](const Figures& f) { return f.blocks; }},
    {"index_kb", "index, KB", [](const Figures& f) { return f.index_kb; }},
    {"filter_kb", "filter, KB", [](const Figures& f) { return f.filter_kb; }},
    {"memory_kb", "in memory, KB", [](const Figures& f) { return f.memory_kb; }, true},
    {"first_scan_mrows_s", "first scan, M rows/s", [](const Figures& f) { return f.first_scan; }},
    {"scan_mrows_s", "scan, M rows/s", [](const Figures& f) { return f.scan; }, true},
};

constexpr Column kReadColumns[] = {
    {"get_us", "get, µs", [](const Figures& f) { return f.get.mean; }, true},
    {"get_p50_us", "get p50", [](const Figures& f) { return f.get.p50; }},
    {"get_p99_us", "get p99", [](const Figures& f) { return f.get.p99; }, true},
    {"get_p999_us", "get p99.9", [](const Figures& f) { return f.get.p999; }},
    {"cache_hits_percent", "cache hits, %", [](const Figures& f) { return f.cache_hits; }, true},
    {"missing_us", "get missing, µs", [](const Figures& f) { return f.missing.mean; }, true},
    {"missing_p50_us", "missing p50", [](const Figures& f) { return f.missing.p50; }},
    {"missing_p99_us", "missing p99", [](const Figures& f) { return f.missing.p99; }, true},
    {"missing_p999_us", "missing p99.9", [](const Figures& f) { return f.missing.p999; }},
    {kFalsePositives, "false positives, %", [](const Figures& f) { return f.false_positives; },
     true},
};

}  // namespace

absl::Span<const Column> FileColumns() { return kFileColumns; }

absl::Span<const Column> ReadColumns() { return kReadColumns; }

Spread Result::Of(const Column& column) const {
  std::vector<double> values;
  for (const Figures& figures : repeats) values.push_back(column.value(figures));
  return SpreadOf(values);
}

}  // namespace bench
