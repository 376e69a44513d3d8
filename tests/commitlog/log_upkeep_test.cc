#include "commitlog/log_upkeep.h"

#include <cstdint>
#include <string>
#include <utility>

#include "commitlog/log_directory.h"
#include "commitlog/segment_test_util.h"

namespace bigtable {
namespace {

class LogUpkeepTest : public testing::Test {
 protected:
  LogUpkeepTest() {
    EXPECT_OK(CreateLogDirectory(&disk_, "log"));
    const LimitedMutexLock prepare(upkeep_.mutex());
    EXPECT_OK(upkeep_.PrepareFirst());
    MutexLock lock(&chain_.mutex);
    chain_.Restart();
  }

  absl::Status Prepare(uint64_t least_size = 0) {
    const LimitedMutexLock prepare(upkeep_.mutex());
    return upkeep_.Prepare(least_size);
  }
  bool MakeFreshSpare() {
    const LimitedMutexLock prepare(upkeep_.mutex());
    const absl::StatusOr<bool> made = upkeep_.MakeFreshSpare();
    EXPECT_OK(made);
    return made.ok() && *made;
  }
  // The log continues in the spare, and the records before, up to this one, are released.
  void ContinueAndRelease(SequenceNumber last) {
    MutexLock lock(&chain_.mutex);
    chain_.ContinueInSpare(1000, last);
    chain_.ReleaseThrough(last);
  }
  // The spare's number, 0 if there is none.
  uint64_t Spare() {
    MutexLock lock(&chain_.mutex);
    return chain_.spare() ? chain_.spare()->number() : 0;
  }
  LogState State() {
    const absl::StatusOr<LogState> state = ReadLogState(&disk_, "log");
    EXPECT_OK(state);
    return state.value_or(LogState{});
  }
  void FailCalls(FileCall kind, std::string path) {
    fs_.FailCalls({.kinds = {kind}, .path_contains = std::move(path)},
                  absl::UnavailableError("injected"));
  }

