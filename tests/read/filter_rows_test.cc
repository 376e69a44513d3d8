// The range of rows that a filter can pass, from its regular expressions for row keys.
#include "read/filter_rows.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/filter.h"

#include "base/strings.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

std::string Describe(const RowRange& range) {
  if (range.empty()) return "none";
  return Cat("[", range.begin(), ", ", range.end().has_value() ? *range.end() : "end", ")");
}
std::string RowsOf(const Filter& filter) {
  EXPECT_TRUE(filter.status().ok()) << filter.status();
  return Describe(RowsOf(FilterNode::Of(filter)));
}
// The range of all rows from `first` to `last`, both included.
std::string Closed(std::string_view first, std::string_view last) {
  return Describe(RowRange::Closed(first, last));
}

const Filter kUsers = Filter::RowKeysRegex("user[2-4].*");
const std::string kRowsOfUsers = Closed("user2", "user5");

TEST(FilterRowsTest, ARegexLimitsTheRowsByWhatItsMatchesBeginWith) {
  EXPECT_EQ(RowsOf(kUsers), kRowsOfUsers);
  EXPECT_EQ(RowsOf(Filter::RowKeysRegex("com\\.cnn")), Closed("com.cnn", "com.cnn"));
  EXPECT_EQ(RowsOf(Filter::RowKeysRegex("b|aa")), Closed("aa", "b"));
  EXPECT_EQ(RowsOf(Filter::RowKeysRegex(".*x")), "[, end)");
  EXPECT_EQ(RowsOf(Filter::RowKeysRegex("\xff\x80")), Closed("\xff\x80", "\xff\x80"));
}

TEST(FilterRowsTest, ARegexOfRowsWithoutALastOneHasNoEnd) {
  EXPECT_EQ(RowsOf(Filter::RowKeysRegex("^\xff.*")), "[\xff, end)");
  EXPECT_EQ(RowsOf(Filter::RowKeysRegex("^\xff[\x80-\xff]+")), "[\xff, end)");
  const std::string many(70, '\xff');
  const RowRange rows = bigtable::RowsOf(FilterNode::Of(Filter::RowKeysRegex("^" + many)));
  EXPECT_TRUE(rows.Contains(many));
}

TEST(FilterRowsTest, OtherFiltersPassAllRowsOrNone) {
  EXPECT_EQ(RowsOf(Filter::PassAll()), "[, end)");
  EXPECT_EQ(RowsOf(Filter::Family("f")), "[, end)");
  EXPECT_EQ(RowsOf(Filter::RowSample(0.5)), "[, end)");
  EXPECT_EQ(RowsOf(Filter::BlockAll()), "none");
}

TEST(FilterRowsTest, AChainPassesTheRowsOfAllItsParts) {
  EXPECT_EQ(RowsOf(Filter::Chain(Filter::Latest(1), kUsers, Filter::RowKeysRegex("user3.*"))),
            Closed("user3", "user4"));
  EXPECT_EQ(RowsOf(Filter::Chain(kUsers, Filter::RowKeysRegex("x"))), "none");
}

TEST(FilterRowsTest, AnInterleaveAndAConditionPassTheRowsOfAnyPart) {
  const Filter other = Filter::RowKeysRegex("aa");
  EXPECT_EQ(RowsOf(Filter::Interleave(kUsers, other)), Closed("aa", "user5"));
  EXPECT_EQ(RowsOf(Filter::Interleave(kUsers, Filter::BlockAll())), kRowsOfUsers);
  EXPECT_EQ(RowsOf(Filter::Interleave(kUsers, Filter::Family("f"))), "[, end)");
  EXPECT_EQ(RowsOf(Filter::Condition(other, kUsers)), kRowsOfUsers);
  EXPECT_EQ(RowsOf(Filter::Condition(other, kUsers, Filter::PassAll())), "[, end)");
}

TEST(FilterRowsTest, WhatFollowsASinkLimitsNothing) {
  EXPECT_EQ(RowsOf(Filter::Chain(kUsers, Filter::Sink())), kRowsOfUsers);
  EXPECT_EQ(RowsOf(Filter::Chain(Filter::Interleave(Filter::PassAll(), Filter::Sink()), kUsers)),
            "[, end)");
}

TEST(FilterRowsTest, RangesAreClipped) {
  const ScopedShortcutsOn shortcuts;
  std::vector<RowRange> ranges = {RowRange::Single("a"), RowRange::RightOpen("b", "user3"),
                                  RowRange::StartingAt("user4"), RowRange::Single("z")};
  EXPECT_TRUE(ClipToFilter(FilterNode::Of(kUsers), &ranges));
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(Describe(ranges[0]), Describe(RowRange::RightOpen("user2", "user3")));
  EXPECT_EQ(Describe(ranges[1]), Closed("user4", "user5"));

  EXPECT_FALSE(ClipToFilter(FilterNode::Of(Filter::Family("f")), &ranges));
  EXPECT_EQ(ranges.size(), 2u);
}

}  // namespace
}  // namespace bigtable
