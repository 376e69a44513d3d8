// Deadlines for gRPC's waits, by the monotonic clock: a change of the time of day neither lengthens
// nor ends them.
#ifndef BIGTABLE_SERVER_CALLS_DEADLINE_H_
#define BIGTABLE_SERVER_CALLS_DEADLINE_H_

#include <chrono>

#include "grpc/support/time.h"

namespace bigtable::server {

inline gpr_timespec DeadlineIn(std::chrono::milliseconds time) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(time.count(), GPR_TIMESPAN));
}

// One that has passed.
inline gpr_timespec PastDeadline() { return gpr_time_0(GPR_CLOCK_MONOTONIC); }

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_DEADLINE_H_
