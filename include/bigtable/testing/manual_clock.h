// A clock whose time only the test changes: for tests of behavior that depends on the time, such
// as cells that expire (GcRule::MaxAge) or the timestamps that a server assigns. Part of
// bigtable::testing.
//
//   ManualClock clock(absl::FromUnixSeconds(1'000'000));
//   options.clock = &clock;
//   ... open a database, write, and let a day pass:
//   clock.Advance(absl::Hours(24));
//
// Waits (deadlines, pauses before a retry) use the machine's steady clock, not this one.
// Thread-safe.
#ifndef BIGTABLE_TESTING_MANUAL_CLOCK_H_
#define BIGTABLE_TESTING_MANUAL_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

#include "bigtable/clock.h"

namespace bigtable {

// See the top of this file. Thread-safe.
class ManualClock : public Clock {
 public:
  // Times are kept in microseconds, like the timestamps of cells.
  explicit ManualClock(absl::Time now = absl::UnixEpoch());
  ~ManualClock() override;

  absl::Time Now() override;
  // Now() as a timestamp of a cell.
  int64_t micros() const { return micros_.load(); }
  // Forward or backward.
  void Set(absl::Time now);
  void Advance(absl::Duration by);

 private:
  std::atomic<int64_t> micros_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_MANUAL_CLOCK_H_
