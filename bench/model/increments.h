// Increments of counters by several threads.
#ifndef BIGTABLE_BENCH_MODEL_INCREMENTS_H_
#define BIGTABLE_BENCH_MODEL_INCREMENTS_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "store.h"

namespace bench {

struct IncrementsCase {
  uint64_t counters;  // each increment takes one at random
  uint64_t threads;
};

struct IncrementsResult {
  double per_second;
  double cpu_micros;  // of all threads, for each increment
};

// Runs `increments` in all, divided among the threads, and then checks that the counters add up to
// that number: DataLoss if they do not.
absl::StatusOr<IncrementsResult> RunIncrements(Store* store, const IncrementsCase& work,
                                               uint64_t increments);

}  // namespace bench

#endif  // BIGTABLE_BENCH_MODEL_INCREMENTS_H_
