// Which cells of a column a read keeps, cell by cell.
#include "read/kept_versions.h"

#include <string>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

using Answer = KeptVersions::Answer;

class KeptVersionsTest : public testing::Test {
 protected:
  void SetRule(const GcRule& rule) { family_ = {.name = "f", .group_id = 0, .gc = rule}; }
  Answer Judge(int64_t timestamp, SequenceNumber written = 100, bool alive = true) {
    return versions_.Judge(family_, now_, timestamp, written, alive);
  }

  const absl::Time now_ = absl::FromUnixMicros(1000);
  FamilyLayout family_;
  KeptVersions versions_{/*may_count=*/true};
};

TEST_F(KeptVersionsTest, TheFirstCellsAreKept) {
  SetRule(GcRule::MaxVersions(2));
  versions_.EnterColumn();
  EXPECT_EQ(Judge(9), Answer::kKept);
  EXPECT_EQ(Judge(8), Answer::kKept);
  EXPECT_EQ(Judge(7), Answer::kAllOlderCollected);
  versions_.EnterColumn();
  EXPECT_EQ(Judge(9), Answer::kKept) << "another column is counted anew";
}

TEST_F(KeptVersionsTest, ACellAtWhichTheColumnWasEnteredCounts) {
  SetRule(GcRule::MaxVersions(2));
  versions_.EnterAtCell();
  EXPECT_EQ(Judge(8), Answer::kKept);
  EXPECT_EQ(Judge(7), Answer::kAllOlderCollected);
}

TEST_F(KeptVersionsTest, ACellBehindADeletedOneNeedsTheHistory) {
  SetRule(GcRule::MaxVersions(2));
  versions_.EnterColumn();
  EXPECT_EQ(Judge(9, 100, /*alive=*/false), Answer::kCollected);
  EXPECT_EQ(Judge(8), Answer::kAsHistorySays);
  versions_.EnterColumn();
  versions_.AddDead();
  EXPECT_EQ(Judge(8), Answer::kAsHistorySays);
}

TEST_F(KeptVersionsTest, WithoutTheShortcutEveryColumnIsPlayed) {
  SetRule(GcRule::MaxVersions(2));
  KeptVersions replays(/*may_count=*/false);
  replays.EnterColumn();
  EXPECT_EQ(replays.Judge(family_, now_, 9, 100, true), Answer::kAsHistorySays);
  replays.EnterAtCell();
  EXPECT_EQ(replays.Judge(family_, now_, 8, 100, true), Answer::kAsHistorySays);
}

TEST_F(KeptVersionsTest, ThePlayedHistoryDecides) {
  SetRule(GcRule::MaxVersions(2));
  versions_.EnterColumn();
  EXPECT_EQ(Judge(9, 4, false), Answer::kCollected);
  EXPECT_EQ(Judge(8, 3), Answer::kAsHistorySays);
  ASSERT_FALSE(versions_.is_played());
  EXPECT_EQ(versions_.LifeAt(8), nullptr);
  // At 4 the cell at 9 is deleted; until then it and the one at 8 have pushed out the one at 7.
  ColumnHistory* const history = versions_.NewHistory();
  history->Add(9, {2, 0}, EntryKind::kCell);
  history->Add(9, {4, 0}, EntryKind::kDeleteCell);
  history->Add(8, {3, 0}, EntryKind::kCell);
  history->Add(7, {1, 0}, EntryKind::kCell);
  history->Add(6, {5, 0}, EntryKind::kCell);
  ASSERT_TRUE(history->Play({}, {.most = 2}, [] { return true; }));
  versions_.SetPlayed();
  EXPECT_TRUE(versions_.JudgeByHistory(8, {3, 0}));
  ASSERT_NE(versions_.LifeAt(8), nullptr);
  EXPECT_EQ(Judge(7, 1), Answer::kAsHistorySays);
  EXPECT_FALSE(versions_.JudgeByHistory(7, {1, 0}));
  EXPECT_FALSE(versions_.JudgeByHistory(6, {4, 0})) << "the read has met another write there";
  EXPECT_TRUE(versions_.JudgeByHistory(6, {5, 0}));
  EXPECT_EQ(Judge(5, 1), Answer::kAllOlderCollected) << "kept cells count";
  versions_.EnterColumn();
  EXPECT_FALSE(versions_.is_played());
}

TEST_F(KeptVersionsTest, AStepOfARuleKeepsYoungCells) {
  SetRule(GcRule::Intersection(GcRule::MaxVersions(1), GcRule::MaxAge(absl::Microseconds(100))));
  versions_.EnterColumn();
  EXPECT_EQ(Judge(950), Answer::kKept);
  EXPECT_EQ(Judge(940), Answer::kKept) << "one newer version, but it is not old";
  EXPECT_EQ(Judge(800), Answer::kAllOlderCollected);
}

TEST_F(KeptVersionsTest, ACellFromBeforeALooserRuleNeedsTheHistoryUnlessItIsTheFirst) {
  SetRule(GcRule::MaxVersions(1));
  family_.ChangeRule(GcRule::MaxVersions(3), /*change=*/50, now_);
  versions_.EnterColumn();
  EXPECT_EQ(Judge(9, 40), Answer::kKept);
  EXPECT_EQ(Judge(8, 60), Answer::kKept);
  EXPECT_EQ(Judge(7, 40), Answer::kAsHistorySays);
}

}  // namespace
}  // namespace bigtable
