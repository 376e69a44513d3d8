// The clock for durations, and deadlines on it, while the wall clock jumps.
#include "base/steady_time.h"

#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "support/expect_status.h"
#include "support/wall_clock.h"

namespace bigtable {
namespace {

class SteadyTimeTest : public testing::Test {
 protected:
  void TearDown() override { SetWallClockOffset(absl::ZeroDuration()); }
};

TEST_F(SteadyTimeTest, ArithmeticSaturates) {
  const SteadyTime now = SteadyTime::Now();
  const absl::Duration infinite = absl::InfiniteDuration();
  EXPECT_EQ((now + absl::Seconds(5)) - now, absl::Seconds(5));
  EXPECT_EQ(now + infinite, SteadyTime::InfiniteFuture());
  EXPECT_EQ(now + -infinite, SteadyTime::InfinitePast());
  EXPECT_EQ(SteadyTime::InfiniteFuture() + -absl::Seconds(1), SteadyTime::InfiniteFuture());
  EXPECT_EQ(SteadyTime::InfinitePast() + absl::Seconds(1), SteadyTime::InfinitePast());
  EXPECT_EQ(SteadyTime::InfiniteFuture() - now, infinite);
  EXPECT_EQ(now - SteadyTime::InfiniteFuture(), -infinite);
  EXPECT_EQ(now - SteadyTime::InfinitePast(), infinite);
  EXPECT_EQ(SteadyTime::InfinitePast() - now, -infinite);
  EXPECT_EQ(SteadyTime::InfinitePast() - SteadyTime::InfinitePast(), absl::ZeroDuration());
  EXPECT_LT(SteadyTime(), now);
}

TEST_F(SteadyTimeTest, SettingTheWallClockDoesNotAffectIt) {
  const SteadyTime steady = SteadyTime::Now();
  const absl::Time wall = absl::Now();
  SetWallClockOffset(-absl::Hours(24));
  EXPECT_LT(absl::Now(), wall);  // the wall clock was set
  EXPECT_GE(SteadyTime::Now(), steady);
  SetWallClockOffset(absl::Hours(24));
  EXPECT_LT(SteadyTime::Now() - steady, absl::Hours(1));
}

TEST_F(SteadyTimeTest, SettingTheWallClockDoesNotMoveADeadline) {
  const Deadline soon = absl::Now() + absl::Milliseconds(50);
  const Deadline late = absl::Now() + absl::Hours(1);
  for (const absl::Duration jump : {-absl::Hours(24), absl::Hours(24)}) {
    SetWallClockOffset(jump);
    EXPECT_FALSE(late.has_passed());
    EXPECT_GT(late.left(), absl::Minutes(50));
    EXPECT_LT(late.left(), absl::Minutes(70));
    EXPECT_LE(soon.left(), absl::Milliseconds(50));
  }
  SetWallClockOffset(-absl::Hours(24));
  absl::SleepFor(absl::Milliseconds(51));
  EXPECT_TRUE(soon.has_passed());
  EXPECT_STATUS(kDeadlineExceeded, "the call ran into its deadline",
                CallLimits{.deadline = soon}.Check());
}

TEST_F(SteadyTimeTest, InfiniteAndPastDeadlines) {
  EXPECT_TRUE(Deadline().is_never());
  EXPECT_TRUE(Deadline(absl::InfiniteFuture()).is_never());
  EXPECT_TRUE(Deadline::In(absl::InfiniteDuration()).is_never());
  EXPECT_EQ(Deadline().left(), absl::InfiniteDuration());
  EXPECT_FALSE(Deadline().has_passed());
  EXPECT_TRUE(Deadline(absl::InfinitePast()).has_passed());
  EXPECT_TRUE(Deadline(absl::UnixEpoch()).has_passed());
  EXPECT_TRUE(Deadline::In(-absl::Seconds(1)).has_passed());
  EXPECT_LT(Deadline(absl::UnixEpoch()), Deadline());
}

// The wait lasts as long as requested, not shorter or longer by the jump of the clock.
TEST_F(SteadyTimeTest, AWaitForAConditionUsesIt) {
  Mutex mutex;
  CondVar never;
  for (const absl::Duration jump : {-absl::Hours(24), absl::Hours(24)}) {
    std::thread setter([&] {
      absl::SleepFor(absl::Milliseconds(20));
      SetWallClockOffset(jump);
    });
    const SteadyTime start = SteadyTime::Now();
    MutexLock lock(&mutex);
    while (never.WaitFor(&mutex, absl::Milliseconds(100) - (SteadyTime::Now() - start))) {
    }
    EXPECT_GE(SteadyTime::Now() - start, absl::Milliseconds(100));
    EXPECT_LT(SteadyTime::Now() - start, absl::Seconds(20));
    setter.join();
  }
}

}  // namespace
}  // namespace bigtable
