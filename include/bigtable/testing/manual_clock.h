// A clock that stands still until a test moves it: for tests of what depends on the time, such as
// cells that expire (GcRule::MaxAge) or the timestamps that a server assigns. Part of
// bigtable::testing.
//
//   ManualClock clock(absl::FromUnixSeconds(1'000'000));
//   options.clock = &clock;
//   ... open a database, write, and let a day pass:
//   clock.Advance(absl::Hours(24));
//
// What waits for a while (deadlines, pauses before a retry) does so by the machine's steady clock,
// and is not moved by this one. Thread-safe.
#ifndef BIGTABLE_TESTING_MANUAL_CLOCK_H_
#define BIGTABLE_TESTING_MANUAL_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

#include "bigtable/clock.h"

namespace bigtable {

class ManualClock : public Clock {
 public:
  // Times are kept in microseconds, as the timestamps of cells are.
  explicit ManualClock(absl::Time now = absl::UnixEpoch());
  ~ManualClock() override;

  absl::Time Now() override;
  // Now(), as timestamps of cells have it.
  int64_t micros() const { return micros_.load(); }
  // Forward or back.
  void Set(absl::Time now);
  void Advance(absl::Duration by);

 private:
  std::atomic<int64_t> micros_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_MANUAL_CLOCK_H_
