// Sets the wall clock of this program: whatever asks the system for the time of the day gets it
// moved. It is moved where every library asks, in clock_gettime, which this header defines for the
// whole program; so one file of a test program at most includes it. The steady clock stays as it
// is, and so do the system's own waits, as with a clock that somebody sets.
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

// By how much the clock is wrong from now on.
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
