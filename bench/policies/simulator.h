// What a compaction policy does to a locality group, without files: the policy is shown summaries
// of runs whose sizes are computed, not written. So a terabyte takes a second.
//
// The rows of a flush are drawn with equal probability from all rows, so a run has each row of its
// key range with a probability that is known, independently of other runs. What a merge of runs
// keeps follows from that. Sizes are expected values, and deviate from those of real keys by what
// chance does to some thousand rows.
//
// The rules are the engine's: only adjacent runs are merged, files that overlap no other input
// move, deletions disappear when the oldest run is an input, and files that do not overlap are one
// run.
#ifndef BIGTABLE_BENCH_POLICIES_SIMULATOR_H_
#define BIGTABLE_BENCH_POLICIES_SIMULATOR_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/compaction_policy.h"

namespace policies {

struct SimulatedWorkload {
  // Rows that are written: of so many, or each time new ones if this is 0.
  uint64_t rows = 0;
  // The share of the writes that delete their row instead, 0 to 1.
  double deletions = 0;
  uint64_t flushes = 0;
  uint64_t rows_per_flush = 0;
  double bytes_per_row = 0;       // in an SSTable
  double bytes_per_deletion = 0;  // the same
  uint64_t flush_size = 0;        // as the policy is told
  uint64_t file_size = 0;         // at which files end; 0: never
  absl::Duration time_per_flush = absl::Seconds(1);
  // All rows exist before, in one run, and that is not counted.
  bool begins_full = false;
};

struct SimulationResult {
  double flush_bytes = 0;
  double merge_bytes = 0;
  // Both, for each byte that was flushed.
  double write_amplification = 0;
  // Bytes of files for each byte of live rows; the mean after each flush, and at the end.
  double mean_space = 0;
  double space = 0;
  // The mean after each flush, and the most.
  double mean_runs = 0;
  uint64_t most_runs = 0;
  uint64_t compactions = 0;
  // The oldest deletion that was in a file above the oldest run, after each flush.
  absl::Duration oldest_deletion = absl::ZeroDuration();
};

// Flushes, and after each lets the policy pick until it picks nothing. InvalidArgument if the
// workload is empty; FailedPrecondition if a pick breaks a rule, or the policy does not come to
// rest within 10,000 picks.
absl::StatusOr<SimulationResult> Simulate(const SimulatedWorkload& workload,
                                          bigtable::CompactionPolicy* policy);

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_SIMULATOR_H_
