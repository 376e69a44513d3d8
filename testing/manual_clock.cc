#include "bigtable/testing/manual_clock.h"

namespace bigtable {

ManualClock::ManualClock(absl::Time now) : micros_(absl::ToUnixMicros(now)) {}
ManualClock::~ManualClock() = default;

absl::Time ManualClock::Now() { return absl::FromUnixMicros(micros()); }
void ManualClock::Set(absl::Time now) { micros_.store(absl::ToUnixMicros(now)); }
void ManualClock::Advance(absl::Duration by) { micros_.fetch_add(absl::ToInt64Microseconds(by)); }

}  // namespace bigtable
