#include "server/calls/call_info.h"

#include "grpc/support/time.h"

namespace bigtable::server {

absl::Time DeadlineOf(const grpc::ServerContextBase& context) {
  const gpr_timespec deadline = context.raw_deadline();
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) {
    return absl::InfiniteFuture();
  }
  const gpr_timespec wall = gpr_convert_clock_type(deadline, GPR_CLOCK_REALTIME);
  return absl::TimeFromTimespec({.tv_sec = wall.tv_sec, .tv_nsec = wall.tv_nsec});
}

std::chrono::nanoseconds TimeLeft(const grpc::ServerContextBase& context) {
  const gpr_timespec deadline = context.raw_deadline();
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) {
    return std::chrono::nanoseconds::max();
  }
  const gpr_timespec left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
  return std::chrono::seconds(left.tv_sec) + std::chrono::nanoseconds(left.tv_nsec);
}

}  // namespace bigtable::server
