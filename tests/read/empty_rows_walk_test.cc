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
  std::string Begin(int begin, int end) {
    KeyBuffer key;
    key.assign(RowOf(begin));
    return walk_.SkipBeginning(rows_.get(), View(), &key, RowOf(end)) ? std::string(key.view())
                                                                      : std::string();
  }
  // A read that walks from row `begin` to before row `end`, where it finds a cell.
  void WalkOver(int begin, int end) {
    EXPECT_EQ(Begin(begin, 800), RowOf(begin));
    walk_.Start();
    for (int i = begin; i < end; ++i) {
      if (walk_.EnterRow()) {
        KeyBuffer row;
        row.assign(RowOf(i));
        walk_.SkipRows(RowOf(begin), &row, RowOf(800));
      }
    }
    ASSERT_TRUE(walk_.walks());
    walk_.End(RowOf(begin), RowOf(end));
    EXPECT_FALSE(walk_.walks());
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
  rows_->Watch(rows_->epoch(), RowOf(0));
  WalkOver(0, 3);
  EXPECT_EQ(Begin(0, 20), RowOf(0));
  WalkOver(0, 5);
  EXPECT_EQ(Begin(0, 20), RowOf(5));
}

TEST_F(EmptyRowsWalkTest, RowsAreSkippedInTheMiddleOfAWalk) {
  WalkOver(10, 19);
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  walk_.Start();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(walk_.EnterRow());
  EXPECT_TRUE(walk_.EnterRow());
  KeyBuffer row;
  row.assign(RowOf(12));
  EXPECT_EQ(walk_.SkipRows(RowOf(0), &row, RowOf(800)), EmptyRows::Skipped::kSome);
  EXPECT_EQ(row.view(), RowOf(19));
  row.clear();
  row.assign(RowOf(12));
  EXPECT_EQ(walk_.SkipRows(RowOf(0), &row, RowOf(15)), EmptyRows::Skipped::kAll);
  // It asks again after as many rows.
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(walk_.EnterRow());
  EXPECT_TRUE(walk_.EnterRow());
}

TEST_F(EmptyRowsWalkTest, AStoppedWalkCountsNoRows) {
  EXPECT_EQ(Begin(0, 800), RowOf(0));
  walk_.Start();
  walk_.Stop();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(walk_.EnterRow());
  EXPECT_FALSE(walk_.walks());
}

}  // namespace
}  // namespace bigtable
