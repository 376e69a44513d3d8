// The throughput of one read mode, one kind of reads and one table.
#ifndef BIGTABLE_BENCH_MEMORY_TRIAL_H_
#define BIGTABLE_BENCH_MEMORY_TRIAL_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

// The default of DatabaseOptions::read_mode, or a setting.
inline constexpr std::array<std::string_view, 3> kWays = {"default", "mapped", "positional"};
// Single random rows; a hundred rows from a random one; all rows in order, repeatedly (the figure
// is of rows); nine single rows to one scan of a hundred.
inline constexpr std::array<std::string_view, 4> kReads = {"random_reads", "short_scans",
                                                           "long_scan", "mixed"};

struct Trial {
  std::string way;
  std::string reads;
  uint64_t rows = 0;
  uint64_t memory_budget = 0;
  // Reads run for twice this time; the second half counts.
  absl::Duration time;
  std::string directory;  // of the database
  std::string cgroup;     // MemoryCgroup::path
};

// Creates the table, compacted, with the block size of bench/paper, and drops it from the page
// cache.
absl::Status MakeTable(const std::string& directory, uint64_t rows);

// For the second half of a trial. CPU is of all threads. The disk's bytes are those that the kernel
// read for this process, ahead of time or not; a kilobyte is 1024 of them.
struct Figures {
  double per_second = 0;  // operations
  double cpu_micros = 0;  // an operation
  double disk_kilobytes = 0;
};

// Measures in a process of its own in the control group. The table's pages are dropped from the
// page cache first.
absl::StatusOr<Figures> RunTrial(const Trial& trial);

// main() of that process.
inline constexpr std::string_view kTrialArgument = "--trial";
int TrialMain(const std::vector<std::string>& arguments);

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_TRIAL_H_
