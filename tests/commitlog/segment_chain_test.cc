#include "commitlog/segment_chain.h"

#include <cstdint>
#include <string>
#include <vector>

#include "commitlog/segment_test_util.h"

namespace bigtable {
namespace {

using testing::ElementsAre;

class SegmentChainTest : public testing::Test {
 protected:
  SegmentChainTest() {
    segments_.MakeSpare(&chain_);
    MutexLock lock(&chain_.mutex);
    chain_.Restart();
  }

  // The log continues in a new segment. The one before it ends at 1000, with this record.
  void Continue(SequenceNumber last) {
    segments_.MakeSpare(&chain_);
    MutexLock lock(&chain_.mutex);
    EXPECT_OK(chain_.spare()->NeedMemory());
    chain_.ContinueInSpare(1000, last);
  }
  // A switch to a new segment, which repeats the log from this offset on.
  void Switch(uint64_t from, SequenceNumber last) {
    segments_.MakeSpare(&chain_);
    MutexLock lock(&chain_.mutex);
    const Ref<LogSegment> copy = chain_.TakeSpareToCopy();
    chain_.ContinueInCopy(copy, from, last);
  }
  void Release(SequenceNumber sequence) {
    MutexLock lock(&chain_.mutex);
    chain_.ReleaseThrough(sequence);
  }
  size_t Retired() {
    MutexLock lock(&chain_.mutex);
    return chain_.retired();
  }
  uint64_t Active() {
    MutexLock lock(&chain_.mutex);
    return chain_.active()->number();
  }
  // The numbers of the segments to sync.
  std::vector<uint64_t> Unsynced(uint64_t end) {
    MutexLock lock(&chain_.mutex);
    std::vector<SegmentPiece> pieces;
    chain_.CollectUnsynced(end, &pieces);
    std::vector<uint64_t> numbers;
    for (const SegmentPiece& piece : pieces) numbers.push_back(piece.segment->number());
    return numbers;
  }
  // "number: begin-end" of each piece; "no memory" if one is no longer in memory.
  std::vector<std::string> Collect(uint64_t from, uint64_t end) {
    MutexLock lock(&chain_.mutex);
    std::vector<SegmentPiece> pieces;
    uint64_t bytes = 0;
    if (!chain_.Collect(from, end, &pieces, &bytes)) return {"no memory"};
    std::vector<std::string> out;
    for (const SegmentPiece& piece : pieces) {
      out.push_back(Cat(piece.segment->number(), ": ", piece.begin, "-", piece.end));
      bytes -= piece.size();
    }
    EXPECT_EQ(bytes, 0u);
    return out;
  }

