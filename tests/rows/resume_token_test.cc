// Tokens as bytes: those that a stream makes, and bytes that no stream would make, though their
// checksum is valid.
#include "rows/resume_token.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

std::string TokenWith(const std::vector<RowRange>& ranges) {
  ResumeToken token{.table_id = 7};
  token.ranges = ranges;
  return token.Encode();
}

TEST(ResumeTokenTest, ComesBack) {
  const std::vector<std::vector<RowRange>> lists = {
      {},
      {RowRange::All()},
      {RowRange::RightOpen("a", "b"), RowRange::StartingAt("c")},
      {RowRange::RightOpen("a", "b"), RowRange::RightOpen("b", "c")}};
  for (const std::vector<RowRange>& ranges : lists) {
    const auto token = ResumeToken::Decode(TokenWith(ranges));
    ASSERT_OK(token);
    EXPECT_EQ(token->table_id, 7u);
    EXPECT_EQ(token->ranges, ranges);
  }
}

// A stream of these would return rows twice, or out of order.
TEST(ResumeTokenTest, RangesThatAreEmptyOrOverlapOrAreNotInOrderAreRefused) {
  const std::vector<std::vector<RowRange>> lists = {
      {RowRange::RightOpen("b", "b")},
      {RowRange::RightOpen("b", "a")},
      {RowRange::RightOpen("c", "d"), RowRange::RightOpen("a", "b")},
      {RowRange::RightOpen("a", "c"), RowRange::RightOpen("b", "d")},
      {RowRange::RightOpen("a", "b"), RowRange::RightOpen("a", "b")},
      {RowRange::StartingAt("a"), RowRange::RightOpen("b", "c")}};
  for (const std::vector<RowRange>& ranges : lists) {
    EXPECT_STATUS(kInvalidArgument, "not a token", ResumeToken::Decode(TokenWith(ranges)).status());
  }
}

}  // namespace
}  // namespace bigtable
