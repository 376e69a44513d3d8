// What a tablet knows of its changes, as bytes, and of two tablets that become one.
#include "changes/change_state.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

ChangeState Example() {
  return {.whole_after = 300,
          .whole_since = -5,
          .drops = {{.sequence = 301, .micros = 9, .rows = RowRange::All()},
                    {.sequence = 302, .micros = 10, .rows = RowRange::RightOpen("a", "bc")}},
          .collections_whole_after = 200,
          .collections = {{.sequence = 303,
                           .micros = 12,
                           .collected_at = -3,
                           .rows = RowRange::RightOpen("a", "bc"),
                           .families = {"f", "g"}},
                          {.sequence = 304,
                           .micros = 13,
                           .collected_at = 11,
                           .rows = RowRange::StartingAt("a"),
                           .families = {"h"}}}};
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
                {.sequence = 7, .micros = 8, .rows = RowRange::StartingAt("c")}},
      .collections_whole_after = 2,
      .collections = {{.sequence = 9,
                       .micros = 10,
                       .collected_at = 1,
                       .rows = RowRange::RightOpen("a", "b"),
                       .families = {"f", "gh"}}}};
  const std::string before(
      "\3\x8\2"
      "\5\xc\1a\1\1b"
      "\7\x10\1c\0",
      15);
  EXPECT_EQ(state.Encode(), "\2" + before +
                                std::string("\2\1"
                                            "\x9\x14\2\1a\1\1b\2\1f\2gh",
                                            16));

  // Version 1 has no collections.
  const auto earlier = ChangeState::Decode("\1" + before);
  ASSERT_OK(earlier);
  ChangeState expected = state;
  expected.collections_whole_after = 0;
  expected.collections.clear();
  EXPECT_EQ(*earlier, expected);
  EXPECT_STATUS(kDataLoss, "cut", ChangeState::Decode("\1" + before + std::string(2, '\0')));
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
  bytes[0] = 3;
  EXPECT_STATUS(kFailedPrecondition, "format version 3", ChangeState::Decode(bytes));
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

ChangeState::Collection Collected(SequenceNumber sequence, std::vector<std::string> families,
                                  int64_t collected_at = 1) {
  return {.sequence = sequence,
          .micros = 1,
          .collected_at = collected_at,
          .families = std::move(families)};
}

TEST(ChangeStateTest, ALaterCollectionOfAFamilyTakesThePlaceOfTheEarlier) {
  ChangeState state;
  state.AddCollection(Collected(1, {"f", "g"}, 5));
  state.AddCollection(Collected(2, {"h"}));
  state.AddCollection(Collected(3, {"f"}, 9));
  EXPECT_EQ(state.collections,
            (std::vector{Collected(1, {"g"}, 5), Collected(2, {"h"}), Collected(3, {"f"}, 9)}));
  // Under a snapshot it is as of an earlier time, and stands for the one before nevertheless.
  state.AddCollection(Collected(4, {"f", "g"}, 7));
  EXPECT_EQ(state.collections, (std::vector{Collected(2, {"h"}), Collected(4, {"f", "g"}, 9)}));
}

TEST(ChangeStateTest, FamiliesThatAreGoneLeaveTheCollections) {
  ChangeState state;
  state.AddCollection(Collected(1, {"f", "g"}));
  state.AddCollection(Collected(2, {"h"}));
  state.KeepFamilies([](const std::string& family) { return family == "g"; });
  EXPECT_EQ(state.collections, std::vector{Collected(1, {"g"})});
}

TEST(ChangeStateTest, WhatTwoTabletsHaveOfACollectionIsOneInTheMergedTablet) {
  const auto of = [](RowRange rows, ChangeState::Collection collection) {
    collection.rows = std::move(rows);
    return collection;
  };
  const RowRange left_rows = RowRange::RightOpen("b", "m");
  const RowRange right_rows = RowRange::StartingAt("m");
  ChangeState left{
      .collections_whole_after = 1,
      .collections = {Collected(2, {"f", "h"}),
                      of(RowRange::RightOpen("m", "n"), Collected(3, {"f"})), Collected(5, {"g"})}};
  ChangeState right{.collections_whole_after = 2,
                    .collections = {Collected(2, {"f", "g"}),
                                    of(RowRange::RightOpen("a", "x"), Collected(4, {"h"}))}};
  left.ClipCollections(left_rows);
  right.ClipCollections(right_rows);
  EXPECT_EQ(
      ChangeState::Merged(left, right),
      (ChangeState{.collections_whole_after = 2,
                   .collections = {of(RowRange::StartingAt("b"), Collected(2, {"f", "g", "h"})),
                                   of(RowRange::RightOpen("m", "x"), Collected(4, {"h"})),
                                   of(left_rows, Collected(5, {"g"}))}}));
}

}  // namespace
}  // namespace bigtable
