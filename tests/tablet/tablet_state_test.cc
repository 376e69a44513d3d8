// How a change makes one state of a tablet from another.
#include "tablet/tablet_state.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

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

TEST(TabletStateTest, FilesThatAreAddedComeToThoseThatAreThere) {
  TabletState state;
  ApplyChange({.group_id = 1, .added = {File(10, 1), File(10, 2)}}, &state);
  ApplyChange({.group_id = 1, .added = {File(20, 3)}, .removed = {2}}, &state);
  EXPECT_EQ(Files(state, 1), "1@10 3@20");
}

TEST(TabletStateTest, AFileThatIsThereGetsTheOrderWithWhichItIsAddedAgain) {
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

}  // namespace
}  // namespace bigtable
