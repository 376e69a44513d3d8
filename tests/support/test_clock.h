// A manual clock that is set in microseconds, for tests that compare timestamps.
#ifndef BIGTABLE_TESTS_SUPPORT_TEST_CLOCK_H_
#define BIGTABLE_TESTS_SUPPORT_TEST_CLOCK_H_

#include <cstdint>

#include "absl/time/time.h"

#include "bigtable/testing/manual_clock.h"

namespace bigtable {

class TestClock final : public ManualClock {
 public:
  explicit TestClock(int64_t micros = 0) : ManualClock(absl::FromUnixMicros(micros)) {}
  void Set(int64_t micros) { ManualClock::Set(absl::FromUnixMicros(micros)); }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_TEST_CLOCK_H_
