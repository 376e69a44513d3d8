#include "gtest/gtest.h"

#include "base/call_limits.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class CallPaceTest : public testing::Test {
 protected:
  Cancellation cancellation_;
  const CallLimits limits_{.cancellation = &cancellation_};
  absl::Status failure_;
  CallPace pace_{&limits_, &failure_};
};

TEST_F(CallPaceTest, LooksOnceInAThousandSmallEntries) {
  cancellation_.Cancel();
  int counted = 1;
  while (pace_.Count(0)) ++counted;
  EXPECT_EQ(counted, 1024);
  EXPECT_STATUS(kCancelled, "the read", failure_);
}

TEST_F(CallPaceTest, LooksAtEachLargeEntry) {
  EXPECT_TRUE(pace_.Count(100'000));
  cancellation_.Cancel();
  EXPECT_FALSE(pace_.Count(100'000));
}

TEST_F(CallPaceTest, StaysEnded) {
  cancellation_.Cancel();
  EXPECT_FALSE(pace_.Count(100'000));
  EXPECT_FALSE(pace_.Count(0));
  EXPECT_FALSE(pace_.Count(0));
}

TEST_F(CallPaceTest, KeepsAnEarlierError) {
  failure_ = absl::DataLossError("a block");
  cancellation_.Cancel();
  EXPECT_FALSE(pace_.Count(100'000));
  EXPECT_STATUS(kDataLoss, "a block", failure_);
}

}  // namespace
}  // namespace bigtable
