// The names of the row and the column that a read is in, from keys alone.
#include "read/key_position.h"

#include <string>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

std::string KeyIn(std::string_view row, std::string_view qualifier, std::string_view family = "f") {
  std::string key = RowPrefix(row);
  AppendColumn(&key, family, qualifier);
  AppendTrailer(&key, /*timestamp=*/1, {1, 0}, EntryKind::kCell);
  return key;
}

class KeyPositionTest : public testing::Test {
 protected:
  // As a read enters the column of a key. Returns whether it was in the same row.
  bool Enter(const std::string& key) {
    const bool same_row = at_.EnterColumn(key);
    if (!same_row) {
      bool is_plain;
      const size_t size = RowPrefixSize(key, &is_plain);
      at_.EnterRow(size, is_plain);
    }
    is_plain_ = at_.EnterQualifier(at_.family_and_qualifier().substr(2));
    if (is_plain_) at_.ExpectSameColumn();
    return same_row;
  }

  KeyPosition at_;
  bool is_plain_ = false;
};

TEST_F(KeyPositionTest, NamesTheRowAndTheQualifier) {
  EXPECT_FALSE(at_.in_row());
  EXPECT_FALSE(Enter(KeyIn("row", "one")));
  EXPECT_TRUE(at_.in_row());
  EXPECT_EQ(at_.row(), "row");
  EXPECT_EQ(at_.qualifier(), "one");
  EXPECT_EQ(at_.row_prefix(), RowPrefix("row"));
  EXPECT_TRUE(Enter(KeyIn("row", "two")));
  EXPECT_EQ(at_.row(), "row");
  EXPECT_EQ(at_.qualifier(), "two");
  EXPECT_FALSE(Enter(KeyIn("rowing", "two")));
  EXPECT_EQ(at_.row(), "rowing");
}

TEST_F(KeyPositionTest, KnowsTheKeysOfItsColumnAndRow) {
  Enter(KeyIn("row", "one"));
  EXPECT_TRUE(at_.HasInColumn(KeyIn("row", "one")));
  EXPECT_FALSE(at_.HasInColumn(KeyIn("row", "two")));
  EXPECT_FALSE(at_.HasInColumn(KeyIn("row", "one1")));
  EXPECT_TRUE(at_.HasInRow(KeyIn("row", "two")));
  EXPECT_FALSE(at_.HasInRow(KeyIn("row2", "one")));
}

TEST_F(KeyPositionTest, NamesWithZeroBytesAreUnescaped) {
  const std::string zero("a\0b", 3);
  Enter(KeyIn(zero, "q"));
  EXPECT_EQ(at_.row(), zero);
  EXPECT_EQ(at_.qualifier(), "q");
  EXPECT_FALSE(is_plain_);
  Enter(KeyIn("row", zero));
  EXPECT_EQ(at_.row(), "row");
  EXPECT_EQ(at_.qualifier(), zero);
  EXPECT_FALSE(is_plain_);
}

TEST_F(KeyPositionTest, TheSameColumnOfAnotherRowIsEnteredWithoutParsing) {
  Enter(KeyIn("row1", "q"));
  const std::string next = KeyIn("row-two", "q");
  const size_t row_size = at_.RowOfSameColumn(next);
  ASSERT_EQ(row_size, 7u);
  at_.EnterSameColumn(next, row_size);
  EXPECT_EQ(at_.row(), "row-two");
  EXPECT_EQ(at_.qualifier(), "q");
  EXPECT_TRUE(at_.HasInColumn(next));
  // And from there again.
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn("s", "q")), 1u);
}

TEST_F(KeyPositionTest, OtherColumnsAndTheSameRowAreNotTheSameColumnOfAnotherRow) {
  Enter(KeyIn("row", "q"));
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn("row", "q")), 0u);
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn("row2", "p")), 0u);
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn("row2", "qq")), 0u);
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn("row2", "q", "g")), 0u);
  // Its row has an escaped zero byte, so that its size is not that of its name.
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn(std::string("a\0b", 3), "q")), 0u);
}

TEST_F(KeyPositionTest, NothingIsTheSameColumnUnlessItIsExpected) {
  at_.EnterPlain(KeyIn("row", "q"), RowPrefix("row").size(), /*escaped_size=*/3);
  EXPECT_EQ(at_.row(), "row");
  EXPECT_EQ(at_.qualifier(), "q");
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn("row2", "q")), 0u);
  at_.ExpectSameColumn();
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn("row2", "q")), 4u);
  at_.Clear();
  EXPECT_FALSE(at_.in_row());
  EXPECT_EQ(at_.RowOfSameColumn(KeyIn("row2", "q")), 0u);
}

}  // namespace
}  // namespace bigtable
