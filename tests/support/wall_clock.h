// Shifts the wall clock of this program. The header defines clock_gettime, which all libraries
// call, for the whole program; so at most one file of a test program may include it. The steady
// clock and the waits of the kernel do not change, as when the system's clock is set.
#ifndef BIGTABLE_TESTS_SUPPORT_WALL_CLOCK_H_
#define BIGTABLE_TESTS_SUPPORT_WALL_CLOCK_H_

#include <atomic>
#include <cstdint>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace bigtable {

inline std::atomic<int64_t> wall_clock_offset_seconds{0};

// The clock differs from the real time by `offset` until the next call.
inline void SetWallClockOffset(absl::Duration offset) {
  wall_clock_offset_seconds = absl::ToInt64Seconds(offset);
}

}  // namespace bigtable

extern "C" int clock_gettime(clockid_t clock, struct timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) time->tv_sec += bigtable::wall_clock_offset_seconds.load();
  return result;
}

#endif  // BIGTABLE_TESTS_SUPPORT_WALL_CLOCK_H_
