// The figures of a table at a time in a workload, and their line of the CSV.
#ifndef BIGTABLE_BENCH_COMPACTION_SAMPLE_H_
#define BIGTABLE_BENCH_COMPACTION_SAMPLE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "policy.h"

namespace bench {

// Which of the runs of a workload under a policy, counted from 0, and the seed of its operations.
struct Repeat {
  uint64_t number = 0;
  uint64_t seed = 0;
};

// Figures since the measured operations began, unless stated otherwise. Bytes of the engine are
// those of DatabaseStatistics. NaN: not available. Plain value.
struct Sample {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double operations = 0;
  // 1 in the last sample of a run: everything is in SSTables, and no compaction is due. In this
  // sample the rates are those of the whole run.
  double quiet = 0;
  // Without the time of sampling.
  double seconds = 0;
  double ops_per_second = kNone;  // since the sample before
  double cpu_us_per_op = kNone;   // the same; of all threads
  double stall_seconds = 0;       // for which writers were delayed

  double user_bytes = 0;  // rows and values of the writes, rows of the deletions
  double log_bytes = 0;
  double flush_bytes = 0;       // written by minor compactions
  double merge_read_bytes = 0;  // read by merging compactions
  double merge_bytes = 0;       // written by merging compactions
  double moved_bytes = 0;
  double dropped_bytes = 0;
  double write_amplification = kNone;  // log, flush and merge bytes for each of the user's

  double live_bytes = 0;  // rows and values that a read of everything would return
  double tablets = 1;
  double file_bytes = 0;  // of the SSTables that make up the table
  double disk_bytes = 0;  // of the whole directory: log, files being written or removed
  double space_amplification = kNone;  // file bytes for each live one
  double entries = 0;                  // in these SSTables
  double sorted_runs = 0;
  double files = 0;
  double memtables = 0;
  double sources = 0;  // of a read: sorted runs and memtables
  // Microseconds of CPU for a row that was read just before: one that exists, one that does not,
  // and one of a scan.
  double read_us = kNone;
  double missing_read_us = kNone;
  double scan_row_us = kNone;

  // Times of operations since the sample before, in microseconds.
  double read_p50_us = kNone;
  double read_p99_us = kNone;
  double read_p999_us = kNone;
  double read_p9999_us = kNone;
  double scan_p50_us = kNone;
  double scan_p99_us = kNone;
  double write_p50_us = kNone;
  double write_p99_us = kNone;
  double write_p999_us = kNone;
  double write_p9999_us = kNone;

  // What a read of a row touches, one of a row that does not exist, and a row of a scan: filters
  // that are asked, files that they do not exclude, blocks, and the bytes of blocks that are read
  // or decompressed. Only if they are counted.
  double read_filters = kNone;
  double read_files = kNone;
  double read_amplification = kNone;  // blocks
  double read_bytes = kNone;
  double missing_filters = kNone;
  double missing_files = kNone;  // false positives
  double missing_blocks = kNone;
  double scan_blocks = kNone;
  double scan_bytes = kNone;
};

struct Column {
  std::string_view name;
  double Sample::*figure;
};
inline constexpr std::array kColumns = {
    Column{"operations", &Sample::operations},
    Column{"quiet", &Sample::quiet},
    Column{"seconds", &Sample::seconds},
    Column{"ops_per_second", &Sample::ops_per_second},
    Column{"cpu_us_per_op", &Sample::cpu_us_per_op},
    Column{"stall_seconds", &Sample::stall_seconds},
    Column{"user_bytes", &Sample::user_bytes},
    Column{"log_bytes", &Sample::log_bytes},
    Column{"flush_bytes", &Sample::flush_bytes},
    Column{"merge_read_bytes", &Sample::merge_read_bytes},
    Column{"merge_bytes", &Sample::merge_bytes},
    Column{"moved_bytes", &Sample::moved_bytes},
    Column{"dropped_bytes", &Sample::dropped_bytes},
    Column{"write_amplification", &Sample::write_amplification},
    Column{"live_bytes", &Sample::live_bytes},
    Column{"tablets", &Sample::tablets},
    Column{"file_bytes", &Sample::file_bytes},
    Column{"disk_bytes", &Sample::disk_bytes},
    Column{"space_amplification", &Sample::space_amplification},
    Column{"entries", &Sample::entries},
    Column{"sorted_runs", &Sample::sorted_runs},
    Column{"files", &Sample::files},
    Column{"memtables", &Sample::memtables},
    Column{"sources", &Sample::sources},
    Column{"read_us", &Sample::read_us},
    Column{"missing_read_us", &Sample::missing_read_us},
    Column{"scan_row_us", &Sample::scan_row_us},
    Column{"read_p50_us", &Sample::read_p50_us},
    Column{"read_p99_us", &Sample::read_p99_us},
    Column{"read_p999_us", &Sample::read_p999_us},
    Column{"read_p9999_us", &Sample::read_p9999_us},
    Column{"scan_p50_us", &Sample::scan_p50_us},
    Column{"scan_p99_us", &Sample::scan_p99_us},
    Column{"write_p50_us", &Sample::write_p50_us},
    Column{"write_p99_us", &Sample::write_p99_us},
    Column{"write_p999_us", &Sample::write_p999_us},
    Column{"write_p9999_us", &Sample::write_p9999_us},
    Column{"read_filters", &Sample::read_filters},
    Column{"read_files", &Sample::read_files},
    Column{"read_amplification", &Sample::read_amplification},
    Column{"read_bytes", &Sample::read_bytes},
    Column{"missing_filters", &Sample::missing_filters},
    Column{"missing_files", &Sample::missing_files},
    Column{"missing_blocks", &Sample::missing_blocks},
    Column{"scan_blocks", &Sample::scan_blocks},
    Column{"scan_bytes", &Sample::scan_bytes},
};

// Lines with their ends. Figures that are not available are empty.
std::string CsvHeader();
std::string CsvLine(std::string_view workload, const Policy& policy, const Repeat& repeat,
                    const Sample& sample);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_SAMPLE_H_
