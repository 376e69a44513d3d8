// The family and the deletions that a read is at.
#include "read/read_column.h"

#include <string>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

class ReadColumnTest : public testing::Test {
 protected:
  ReadColumnTest() {
    layout_.groups.push_back({.id = 0, .name = "default", .options = {}});
    layout_.groups.push_back({.id = 1, .name = "other", .options = {}});
    layout_.families.push_back({.name = "a", .group_id = 0, .gc = {}});
    layout_.families.push_back(
        {.name = "b", .group_id = 1, .gc = GcRule::MaxAge(absl::Microseconds(100)), .created = 5});
    column_.EnterRow();
  }
  bool EnterFamily(std::string_view family) {
    return column_.EnterFamily(std::string(family) + std::string("\0q\0\0", 4), layout_, now_);
  }
  bool Enter(std::string_view family) {
    if (!EnterFamily(family)) return false;
    column_.EnterColumn();
    return true;
  }
  static std::string CellKey(int64_t timestamp, SequenceNumber sequence) {
    std::string key = RowPrefix("r");
    AppendColumn(&key, "b", "q");
    AppendTrailer(&key, timestamp, {sequence, 0}, EntryKind::kCell);
    return key;
  }

  const absl::Time now_ = absl::FromUnixMicros(1000);
  TableLayout layout_;
  ReadColumn column_;
};

TEST_F(ReadColumnTest, FindsTheFamilyWithItsAgeLimit) {
  ASSERT_TRUE(Enter("a"));
  EXPECT_EQ(column_.family()->name, "a");
  ASSERT_TRUE(Enter("b"));
  EXPECT_EQ(column_.family()->name, "b");
  EXPECT_EQ(column_.min_timestamp(), 900);
}

TEST_F(ReadColumnTest, AFamilyThatTheTableDoesNotHaveIsNotEntered) {
  ASSERT_TRUE(Enter("a"));
  EXPECT_FALSE(EnterFamily("ab"));
  EXPECT_FALSE(column_.in_family());
  ASSERT_TRUE(Enter("b"));
  EXPECT_TRUE(column_.in_family());
}

TEST_F(ReadColumnTest, DeletionsCoverTheirScope) {
  column_.deletions().Add(EntryKind::kDeleteRow, {3, 0}, /*group_id=*/1);
  ASSERT_TRUE(Enter("a"));
  EXPECT_FALSE(column_.deletions().any()) << "the deletion is of the other group";
  column_.deletions().Add(EntryKind::kDeleteColumn, {4, 0}, 0);
  EXPECT_TRUE(column_.deletions().Hides({4, 0}, 1));
  column_.EnterColumn();
  EXPECT_FALSE(column_.deletions().any());
  ASSERT_TRUE(Enter("b"));
  EXPECT_TRUE(column_.deletions().Hides({3, 0}, 1));
  EXPECT_FALSE(column_.deletions().Hides({4, 0}, 1));
}

TEST_F(ReadColumnTest, TheSameFamilyOfTheNextRowForgetsDeletions) {
  column_.deletions().Add(EntryKind::kDeleteRow, {3, 0}, 0);
  ASSERT_TRUE(EnterFamily("a"));
  column_.deletions().Add(EntryKind::kDeleteFamily, {4, 0}, 0);
  column_.EnterColumn();
  EXPECT_TRUE(column_.deletions().has_wide());
  column_.EnterRow();
  EXPECT_FALSE(column_.in_family());
  ASSERT_TRUE(Enter("a"));
  EXPECT_FALSE(column_.deletions().any());
}

TEST_F(ReadColumnTest, ATimestampIsEnteredOncePerColumn) {
  ASSERT_TRUE(Enter("a"));
  EXPECT_FALSE(column_.IsAt(0));
  column_.EnterTimestamp(7);
  EXPECT_TRUE(column_.IsAt(7));
  EXPECT_FALSE(column_.IsAt(6));
  column_.EnterColumn();
  EXPECT_FALSE(column_.IsAt(7));
}

TEST_F(ReadColumnTest, APlainCellIsOneThatNothingMustBeAskedAbout) {
  ASSERT_TRUE(Enter("b"));
  column_.EnterRow();
  EXPECT_TRUE(column_.IsPlainCell(CellKey(900, 6), /*sequence=*/10));
  EXPECT_FALSE(column_.IsPlainCell(CellKey(899, 6), 10)) << "it may be too old";
  EXPECT_FALSE(column_.IsPlainCell(CellKey(900, 5), 10)) << "the family was created later";
  EXPECT_TRUE(column_.IsPlainCell(CellKey(900, 10), 10));
  EXPECT_FALSE(column_.IsPlainCell(CellKey(900, 11), 10)) << "the read does not see it";
  column_.EnterPlainCell(900);
  EXPECT_TRUE(column_.in_family());
  EXPECT_TRUE(column_.IsAt(900));
  column_.deletions().Add(EntryKind::kDeleteRow, {3, 0}, 1);
  EXPECT_FALSE(column_.IsPlainCell(CellKey(900, 6), 10)) << "a deletion may hide it";
}

}  // namespace
}  // namespace bigtable