  TestSegments segments_{false};
  SegmentChain chain_;
};

TEST_F(SegmentChainTest, SegmentsAreNumberedWithoutGaps) {
  EXPECT_EQ(Active(), 1u);
  Continue(5);
  EXPECT_EQ(Active(), 2u);
  Switch(LogOffset(2, 0), 6);
  EXPECT_EQ(Active(), 3u);
  MutexLock lock(&chain_.mutex);
  EXPECT_EQ(chain_.next_number(), 4u);
  EXPECT_FALSE(chain_.spare());
}

TEST_F(SegmentChainTest, ASegmentIsRetiredOnceItHasEndedAndIsReleased) {
  Release(5);
  EXPECT_EQ(Retired(), 0u);  // it is active
  Continue(5);
  Release(4);
  EXPECT_EQ(chain_.released(), 5u);
  EXPECT_EQ(Retired(), 0u);
  EXPECT_EQ(chain_.needed_bytes(), 2 * kSmallSegment);
  chain_.set_needs_upkeep(false);
  Release(5);
  EXPECT_EQ(Retired(), 1u);
  EXPECT_EQ(chain_.needed_bytes(), kSmallSegment);
  EXPECT_TRUE(chain_.needs_upkeep());
  MutexLock lock(&chain_.mutex);
  EXPECT_EQ(chain_.State().low, 2u);
  EXPECT_EQ(chain_.State().released, 5u);
}

TEST_F(SegmentChainTest, RetiredSegmentsAreSyncedUntilTheyAreForgotten) {
  Continue(5);
  Continue(10);
  Release(5);
  const uint64_t end = LogOffset(3, 200);
  EXPECT_THAT(Unsynced(end), ElementsAre(1u, 2u, 3u));
  {
    const LimitedMutexLock prepare(&chain_.prepare_mutex);
    MutexLock lock(&chain_.mutex);
    EXPECT_EQ(chain_.Forget(1).front()->number(), 1u);
  }
  EXPECT_THAT(Unsynced(end), ElementsAre(2u, 3u));
  EXPECT_EQ(Retired(), 0u);
}

TEST_F(SegmentChainTest, WhatIsSyncedIsNotSyncedAgain) {
  Continue(5);
  Continue(10);
  {
    MutexLock lock(&chain_.mutex);
    chain_.AdvanceSynced(LogOffset(2, 1000));
  }
  EXPECT_THAT(Unsynced(LogOffset(3, 0)), ElementsAre());
  EXPECT_THAT(Unsynced(LogOffset(3, 8)), ElementsAre(3u));
}

TEST_F(SegmentChainTest, RecordsAreCollectedFromTheLastTwoSegments) {
  Continue(5);
  EXPECT_THAT(Collect(LogOffset(1, 96), LogOffset(2, 200)), ElementsAre("1: 96-1000", "2: 0-200"));
  EXPECT_THAT(Collect(LogOffset(1, 1000), LogOffset(2, 200)), ElementsAre("2: 0-200"));
  EXPECT_THAT(Collect(LogOffset(2, 200), LogOffset(2, 200)), ElementsAre());
  // The memory of earlier ones, which are not mapped, is gone.
  Continue(10);
  EXPECT_THAT(Collect(LogOffset(1, 96), LogOffset(3, 8)), ElementsAre("no memory"));
  EXPECT_THAT(Collect(LogOffset(2, 96), LogOffset(3, 8)), ElementsAre("2: 96-1000", "3: 0-8"));
}

TEST_F(SegmentChainTest, WhatASwitchReplacesIsNeitherSyncedNorCollected) {
  Continue(5);
  Switch(LogOffset(1, 504), 7);
  const uint64_t end = LogOffset(3, 200);
  // Up to the offset segment 1 counts, and nothing of segment 2.
  EXPECT_THAT(Unsynced(end), ElementsAre(1u, 3u));
  EXPECT_THAT(Collect(LogOffset(2, 0), end), ElementsAre("3: 0-200"));
  // A later switch does not add to segments that have ended.
  Switch(LogOffset(3, 96), 9);
  EXPECT_THAT(Unsynced(LogOffset(4, 8)), ElementsAre(1u, 3u, 4u));
  Release(7);
  EXPECT_EQ(Retired(), 2u);
}

TEST_F(SegmentChainTest, ASwitchThatGivesUpLeavesTheNumberToUpkeep) {
  segments_.MakeSpare(&chain_);
  chain_.set_needs_upkeep(false);
  {
    MutexLock lock(&chain_.mutex);
    const Ref<LogSegment> copy = chain_.TakeSpareToCopy();
    EXPECT_EQ(copy->number(), 2u);
    EXPECT_TRUE(chain_.copying());
    chain_.GiveUpCopy();
    EXPECT_FALSE(chain_.copying());
  }
  EXPECT_TRUE(chain_.needs_upkeep());
  segments_.MakeSpare(&chain_);
  MutexLock lock(&chain_.mutex);
  EXPECT_EQ(chain_.spare()->number(), 2u);
}

TEST_F(SegmentChainTest, ARestartLeavesNothingOfTheSegmentsBefore) {
  Continue(5);
  Release(5);
  segments_.MakeSpare(&chain_);
  {
    MutexLock lock(&chain_.mutex);
    EXPECT_OK(chain_.spare()->NeedMemory());
    EXPECT_EQ(chain_.Restart().size(), 2u);
  }
  EXPECT_EQ(Active(), 3u);
  EXPECT_EQ(Retired(), 0u);
  EXPECT_EQ(chain_.synced(), LogOffset(3, 0));
  EXPECT_EQ(chain_.needed_bytes(), kSmallSegment);
  for (const auto& returned : segments_.returns().Take()) EXPECT_FALSE(returned.reusable);
}

}  // namespace
}  // namespace bigtable
