#include "bigtable/clock.h"

#include "absl/time/clock.h"

#include "base/steady_time.h"

namespace bigtable {
namespace {

class SystemClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now(); }
};

class SteadyClockImpl final : public Clock {
 public:
  absl::Time Now() override { return absl::UnixEpoch() + absl::Nanoseconds(NowNanos()); }
};

}  // namespace

Clock* Clock::System() {
  static SystemClock* const clock = new SystemClock();
  return clock;
}

Clock* SteadyClock() {
  static SteadyClockImpl* const clock = new SteadyClockImpl();
  return clock;
}

}  // namespace bigtable
