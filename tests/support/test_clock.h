// A clock that stands still until a test moves it. Thread-safe.
#ifndef BIGTABLE_TESTS_SUPPORT_TEST_CLOCK_H_
#define BIGTABLE_TESTS_SUPPORT_TEST_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

#include "bigtable/clock.h"

namespace bigtable {

class TestClock final : public Clock {
 public:
  explicit TestClock(int64_t micros = 0) : micros_(micros) {}

  absl::Time Now() override { return absl::FromUnixMicros(micros()); }
  int64_t micros() const { return micros_.load(); }
  void Set(int64_t micros) { micros_.store(micros); }
  void Advance(absl::Duration by) { micros_.fetch_add(absl::ToInt64Microseconds(by)); }

 private:
  std::atomic<int64_t> micros_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_TEST_CLOCK_H_