  InMemoryFileSystem disk_;
  FaultyFileSystem fs_{&disk_};
  SegmentChain chain_;
  LogUpkeep upkeep_{&fs_, "log", 77, kSmallSegment, 4, nullptr, &chain_};
};

TEST_F(LogUpkeepTest, ANewLogHasAStateAndItsFirstSegment) {
  EXPECT_EQ(State().secret, 77u);
  EXPECT_EQ(State().low, 1u);
  EXPECT_THAT(SegmentNumbers(&disk_), testing::ElementsAre(1u));
}

TEST_F(LogUpkeepTest, ASegmentIsASpareOnceItsNameIsDurable) {
  FailCalls(FileCall::kSyncDirectory, "log");
  chain_.set_needs_upkeep(false);
  EXPECT_STATUS(kUnavailable, "injected", Prepare());
  EXPECT_EQ(Spare(), 0u);
  EXPECT_TRUE(chain_.needs_upkeep());
  fs_.ClearFaults();
  ASSERT_OK(Prepare());
  EXPECT_EQ(Spare(), 2u);
  EXPECT_FALSE(chain_.needs_upkeep());
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_TRUE(disk_.CrashClone(seed)->FileExists(SegmentPath(2)));
  }
}

TEST_F(LogUpkeepTest, AReleasedFileIsTouchedOnlyOnceStateSaysThatItIsNotNeeded) {
  ASSERT_OK(Prepare());
  ContinueAndRelease(5);
  FailCalls(FileCall::kLogSync, "STATE");
  FailCalls(FileCall::kNewLogFile, "STATE");
  EXPECT_STATUS(kUnavailable, "injected", Prepare());
  EXPECT_TRUE(disk_.FileExists(SegmentPath(1)));
  EXPECT_EQ(upkeep_.reused(), 0u);
  {
    MutexLock lock(&chain_.mutex);
    EXPECT_EQ(chain_.retired(), 1u);
  }
  fs_.ClearFaults();
  ContinueAndRelease(6);
  ASSERT_OK(Prepare());
  EXPECT_EQ(State().low, 3u);
  EXPECT_EQ(State().released, 6u);
  EXPECT_EQ(upkeep_.reused(), 1u);
  EXPECT_FALSE(disk_.FileExists(SegmentPath(1)) && disk_.FileExists(SegmentPath(2)));
}

TEST_F(LogUpkeepTest, AFileOfASegmentThatIsReferencedIsNotReused) {
  ASSERT_OK(Prepare());
  Ref<LogSegment> pinned;
  {
    MutexLock lock(&chain_.mutex);
    pinned = chain_.active();
  }
  ContinueAndRelease(5);
  ASSERT_OK(Prepare());
  EXPECT_EQ(State().low, 2u);
  EXPECT_TRUE(disk_.FileExists(SegmentPath(1)));
  EXPECT_EQ(upkeep_.reused(), 0u);
  EXPECT_FALSE(upkeep_.has_returns());
  EXPECT_EQ(upkeep_.bytes_in_use(), 2 * kSmallSegment);
  pinned = {};
  EXPECT_TRUE(upkeep_.has_returns());
  EXPECT_EQ(upkeep_.bytes_in_use(), kSmallSegment);
}

TEST_F(LogUpkeepTest, ASpareIsMadeOfTheSizeThatIsNeeded) {
  ASSERT_OK(Prepare());
  ASSERT_OK(Prepare(kSmallSegment));
  EXPECT_EQ(upkeep_.created(), 2u);
  ASSERT_OK(Prepare(4 * kSmallSegment));
  EXPECT_EQ(upkeep_.created(), 3u);
  MutexLock lock(&chain_.mutex);
  EXPECT_EQ(chain_.spare()->number(), 2u);
  EXPECT_EQ(chain_.spare()->size(), 4 * kSmallSegment);
}

TEST_F(LogUpkeepTest, NoSegmentIsMadeWhileASwitchHasTakenTheNumber) {
  ASSERT_OK(Prepare());
  Ref<LogSegment> copy;
  {
    MutexLock lock(&chain_.mutex);
    copy = chain_.TakeSpareToCopy();
  }
  ASSERT_OK(Prepare());
  EXPECT_FALSE(MakeFreshSpare());
  EXPECT_EQ(upkeep_.created(), 2u);
  {
    MutexLock lock(&chain_.mutex);
    chain_.GiveUpCopy();
  }
  ASSERT_OK(Prepare());
  EXPECT_EQ(Spare(), 2u);
  EXPECT_EQ(upkeep_.created(), 3u);
}

TEST_F(LogUpkeepTest, AFreshSpareHasNeverHadOtherRecords) {
  ASSERT_OK(Prepare());
  ContinueAndRelease(5);
  ASSERT_OK(Prepare());
  ContinueAndRelease(6);  // segment 2, whose file has not returned yet
  ASSERT_OK(Prepare());
  ContinueAndRelease(7);
  const uint64_t reused = upkeep_.reused();
  EXPECT_TRUE(MakeFreshSpare());
  EXPECT_EQ(upkeep_.reused(), reused);
  ContinueAndRelease(8);
  ASSERT_OK(Prepare());
  // Only the active segment and the spare have files.
  EXPECT_EQ(upkeep_.reused(), reused);
  EXPECT_EQ(SegmentNumbers(&disk_).size(), 2u);
}

TEST_F(LogUpkeepTest, WhatIsSyncedIsAttestedOnce) {
  {
    MutexLock lock(&chain_.mutex);
    chain_.AdvanceSynced(LogOffset(1, 504));
  }
  const LimitedMutexLock prepare(upkeep_.mutex());
  ASSERT_OK(upkeep_.Attest());
  EXPECT_EQ(State().synced, LogOffset(1, 504));
  fs_.CountCalls();
  ASSERT_OK(upkeep_.Attest());
  EXPECT_EQ(fs_.calls(), 0u);
}

TEST_F(LogUpkeepTest, BeforeARestartStateSaysThatNoEarlierSegmentIsNeeded) {
  ASSERT_OK(Prepare());
  {
    MutexLock lock(&chain_.mutex);
    chain_.ContinueInSpare(1000, 5);
  }
  const LimitedMutexLock prepare(upkeep_.mutex());
  ASSERT_OK(upkeep_.PrepareRestart());
  EXPECT_EQ(Spare(), 3u);
  EXPECT_EQ(State().low, 3u);
}

}  // namespace
}  // namespace bigtable
