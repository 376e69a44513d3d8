// Operations on a store by several threads, and the check that none was lost.
#ifndef BIGTABLE_BENCH_MODEL_WORK_H_
#define BIGTABLE_BENCH_MODEL_WORK_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "store.h"

namespace bench {

struct WorkCase {
  Work work;
  uint64_t rows;  // each operation takes its rows among them at random
  uint64_t threads;
};

struct WorkResult {
  double per_second;
  double cpu_micros;  // of all threads, for each operation
};

// Runs `operations` in all, divided among the threads. Then checks the rows: increments add up to
// their number, transfers to zero, and the last batch of each thread is there, unless a later batch
// has written to its rows. DataLoss if not.
absl::StatusOr<WorkResult> RunWork(Store* store, const WorkCase& work, uint64_t operations);

}  // namespace bench

#endif  // BIGTABLE_BENCH_MODEL_WORK_H_
