// Whether this process is quiet, seen from outside of the engine.
#ifndef BIGTABLE_BENCH_PAPER_QUIET_H_
#define BIGTABLE_BENCH_PAPER_QUIET_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

// Whether a thread other than the calling one is running, or waiting for a disk.
absl::StatusOr<bool> OtherThreadsAreBusy();

// Waits until no other thread has been busy for a while, and returns the time since which that is
// so. For engines that do not report it.
absl::StatusOr<absl::Time> WaitUntilOtherThreadsRest();

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_QUIET_H_
