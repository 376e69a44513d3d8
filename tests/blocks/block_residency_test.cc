// Which blocks of a mapped file are brought into memory, and how.
#include "blocks/block_residency.h"

#include <optional>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "base/shortcuts.h"
#include "blocks/block_file_fixture.h"
#include "blocks/compression.h"
#include "support/expect_status.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class BlockResidencyTest : public BlockFileFixture {
 protected:
  using Way = BlockResidency::Way;

  void Open(size_t blocks) {
    AddBlocks(blocks, Compression::kNone);
    BlockFileFixture::Open(/*is_mapped=*/true);
    residency_.emplace(file_.get(), &index_, &pages_);
  }
  absl::Status BringIn(size_t i, bool was_touched = false,
                       BlockResidency::ReadAhead* ahead = nullptr) {
    return residency_->BringIn(i, was_touched, /*for_row=*/false, ahead, &way_);
  }
  Way WayForRow(size_t i) {
    EXPECT_OK(residency_->BringIn(i, /*was_touched=*/false, /*for_row=*/true, nullptr, &way_));
    return way_;
  }
  // A file of which nothing is in memory, which is not plentiful.
  void OpenCold() {
    Open(100);
    pages_.CountKnown(100'000);
    pages_.EndEpoch();
    events_.is_resident = false;
  }
  void EndRound() {
    for (const uint8_t before = pages_.round(); pages_.round() == before;) pages_.CountPast(1);
  }
  void ResetCounts() {
    const bool is_resident = events_.is_resident;
    events_ = {};
    events_.is_resident = is_resident;
  }

  NoFaults pages_;
  std::optional<BlockResidency> residency_;
  Way way_ = Way::kPosition;
};

TEST_F(BlockResidencyTest, BlocksAroundTheFirstAreQueriedAndPopulatedTogetherAndOnce) {
  Open(100);
  for (const size_t i : {50, 0, 99, 50}) {
    ASSERT_OK(BringIn(i));
    EXPECT_EQ(way_, Way::kMapping);
  }
  EXPECT_EQ(events_.queries, 1);
  EXPECT_EQ(events_.populations, 1);
  EXPECT_EQ(events_.requests, 0);
  EXPECT_EQ(events_.last_length, bytes_.size());
}

TEST_F(BlockResidencyTest, BlocksThatAreMissingAreRequestedBeforeTheyArePopulated) {
  Open(100);
  events_.is_resident = false;
  events_.on_access = [this] { EXPECT_EQ(events_.requests, 1); };
  ASSERT_OK(BringIn(50));
  EXPECT_EQ(events_.populations, 1);
  EXPECT_EQ(events_.last_length, bytes_.size());
}

TEST_F(BlockResidencyTest, InANewEpochABlockIsQueriedAgainAndPopulatedUnlessItWasTouched) {
  Open(3);
  ASSERT_OK(BringIn(0));
  pages_.EndEpoch();
  ResetCounts();
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_OK(BringIn(0, /*was_touched=*/true));
    EXPECT_EQ(events_.queries, 1);
    EXPECT_EQ(events_.populations, 0);
  }
  ResetCounts();
  ASSERT_OK(BringIn(1, /*was_touched=*/false));
  EXPECT_EQ(events_.queries, 1);
  EXPECT_EQ(events_.populations, 1);
  EXPECT_EQ(events_.last_length, StoredSize(At(1))) << "memory is not plentiful";
}

TEST_F(BlockResidencyTest, WhereMemoryIsNotPlentifulAMissingBlockOfARowIsReadPastIt) {
  OpenCold();
  EXPECT_EQ(WayForRow(7), Way::kUncached);
  EXPECT_EQ(events_.requests + events_.populations, 0);
  EXPECT_EQ(WayForRow(50), Way::kUncached);
  events_.is_resident = true;
  EXPECT_EQ(WayForRow(30), Way::kMapping) << "in memory";
  EXPECT_EQ(events_.populations, 1) << "before it is touched for the first time";
}

TEST_F(BlockResidencyTest, AMissingBlockOfAScanIsReadAloneIntoTheMapping) {
  OpenCold();
  ASSERT_OK(BringIn(7));
  EXPECT_EQ(way_, Way::kMapping);
  EXPECT_EQ(events_.requests, 1);
  EXPECT_EQ(events_.populations, 1);
  EXPECT_EQ(events_.last_length, StoredSize(At(7)));
}

TEST_F(BlockResidencyTest, WhileMemoryIsPlentifulABlockOfARowIsReadWithThoseAroundIt) {
  Open(100);
  events_.is_resident = false;
  EXPECT_EQ(WayForRow(50), Way::kMapping);
  EXPECT_EQ(events_.requests, 1);
  EXPECT_EQ(events_.last_length, bytes_.size());
}

TEST_F(BlockResidencyTest, ABlockThatWasReadPastTheMemoryLatelyIsReadIntoTheMapping) {
  OpenCold();
  for (const size_t i : {10, 20, 30}) EXPECT_EQ(WayForRow(i), Way::kUncached);
  EXPECT_EQ(WayForRow(10), Way::kMapping) << "in the same round";
  EXPECT_EQ(events_.requests, 1);
  EXPECT_EQ(events_.populations, 1);
  EXPECT_EQ(events_.last_length, StoredSize(At(10)));
  EndRound();
  EXPECT_EQ(WayForRow(20), Way::kMapping) << "in the round before";
  EndRound();
  EXPECT_EQ(WayForRow(30), Way::kUncached) << "two rounds ago";
}

