// What is measured of one file.
#ifndef BIGTABLE_BENCH_SSTABLE_FIGURES_H_
#define BIGTABLE_BENCH_SSTABLE_FIGURES_H_

#include <string_view>
#include <vector>

#include "absl/types/span.h"

#include "combination.h"
#include "common/spread.h"

namespace bench {

// Of random reads of single rows: microseconds for a read.
struct ReadFigures {
  double mean = 0;  // of all reads, timed together
  // Of reads that are timed one by one, the clock included.
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
};

struct Figures {
  double build_rows = 0;  // millions a second, with the sync of the file
  double build_mb = 0;    // of keys and values, a second
  double file_mb = 0;
  double row_bytes = 0;  // of the file
  double blocks = 0;
  double index_kb = 0;    // before compression
  double filter_kb = 0;   // or the row index
  double memory_kb = 0;   // of all that the reader keeps of an open file
  double first_scan = 0;  // millions of rows a second
  double scan = 0;
  ReadFigures get;
  // The share of the blocks of these reads that were found in the block cache, in percent; NaN if
  // none was looked up there, as for blocks that are read in place.
  double cache_hits = 0;
  ReadFigures missing;
  // The share of the missing rows that the filter did not exclude, in percent. For these a block
  // was read.
  double false_positives = 0;
};

// A figure as a column.
struct Column {
  std::string_view name;   // in the CSV
  std::string_view title;  // in tables and charts
  double (*value)(const Figures&);
  bool in_charts = false;  // the others say much the same, or do not depend on much
};
inline constexpr std::string_view kFalsePositives = "false_positives_percent";
absl::Span<const Column> FileColumns();  // of the file, its making and its scans
absl::Span<const Column> ReadColumns();  // of reads of single rows

// What was measured of a combination.
struct Result {
  Combination combination;
  std::vector<Figures> repeats;  // at least one

  // Of the repeats.
  Spread Of(const Column& column) const;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_SSTABLE_FIGURES_H_
