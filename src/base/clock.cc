#include "bigtable/clock.h"

#include "absl/time/clock.h"

namespace bigtable {
namespace {

class SystemClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now(); }
};

}  // namespace

Clock* Clock::System() {
  static SystemClock* const clock = new SystemClock();
  return clock;
}

}  // namespace bigtable
