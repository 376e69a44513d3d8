// Whether this process is at rest, seen from outside of the engine.
#ifndef BIGTABLE_BENCH_PAPER_QUIET_H_
#define BIGTABLE_BENCH_PAPER_QUIET_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

// Whether a thread other than the calling one is running, or waiting for a disk.
absl::StatusOr<bool> OtherThreadsAreBusy();

// Waits until no other thread has been busy for a while, and returns since when that is so. For
// engines that cannot be asked.
absl::StatusOr<absl::Time> WaitUntilOtherThreadsRest();

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_QUIET_H_
