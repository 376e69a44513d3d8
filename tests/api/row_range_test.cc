// RowRange and RowSet.
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

namespace bigtable {
namespace {

using namespace std::string_literals;

TEST(RowRangeTest, PrefixOfAllOnesHasNoEnd) {
  EXPECT_EQ(RowRange::Prefix("\xff\xff").begin(), "\xff\xff");
  EXPECT_FALSE(RowRange::Prefix("\xff\xff").end().has_value());
  EXPECT_EQ(RowRange::Prefix("a\xff").end(), "b");
  EXPECT_EQ(RowRange::Prefix(""), RowRange::All());
}

TEST(RowRangeTest, EmptyAndContainsAgree) {
  EXPECT_FALSE(RowRange::All().empty());
  EXPECT_TRUE(RowRange::RightOpen("b", "b").empty());
  EXPECT_TRUE(RowRange::Closed("b", "a").empty());
  EXPECT_FALSE(RowRange::Single("a").empty());
  EXPECT_TRUE(RowRange::Single("a").Contains("a"));
  EXPECT_FALSE(RowRange::Single("a").Contains("a\0"s));
  EXPECT_TRUE(RowRange::Open("a", "b").Contains("a\0"s));
  EXPECT_FALSE(RowRange::Open("a", "b").Contains("a"));
}

TEST(RowSetTest, NormalizedRangesAreSortedDoNotTouchAndAreNotEmpty) {
  RowSet rows;
  rows.Append(RowRange::RightOpen("m", "p"));
  rows.Append("a");
  rows.Append(RowRange::RightOpen("k", "m"));  // touches the first
  rows.Append(RowRange::RightOpen("x", "b"));  // empty
  rows.Append(RowRange::RightOpen("n", "o"));  // inside
  rows.Append("a\0"s);                         // the next possible row after "a"
  rows.Append(RowRange::RightOpen("c", "e"));

  const std::vector<RowRange> normalized = rows.Normalized();

  EXPECT_EQ(normalized,
            (std::vector<RowRange>{RowRange::RightOpen("a", "a\0\0"s),
                                   RowRange::RightOpen("c", "e"), RowRange::RightOpen("k", "p")}));
}

TEST(RowSetTest, ARangeWithoutEndContainsAllLaterRanges) {
  RowSet rows;
  rows.Append(RowRange::StartingAt("m"));
  rows.Append(RowRange::Closed("x", "y"));
  rows.Append("b");

  EXPECT_EQ(rows.Normalized(),
            (std::vector<RowRange>{RowRange::Single("b"), RowRange::StartingAt("m")}));
  EXPECT_TRUE(RowSet().Normalized().empty());
}

}  // namespace
}  // namespace bigtable
