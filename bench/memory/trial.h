// The throughput of one way of reading, one kind of operations and one table.
#ifndef BIGTABLE_BENCH_MEMORY_TRIAL_H_
#define BIGTABLE_BENCH_MEMORY_TRIAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

struct Trial {
  std::string way;    // one of BuiltWays
  std::string reads;  // one of kOperationKinds
  uint64_t rows = 0;
  uint64_t memory_budget = 0;
  // Operations run for this time, which counts, after a warm-up of the same length. That is
  // repeated, up to `most_warm_ups` times, until operations need hardly less from the disk than
  // during the one before: until the caches have what they will have. Once if operations write.
  absl::Duration time;
  uint64_t most_warm_ups = 1;
  std::string directory;  // of the table, which operations may change
  std::string cgroup;     // MemoryCgroup::path
};

// For the time that counts. CPU is of all threads. The disk's bytes are those that the kernel
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
