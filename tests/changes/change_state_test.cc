// What a tablet knows of its changes, as bytes, and of two tablets that become one.
#include "changes/change_state.h"

#include <string>

#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

ChangeState Example() {
  return {.whole_after = 300,
          .whole_since = -5,
          .drops = {{.sequence = 301, .micros = 9, .rows = RowRange::All()},
                    {.sequence = 302, .micros = 10, .rows = RowRange::RightOpen("a", "bc")}}};
}

TEST(ChangeStateTest, ComesBack) {
  for (const ChangeState& state : {ChangeState(), Example()}) {
    const auto again = ChangeState::Decode(state.Encode());
    ASSERT_OK(again);
    EXPECT_EQ(*again, state);
  }
  const auto none = ChangeState::Decode("");
  ASSERT_OK(none);
  EXPECT_EQ(*none, ChangeState());
}

// The bytes that formats.md describes.
TEST(ChangeStateTest, HasTheDocumentedForm) {
  const ChangeState state{
      .whole_after = 3,
      .whole_since = 4,
      .drops = {{.sequence = 5, .micros = 6, .rows = RowRange::RightOpen("a", "b")},
                {.sequence = 7, .micros = 8, .rows = RowRange::StartingAt("c")}}};
  EXPECT_EQ(state.Encode(), std::string("\1\3\x8\2"
                                        "\5\xc\1a\1\1b"
                                        "\7\x10\1c\0",
                                        16));
}

TEST(ChangeStateTest, CutAndLongerBytesAreDataLoss) {
  const std::string bytes = Example().Encode();
  for (size_t i = 1; i < bytes.size(); ++i) {
    EXPECT_STATUS(kDataLoss, "cut", ChangeState::Decode(bytes.substr(0, i)));
  }
  EXPECT_STATUS(kDataLoss, "cut", ChangeState::Decode(bytes + "x"));
}

TEST(ChangeStateTest, ALaterVersionIsRefused) {
  std::string bytes = Example().Encode();
  bytes[0] = 2;
  EXPECT_STATUS(kFailedPrecondition, "format version 2", ChangeState::Decode(bytes));
}

TEST(ChangeStateTest, AMergedTabletIsWholeWhereBothWere) {
  const ChangeState::Drop both{.sequence = 5, .micros = 1, .rows = RowRange::RightOpen("a", "z")};
  const ChangeState::Drop left_only{.sequence = 9, .micros = 2, .rows = RowRange::StartingAt("b")};
  const ChangeState::Drop right_only{.sequence = 7, .micros = 3, .rows = RowRange::StartingAt("x")};
  const ChangeState left{.whole_after = 3, .whole_since = 10, .drops = {both, left_only}};
  const ChangeState right{.whole_after = 4, .whole_since = 8, .drops = {both, right_only}};
  const ChangeState merged = ChangeState::Merged(left, right);
  EXPECT_EQ(
      merged,
      (ChangeState{.whole_after = 4, .whole_since = 10, .drops = {both, right_only, left_only}}));
  EXPECT_EQ(merged, ChangeState::Merged(right, left));
}

}  // namespace
}  // namespace bigtable
