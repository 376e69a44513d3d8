// When stalls of writers are reported.
#include "admission/stall_notices.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace bigtable {
namespace {

class StallNoticesTest : public testing::Test {
 protected:
  // Passes `time`, during which writes wait for `waited`, in steps of a millisecond.
  void Pass(absl::Duration time, absl::Duration waited, StallReason reason) {
    for (absl::Duration passed; passed < time; passed += absl::Milliseconds(1)) {
      now_ = now_ + absl::Milliseconds(1);
      const auto change =
          notices_.Record(reason, waited * absl::FDivDuration(absl::Milliseconds(1), time), now_);
      if (!change.has_value()) continue;
      absl::StrAppend(&reported_, reported_.empty() ? "" : ", ", static_cast<int>(change->before),
                      " to ", static_cast<int>(change->now), " after ",
                      absl::FormatDuration(change->lasted));
    }
  }
  std::string Take() { return std::exchange(reported_, ""); }

  StallNotices notices_;
  SteadyTime now_ = SteadyTime::FromNanos(1'000'000'000);
  std::string reported_;
};

TEST_F(StallNoticesTest, DelaysOfMicrosecondsAreNone) {
  for (int i = 0; i < 200; ++i) {
    Pass(absl::Milliseconds(10), absl::Microseconds(2), StallReason::kMemory);
    Pass(absl::Milliseconds(5), absl::ZeroDuration(), StallReason::kNone);
  }
  EXPECT_EQ(Take(), "");
}

TEST_F(StallNoticesTest, AFifthOfTheTimeIsNone) {
  Pass(absl::Seconds(10), absl::Seconds(1.9), StallReason::kMemory);
  EXPECT_EQ(Take(), "");
}

TEST_F(StallNoticesTest, AStallHasOneBeginAndOneEnd) {
  Pass(absl::Milliseconds(30), absl::Milliseconds(30), StallReason::kMemory);
  EXPECT_EQ(Take(), "0 to 1 after 0");
  // The reason comes and goes, and writes go on for a moment.
  for (int i = 0; i < 20; ++i) {
    Pass(absl::Milliseconds(300), absl::ZeroDuration(), StallReason::kNone);
    Pass(absl::Milliseconds(10), absl::Milliseconds(10), StallReason::kMemory);
  }
  EXPECT_EQ(Take(), "");
  Pass(absl::Milliseconds(499), absl::ZeroDuration(), StallReason::kNone);
  EXPECT_EQ(Take(), "");
  Pass(absl::Milliseconds(10), absl::ZeroDuration(), StallReason::kNone);
  EXPECT_EQ(Take(), "1 to 0 after 6.705s");
  Pass(absl::Seconds(5), absl::ZeroDuration(), StallReason::kNone);
  EXPECT_EQ(Take(), "");
}

TEST_F(StallNoticesTest, AnotherReasonIsReportedWhenItLasts) {
  Pass(absl::Milliseconds(50), absl::Milliseconds(50), StallReason::kMemory);
  EXPECT_EQ(Take(), "0 to 1 after 0");
  Pass(absl::Milliseconds(100), absl::Milliseconds(100), StallReason::kSortedRuns);
  Pass(absl::Milliseconds(100), absl::Milliseconds(100), StallReason::kMemory);
  EXPECT_EQ(Take(), "");
  Pass(absl::Milliseconds(600), absl::Milliseconds(600), StallReason::kSortedRuns);
  EXPECT_EQ(Take().substr(0, 6), "1 to 2");
}

}  // namespace
}  // namespace bigtable
