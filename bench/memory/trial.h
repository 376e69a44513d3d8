// One way of reading, one kind of reads, one table: how many a second.
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

// What DatabaseOptions::read_mode is left at, or set to.
inline constexpr std::array<std::string_view, 3> kWays = {"default", "mapped", "positional"};
// Single rows anywhere; a hundred rows from anywhere; all rows in their order, again and again (the
// figure is of rows); nine single rows to one scan of a hundred.
inline constexpr std::array<std::string_view, 4> kReads = {"random_reads", "short_scans",
                                                           "long_scan", "mixed"};

struct Trial {
  std::string way;
  std::string reads;
  uint64_t rows = 0;
  uint64_t memory_budget = 0;
  // Reading goes on for twice this; the second half counts.
  absl::Duration time;
  std::string directory;  // of the database
  std::string cgroup;     // MemoryCgroup::path
};

// Makes the table, compacted, with the blocks of bench/paper, and not in the page cache afterwards.
absl::Status MakeTable(const std::string& directory, uint64_t rows);

// Of the second half of a trial. CPU is of all threads; the disk's bytes are those that the kernel
// read for this process, ahead of time or not, a kilobyte being 1024 of them.
struct Figures {
  double per_second = 0;  // operations
  double cpu_micros = 0;  // an operation
  double disk_kilobytes = 0;
};

// Measured in a process of its own in the control group. What of the table was in the page cache is
// dropped first.
absl::StatusOr<Figures> RunTrial(const Trial& trial);

// main() of that process.
inline constexpr std::string_view kTrialArgument = "--trial";
int TrialMain(const std::vector<std::string>& arguments);

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_TRIAL_H_
