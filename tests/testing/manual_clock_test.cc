// The clock that a test sets.
#include "bigtable/testing/manual_clock.h"

#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(ManualClockTest, TheTimeIsConstantUntilItIsSet) {
  ManualClock clock;
  EXPECT_EQ(clock.Now(), absl::UnixEpoch());
  EXPECT_EQ(clock.Now(), clock.Now());
  clock.Set(absl::FromUnixSeconds(100));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(100));
  clock.Advance(absl::Hours(1));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(3700));
}

TEST(ManualClockTest, TheTimeMayGoBack) {
  ManualClock clock(absl::FromUnixSeconds(100));
  clock.Advance(-absl::Seconds(40));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(60));
  clock.Set(absl::FromUnixSeconds(7));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(7));
}

TEST(ManualClockTest, KeepsMicroseconds) {
  ManualClock clock(absl::FromUnixNanos(1999));
  EXPECT_EQ(clock.Now(), absl::FromUnixMicros(1));
}

}  // namespace
}  // namespace bigtable
