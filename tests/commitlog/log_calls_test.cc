#include "commitlog/log_calls.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "commitlog/segment_test_util.h"

namespace bigtable {
namespace {

// The files are not mapped, so that each call can fail.
class LogCallsTest : public testing::Test {
 protected:
  LogCallsTest() {
    segments_.MakeSpare(&chain_);
    EXPECT_OK(calls_.Restart());
  }

  void FailCalls(FileCall kind, uint64_t segment) {
    segments_.fs().FailCalls({.kinds = {kind}, .path_contains = SegmentName(segment)},
                             absl::UnavailableError("injected"));
  }
  // Whether the file of the oldest segment, which has ended, is reused.
  bool IsReused() {
    const LimitedMutexLock prepare(&chain_.prepare_mutex);
    {
      MutexLock lock(&chain_.mutex);
      chain_.ReleaseThrough(appender_.appended());
      EXPECT_EQ(chain_.retired(), 1u);
    }
    std::vector<Ref<LogSegment>> forgotten;
    {
      MutexLock lock(&chain_.mutex);
      forgotten = chain_.Forget(1);
    }
    forgotten.clear();
    const auto returned = segments_.returns().Take();
    EXPECT_EQ(returned.size(), 1u);
    return returned.size() == 1 && returned[0].reusable;
  }
  bool Rotate(uint64_t least_size = 0) {
    const absl::StatusOr<bool> rotated = calls_.Rotate(least_size);
    EXPECT_OK(rotated);
    return rotated.ok() && *rotated;
  }

  TestSegments segments_{false};
  SegmentChain chain_;
  LogAppender appender_;
  LogCalls calls_{"log", absl::Milliseconds(20), &chain_, &appender_};
};

TEST_F(LogCallsTest, AnOffsetIsSyncedOnceAllSegmentsUpToItAre) {
  AppendTo(&appender_, 1);
  segments_.MakeSpare(&chain_);
  ASSERT_TRUE(Rotate());
  AppendTo(&appender_, 2);
  ASSERT_OK(calls_.Flush());
  const uint64_t before = chain_.synced();
  FailCalls(FileCall::kLogSync, 1);
  EXPECT_STATUS(kUnavailable, "injected", calls_.Sync());
  EXPECT_EQ(chain_.synced(), before);
}

TEST_F(LogCallsTest, ASyncCallsTheFilesThatAreNotSynced) {
  AppendTo(&appender_, 1);
  ASSERT_OK(calls_.Flush());
  ASSERT_OK(calls_.Sync());
  EXPECT_EQ(chain_.synced(), appender_.end_offset());
  segments_.fs().CountCalls({.kinds = {FileCall::kLogSync}, .path_contains = ""});
  ASSERT_OK(calls_.Sync());
  EXPECT_EQ(segments_.fs().calls(), 0u);
  segments_.MakeSpare(&chain_);
  ASSERT_TRUE(Rotate());  // its end record is not synced
  AppendTo(&appender_, 2);
  ASSERT_OK(calls_.Flush());
  ASSERT_OK(calls_.Sync());
  EXPECT_EQ(segments_.fs().calls(), 2u);
  EXPECT_EQ(calls_.syncs(), 2u);
}

TEST_F(LogCallsTest, TheLogContinuesOnlyInASpareOfTheSize) {
  EXPECT_FALSE(Rotate());
  segments_.MakeSpare(&chain_);
  EXPECT_FALSE(Rotate(kSmallSegment + 1));
  EXPECT_EQ(appender_.AppendedEnd(), LogOffset(1, 0));  // there is no end record
  EXPECT_TRUE(Rotate(kSmallSegment));
  EXPECT_EQ(appender_.AppendedEnd(), LogOffset(2, 0));
  EXPECT_FALSE(Rotate());
}

TEST_F(LogCallsTest, AfterAFailureNoCallReachesAFile) {
  AppendTo(&appender_, 1);
  ASSERT_OK(calls_.Flush());
  AppendTo(&appender_, 2);
  calls_.Fail(absl::DataLossError("first"));
  calls_.Fail(absl::UnavailableError("second"));
  EXPECT_TRUE(calls_.failed());
  segments_.fs().CountCalls();
  EXPECT_STATUS(kDataLoss, "first", calls_.Flush());
  EXPECT_STATUS(kDataLoss, "first", calls_.Sync());
  EXPECT_EQ(segments_.fs().calls(), 0u);
  EXPECT_EQ(calls_.StallTimeout(absl::Seconds(9)), absl::Milliseconds(5));  // there is no switch
}

TEST_F(LogCallsTest, AFileWhoseSyncHasFailedIsNotReused) {
  for (const bool fails : {false, true}) {
    AppendTo(&appender_, appender_.appended() + 1);
    ASSERT_OK(calls_.Flush());
    if (fails) FailCalls(FileCall::kLogSync, 2);
    segments_.MakeSpare(&chain_);
    ASSERT_TRUE(Rotate());
    ASSERT_OK(calls_.Flush());
    EXPECT_EQ(calls_.Sync().ok(), !fails);
    EXPECT_EQ(IsReused(), !fails);
  }
}

TEST_F(LogCallsTest, ARestartWaitsForTheReleaseOfAllRecords) {
  EXPECT_EQ(*calls_.AwaitRestart({}), false);
  AppendTo(&appender_, 1);
  ASSERT_OK(calls_.Flush());
  calls_.Fail(absl::UnavailableError("injected"));
  EXPECT_STATUS(kFailedPrecondition, "records up to 1", calls_.AwaitRestart({}));
  {
    MutexLock lock(&chain_.mutex);
    chain_.ReleaseThrough(1);
  }
  EXPECT_EQ(*calls_.AwaitRestart({}), true);
  segments_.MakeSpare(&chain_);
  ASSERT_OK(calls_.Restart());
  EXPECT_FALSE(calls_.failed());
  EXPECT_EQ(chain_.synced(), appender_.end_offset());
  AppendTo(&appender_, 2);
  ASSERT_OK(calls_.Flush());
  EXPECT_OK(calls_.Sync());
}

TEST_F(LogCallsTest, AnAbandonedSyncChangesNothingAndBeginsAgainInTheOtherFile) {
  AppendTo(&appender_, 1);
  ASSERT_OK(calls_.Flush());
  segments_.MakeSpare(&chain_);
  segments_.fs().StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = SegmentName(1)});
  std::thread syncer([&] { EXPECT_OK(calls_.Sync()); });
  EXPECT_TRUE(segments_.fs().WaitUntilStalled(1));
  const uint64_t before = chain_.synced();
  EXPECT_LE(calls_.StallTimeout(absl::Seconds(9)), absl::ZeroDuration());
  EXPECT_OK(calls_.SwitchFile());
  EXPECT_EQ(calls_.switches(), 1u);
  EXPECT_EQ(chain_.synced(), before);
  FailCalls(FileCall::kLogSync, 1);
  segments_.fs().ReleaseCalls();
  syncer.join();
  EXPECT_FALSE(calls_.failed());
  EXPECT_EQ(calls_.syncs(), 2u);
  EXPECT_EQ(chain_.synced(), appender_.end_offset());
  EXPECT_EQ(segments_.SwitchOffset(2), before);
}

}  // namespace
}  // namespace bigtable
