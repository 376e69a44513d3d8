#include "base/retry_pause.h"

#include <cstdint>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace bigtable {
namespace {

constexpr int64_t kNow = 1'000'000'000'000;

TEST(RetryPauseTest, APauseDoublesWithEachFailureUpToTheLimit) {
  RetryPause pause;
  EXPECT_TRUE(pause.IsDue(kNow));
  EXPECT_EQ(pause.Left(kNow), absl::ZeroDuration());
  absl::Duration expected = RetryPause::kFirst;
  for (uint64_t failures = 1; failures <= 100; ++failures) {
    pause.Failed(kNow);
    EXPECT_EQ(pause.failures(), failures);
    EXPECT_EQ(pause.Left(kNow), expected);
    EXPECT_FALSE(pause.IsDue(kNow + absl::ToInt64Nanoseconds(expected) - 1));
    EXPECT_TRUE(pause.IsDue(kNow + absl::ToInt64Nanoseconds(expected)));
    expected = std::min(2 * expected, RetryPause::kMost);
  }
  EXPECT_EQ(expected, RetryPause::kMost);
}

TEST(RetryPauseTest, TryNowEndsThePauseButNotItsGrowth) {
  RetryPause pause;
  pause.Failed(kNow);
  pause.Failed(kNow);
  pause.TryNow();
  EXPECT_TRUE(pause.IsDue(kNow));
  pause.Failed(kNow);
  EXPECT_EQ(pause.Left(kNow), 4 * RetryPause::kFirst);
}

TEST(RetryPauseTest, SlowAttemptsTakeAtMostHalfOfTheTime) {
  RetryPause pause;
  pause.Failed(kNow, absl::Minutes(1));
  EXPECT_EQ(pause.Left(kNow), absl::Minutes(1));
  pause.Failed(kNow, absl::Milliseconds(1));
  EXPECT_EQ(pause.Left(kNow), 2 * RetryPause::kFirst);
}

}  // namespace
}  // namespace bigtable
