// How changes, merges and splits change the state of a tablet.
#include "tablet/tablet_state.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/entry_key.h"

namespace bigtable {
namespace {

TabletFile File(uint64_t order, uint64_t number, uint64_t size = 0) {
  return {order, {.file_number = number, .size = size}};
}
// "number@order" of the files of a group.
std::string Files(const TabletState& state, uint32_t group) {
  std::string out;
  for (const TabletFile& file : state.groups.at(group).files) {
    absl::StrAppend(&out, out.empty() ? "" : " ", file.info.file_number, "@", file.order);
  }
  return out;
}

TEST(TabletStateTest, NewFilesAreAddedToTheFilesOfTheGroup) {
  TabletState state;
  ApplyChange({.group_id = 1, .added = {File(10, 1), File(10, 2)}}, &state);
  ApplyChange({.group_id = 1, .added = {File(20, 3)}, .removed = {2}}, &state);
  EXPECT_EQ(Files(state, 1), "1@10 3@20");
}

TEST(TabletStateTest, AFileThatIsAddedAgainGetsTheNewOrder) {
  TabletState state;
  ApplyChange({.group_id = 1, .added = {File(10, 1), File(20, 2), File(30, 3)}}, &state);
  ApplyChange({.group_id = 1, .added = {File(10, 2), File(10, 4)}, .removed = {1}}, &state);
  EXPECT_EQ(Files(state, 1), "3@30 2@10 4@10");
}

TEST(TabletStateTest, AGroupsChangeLeavesFilesOfOtherGroupsAlone) {
  TabletState state;
  ApplyChange({.group_id = 1, .added = {File(10, 1)}}, &state);
  ApplyChange({.group_id = 2, .added = {File(20, 1)}, .removed = {1}}, &state);
  EXPECT_EQ(Files(state, 1), "1@10");
  EXPECT_EQ(Files(state, 2), "1@20");
}

// --- Merges ---

TabletState Tablet(const RowRange& rows, std::vector<TabletFile> files, RedoPoint redo,
                   int64_t last_timestamp) {
  TabletState state;
  state.rows = rows;
  state.groups[1] = {std::move(redo), std::move(files)};
  state.last_timestamp = last_timestamp;
  return state;
}

TEST(MergedStateTest, HasTheRowsAndFilesOfBothAndTheLaterRedoPointAndTime) {
  const RedoPoint early{10, "server-1", 5}, late{20, "server-2", 15};
  for (const bool left_is_later : {false, true}) {
    const TabletState left = Tablet(RowRange::RightOpen("b", "m"), {File(10, 1), File(30, 2)},
                                    left_is_later ? late : early, left_is_later ? 9 : 3);
    const TabletState right = Tablet(RowRange::RightOpen("m", "t"), {File(20, 3)},
                                     left_is_later ? early : late, left_is_later ? 3 : 9);
    std::vector<uint64_t> shared;
    const TabletState merged = *MergedState(left, right, &shared);
    EXPECT_EQ(merged.rows, RowRange::RightOpen("b", "t"));
    EXPECT_EQ(Files(merged, 1), "3@20 1@10 2@30");
    EXPECT_EQ(merged.groups.at(1).redo, late);
    EXPECT_EQ(merged.last_timestamp, 9);
    EXPECT_TRUE(shared.empty());
  }
}

TEST(MergedStateTest, HasAFileOfBothOnce) {
  const TabletState left =
      Tablet(RowRange::RightOpen("", "m"), {File(10, 1), File(10, 2), File(30, 3)}, {}, 0);
  const TabletState right = Tablet(RowRange::StartingAt("m"), {File(10, 2), File(30, 3)}, {}, 0);
  std::vector<uint64_t> shared;
  const TabletState merged = *MergedState(left, right, &shared);
  EXPECT_EQ(merged.rows, RowRange::All());
  EXPECT_EQ(Files(merged, 1), "2@10 3@30 1@10");
  EXPECT_EQ(shared, (std::vector<uint64_t>{2, 3}));
}

TEST(MergedStateTest, HasTheGroupsOfEither) {
  TabletState left = Tablet(RowRange::RightOpen("", "m"), {File(10, 1)}, {}, 0);
  left.groups[2] = {{7, "server-1", 7}, {File(20, 2)}};
  std::vector<uint64_t> shared;
  const TabletState merged =
      *MergedState(left, Tablet(RowRange::StartingAt("m"), {}, {}, 0), &shared);
  EXPECT_EQ(Files(merged, 1), "1@10");
  EXPECT_EQ(Files(merged, 2), "2@20");
  EXPECT_EQ(merged.groups.at(2).redo.sequence, 7u);
}

// --- Splits ---

TEST(HalfOfTest, HasTheFilesThatOverlapItsRows) {
  const auto file = [](uint64_t number, const char* first, const char* last) {
    return TabletFile{number,
                      {.file_number = number,
                       .smallest_key = RowPrefix(first) + "x",
                       .largest_key = RowPrefix(last) + "x"}};
  };
  const TabletState state =
      Tablet(RowRange::All(),
             {file(1, "a", "l"), file(2, "a", "m"), file(3, "m", "m"), file(4, "l\xff", "z")},
             {10, "server-1", 5}, 3);
  const TabletState left = HalfOf(state, RowRange::RightOpen("", "m"));
  const TabletState right = HalfOf(state, RowRange::StartingAt("m"));
  EXPECT_EQ(Files(left, 1), "1@1 2@2 4@4");
  EXPECT_EQ(Files(right, 1), "2@2 3@3 4@4");
  EXPECT_EQ(left.rows, RowRange::RightOpen("", "m"));
  EXPECT_EQ(right.rows, RowRange::StartingAt("m"));
  for (const TabletState& half : {left, right}) {
    EXPECT_EQ(half.groups.at(1).redo, state.groups.at(1).redo);
    EXPECT_EQ(half.last_timestamp, 3);
  }
}

}  // namespace
}  // namespace bigtable