// As before the first read: it can be requested twice within two rounds again.
TEST_F(BlockResidencyTest, RoundsBeginAgainAfterTheLast) {
  OpenCold();
  for (int round = 0; round < 600; ++round) {
    ASSERT_NE(pages_.round(), 0);
    ASSERT_EQ(WayForRow(round % 2 == 0 ? 10 : 20), Way::kUncached) << round;
    EndRound();
    ASSERT_EQ(WayForRow(round % 2 == 0 ? 50 : 80), Way::kUncached) << round;
    EndRound();
  }
}

TEST_F(BlockResidencyTest, RowsInOrderAreReadIntoTheMapping) {
  OpenCold();
  EXPECT_EQ(WayForRow(40), Way::kUncached);
  EXPECT_EQ(WayForRow(40), Way::kMapping) << "the same block";
  EXPECT_EQ(WayForRow(41), Way::kMapping) << "the next one";
  EXPECT_EQ(WayForRow(42), Way::kMapping);
  EXPECT_EQ(WayForRow(70), Way::kUncached);
  EXPECT_EQ(WayForRow(69), Way::kMapping) << "the one before";
  EXPECT_EQ(WayForRow(0), Way::kUncached);
  EXPECT_EQ(WayForRow(99), Way::kUncached);
}

TEST_F(BlockResidencyTest, AFileThatCannotBeReadUncachedIsReadThroughItsMapping) {
  OpenCold();
  events_.reads_uncached = false;
  EXPECT_EQ(WayForRow(7), Way::kMapping);
  EXPECT_EQ(events_.populations, 1);
  events_.reads_uncached = true;
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kPastMapping));
  EXPECT_EQ(WayForRow(20), Way::kMapping) << "and without the shortcut";
}

TEST_F(BlockResidencyTest, ARequestedBlockOfARowIsReadByPosition) {
  OpenCold();
  for (const size_t i : {7, 20, 30, 40})
    EXPECT_EQ(residency_->Request(i, 0, false, nullptr), i + 1);
  ResetCounts();
  EXPECT_EQ(WayForRow(7), Way::kPosition);
  EXPECT_EQ(events_.requests + events_.populations, 0);
  ASSERT_OK(BringIn(20));
  EXPECT_EQ(way_, Way::kMapping) << "of a scan";
  EXPECT_EQ(events_.requests, 0);
  EXPECT_EQ(events_.populations, 1);
  events_.reads_by_position = false;
  EXPECT_EQ(WayForRow(30), Way::kMapping);
  events_.reads_by_position = true;
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kPastMapping));
  EXPECT_EQ(WayForRow(40), Way::kMapping);
}

TEST_F(BlockResidencyTest, ACursorBringsInAGrowingWindow) {
  Open(1000);
  BlockResidency::ReadAhead ahead;
  ASSERT_OK(BringIn(0, false, &ahead));
  EXPECT_NEAR(static_cast<double>(events_.last_length), 48 << 10, 2000);
  ASSERT_OK(BringIn(40, false, &ahead));
  EXPECT_EQ(events_.populations, 1) << "within the window";
  size_t i = 41;
  for (const uint64_t window : {96 << 10, 192 << 10, 256 << 10, 256 << 10}) {
    for (const uint64_t before = events_.populations; events_.populations == before; ++i) {
      ASSERT_OK(BringIn(i, false, &ahead));
    }
    EXPECT_NEAR(static_cast<double>(events_.last_length), static_cast<double>(window), 2000);
  }
  EXPECT_EQ(events_.requests, 0);
}

TEST_F(BlockResidencyTest, ALongScanOfMissingBlocksGoesOnByPosition) {
  Open(3000);
  events_.is_resident = false;
  BlockResidency::ReadAhead ahead;
  size_t first = 0;
  for (size_t i = 0; i < 3000; ++i) {
    ASSERT_OK(BringIn(i, false, &ahead));
    if (way_ == Way::kPosition && first == 0) first = i;
    EXPECT_EQ(way_, first > 0 ? Way::kPosition : Way::kMapping) << i;
  }
  EXPECT_GT(first, 700) << "after a megabyte";
  EXPECT_LT(first, 1300);
}

TEST_F(BlockResidencyTest, AnErrorOfARangeIsNotAnErrorOfTheBlock) {
  Open(100);
  events_.is_resident = false;
  int accesses = 0;
  events_.on_access = [&] {
    events_.failure = ++accesses % 2 == 1 ? absl::UnavailableError("no") : absl::OkStatus();
  };
  ASSERT_OK(BringIn(50));
  EXPECT_EQ(accesses, 2);
  EXPECT_EQ(events_.last_length, StoredSize(At(50))) << "alone";
  BlockResidency::ReadAhead ahead;
  ASSERT_OK(BringIn(51, false, &ahead));
  EXPECT_EQ(accesses, 4);
  EXPECT_EQ(events_.last_length, StoredSize(At(51)));
}

TEST_F(BlockResidencyTest, AnErrorOfTheBlockIsReturnedAndNotRemembered) {
  Open(100);
  events_.failure = absl::UnavailableError("t: Input/output error");
  EXPECT_STATUS(kUnavailable, "t: Input/output error", BringIn(50));
  BlockResidency::ReadAhead ahead;
  EXPECT_STATUS(kUnavailable, "t: Input/output error", BringIn(51, false, &ahead));
  events_.failure = absl::OkStatus();
  EXPECT_OK(BringIn(50));
}

TEST_F(BlockResidencyTest, ItsBlocksCountAsKnownToTheProcessUntilItIsDestroyed) {
  Open(3);
  ASSERT_OK(BringIn(0));
  pages_.EndEpoch();
  pages_.CountFirstRead();
  EXPECT_FALSE(pages_.is_plentiful()) << "fewer reads than known blocks";
  residency_.reset();
  EXPECT_TRUE(pages_.is_plentiful());
}

}  // namespace
}  // namespace bigtable
