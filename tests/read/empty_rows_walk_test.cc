// The walk of one read over empty rows, without the read.
#include "read/empty_rows_walk.h"

#include <string>

#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "support/scoped_empty_rows.h"

namespace bigtable {
namespace {

class EmptyRowsWalkTest : public testing::Test {
 protected:
  static std::string RowOf(int i) { return RowPrefix(std::to_string(100 + i)); }
  EmptyRows::View View() const { return {rows_->epoch(), /*sequence=*/50, absl::InfinitePast()}; }
  // Where a read of [begin, end) begins; empty: nowhere.
  std::string Begin(int begin, int end, bool reverse = false) {
    KeyBuffer first, last;
    first.assign(RowOf(begin));
    last.assign(RowOf(end));
    walk_.Stop();
    if (!walk_.SkipBeginning(rows_.get(), View(), reverse, &first, &last)) return "";
    return std::string(reverse ? last.view() : first.view());
  }
  // The read enters the row. Where it goes on, if not there; "-": nowhere.
  std::string Enter(int row, bool behind_cells = false, int begin = 0, int end = 800) {
    KeyBuffer at;
    if (!walk_.EnterRow(behind_cells)) return "";
    switch (walk_.SkipRows(RowOf(row), RowOf(begin), RowOf(end), &at)) {
      case EmptyRows::Skipped::kNone:
        return "";
      case EmptyRows::Skipped::kSome:
        return std::string(at.view());
      case EmptyRows::Skipped::kAll:
        return "-";
    }
    return "";
  }
  // A read that walks from row `begin` to before row `end`, where it finds a cell.
  void WalkOver(int begin, int end) {
    EXPECT_EQ(Begin(begin, 800), RowOf(begin));
    walk_.Start(/*is_complete=*/true);
    for (int i = begin; i < end; ++i) Enter(i, false, begin);
    ASSERT_TRUE(walk_.walks());
    walk_.SeeCell(RowOf(end), RowOf(begin), RowOf(800));
  }

  const ScopedEmptyRows thresholds_{4};
  const Ref<EmptyRows> rows_ = MakeRef<EmptyRows>();
  EmptyRowsWalk walk_;
};

TEST_F(EmptyRowsWalkTest, ALongWalkIsReportedAndSkippedLater) {
  WalkOver(0, 9);
  EXPECT_EQ(rows_->ranges(), 1u);
  EXPECT_EQ(Begin(0, 20), RowOf(9));
  EXPECT_EQ(Begin(5, 20), RowOf(9));
  EXPECT_EQ(Begin(9, 20), RowOf(9));
}

TEST_F(EmptyRowsWalkTest, ARangeThatEndsAmongEmptyRowsIsNotRead) {
  WalkOver(0, 9);
  EXPECT_EQ(Begin(0, 9), "");
  EXPECT_EQ(Begin(0, 4), "");
}

TEST_F(EmptyRowsWalkTest, AShortWalkIsNotWorthAReport) {
  rows_->Watch(rows_->epoch(), RowOf(0), 1);
  WalkOver(0, 3);
  EXPECT_EQ(Begin(0, 20), RowOf(0));
  WalkOver(0, 5);
  EXPECT_EQ(Begin(0, 20), RowOf(5));
}

TEST_F(EmptyRowsWalkTest, RowsAreSkippedInTheMiddleOfAWalk) {
  WalkOver(10, 19);
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  walk_.Start(true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Enter(9 + i), "");
  EXPECT_EQ(Enter(12), RowOf(19));
  // It asks again after as many rows.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Enter(9 + i), "");
  EXPECT_EQ(Enter(12, false, 0, 15), "-");
}

TEST_F(EmptyRowsWalkTest, RowsBetweenLiveRowsAreReported) {
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  walk_.Start(true);
  Enter(0);
  Enter(1, /*behind_cells=*/true);
  for (int i = 2; i < 9; ++i) Enter(i);
  walk_.SeeCell(RowOf(9), RowOf(0), RowOf(800));
  Enter(10, /*behind_cells=*/true);
  for (int i = 11; i < 20; ++i) Enter(i);
  walk_.End(RowOf(0), RowOf(20));
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  // From the fourth on, when the row is remembered.
  EXPECT_EQ(Begin(3, 800), RowOf(3));
  EXPECT_EQ(Begin(4, 800), RowOf(9));
  EXPECT_EQ(Begin(9, 800), RowOf(9));
  EXPECT_EQ(Begin(13, 800), RowOf(20));
}

TEST_F(EmptyRowsWalkTest, ARowWithACellThatTheFilterExcludesEndsAWalk) {
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  walk_.Start(true);
  for (int i = 0; i < 12; ++i) {
    Enter(i);
    if (i % 3 == 2) walk_.SeeCell(RowOf(i), RowOf(0), RowOf(800));
  }
  walk_.End(RowOf(0), RowOf(12));
  EXPECT_EQ(rows_->ranges(), 0u);
}

TEST_F(EmptyRowsWalkTest, AReadInReverseReportsAndSkips) {
  const std::string behind_2 = PrefixSuccessor(RowOf(2));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(Begin(0, 20, /*reverse=*/true), round == 0 ? RowOf(20) : behind_2);
    walk_.Start(true);
    if (round > 0) continue;
    for (int i = 20; i-- > 3;) Enter(i);
    walk_.SeeCell(RowOf(2), RowOf(0), RowOf(20));
  }
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  EXPECT_EQ(Begin(3, 800), RowOf(20));
  // Behind a live row, it asks at the fourth.
  EXPECT_EQ(Begin(0, 30, true), RowOf(30));
  walk_.Start(true);
  EXPECT_EQ(Enter(22, /*behind_cells=*/true), "");
  EXPECT_EQ(Enter(21), "");
  EXPECT_EQ(Enter(20), "");
  EXPECT_EQ(Enter(19), behind_2);
  walk_.SeeCell(RowOf(2), RowOf(0), RowOf(30));
  Enter(1, true);
  for (int i = 0; i < 2; ++i) Enter(18);
  EXPECT_EQ(Enter(17, false, /*begin=*/5), "-");
}

TEST_F(EmptyRowsWalkTest, AReadThatDoesNotSeeAllCellsSkipsAndReportsNothing) {
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  walk_.Start(/*is_complete=*/false);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(Enter(i), "");
  walk_.End(RowOf(0), RowOf(9));
  EXPECT_EQ(rows_->ranges(), 0u);
  WalkOver(10, 19);
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  walk_.Start(/*is_complete=*/false);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Enter(9 + i), "");
  EXPECT_EQ(Enter(12), RowOf(19));
}

TEST_F(EmptyRowsWalkTest, AStoppedWalkCountsNoRows) {
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  walk_.Start(true);
  walk_.Stop();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(walk_.EnterRow(false));
  EXPECT_FALSE(walk_.walks());
}

}  // namespace
}  // namespace bigtable
