// How a change that was committed to METADATA changes a group's files, and which files a half of a
// split tablet keeps. The runs that they form are in runs_test.cc.
#include "tablet/group_files.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/test_sstables.h"

namespace bigtable {
namespace {

class GroupFilesTest : public testing::Test {
 protected:
  // An SSTable with a cell in each of two rows.
  Ref<SSTable> Table(uint64_t number, const std::string& first, const std::string& last) {
    const Ref<Memtable> memtable = NewTestMemtable();
    for (const std::string& row : {first, last}) {
      const TextEntry entry = *ParseEntry(row + "/f:q@1#1 cell v");
      memtable->Add(entry.key, entry.value);
    }
    MemtableCursor cursor(memtable.get());
    return tables_.Open(tables_.Write(&cursor, number));
  }
  // "a" to "b" with order 10, "c" to "d" with order 20, "e" to "f" with order 30: numbers 1 to 3.
  Ref<const GroupFiles> ThreeFiles() {
    one_ = Table(1, "a", "b");
    two_ = Table(2, "c", "d");
    three_ = Table(3, "e", "f");
    const GroupState state{.redo = {.sequence = 7, .server = "server-1"},
                           .files = {{10, one_->info()}, {20, two_->info()}, {30, three_->info()}}};
    return MakeRef<GroupFiles>(state, std::vector<Ref<SSTable>>{one_, two_, three_});
  }
  // "number@order" of each file.
  static std::string Text(const GroupFiles& files) {
    std::string out;
    for (const GroupFiles::File& file : files.files()) {
      absl::StrAppend(&out, out.empty() ? "" : " ", file.table->info().file_number, "@",
                      file.order);
    }
    return out;
  }

  TestSSTables tables_;
  Ref<SSTable> one_, two_, three_;
};

TEST_F(GroupFilesTest, AFlushAddsFilesAndAdvancesTheRedoPoint) {
  const Ref<SSTable> flushed = Table(4, "a", "z");
  const RedoPoint redo{.sequence = 40, .server = "server-2", .log_synced = 39};
  const Ref<const GroupFiles> after =
      ThreeFiles()->After({.added = {{40, flushed->info()}}, .redo = redo}, {flushed});
  EXPECT_EQ(Text(*after), "1@10 2@20 3@30 4@40");
  EXPECT_EQ(after->redo(), redo);
}

TEST_F(GroupFilesTest, ACompactionReplacesFilesAndGivesOthersItsOrder) {
  const Ref<const GroupFiles> before = ThreeFiles();
  const Ref<SSTable> merged = Table(4, "a", "d");
  const Ref<const GroupFiles> after = before->After(
      {.added = {{10, three_->info()}, {10, merged->info()}}, .removed = {1, 2}}, {merged});
  EXPECT_EQ(Text(*after), "3@10 4@10");
  EXPECT_EQ(after->redo(), before->redo());
  EXPECT_EQ(Text(*before), "1@10 2@20 3@30");
}

TEST_F(GroupFilesTest, TheStateAfterAChangeEqualsTheStateInMetadata) {
  const Ref<const GroupFiles> before = ThreeFiles();
  const Ref<SSTable> merged = Table(4, "a", "d");
  const TabletChange change{.added = {{10, merged->info()}}, .removed = {1, 2}};
  TabletState metadata;
  metadata.groups[0] = before->State();
  ApplyChange(change, &metadata);
  EXPECT_EQ(before->After(change, {merged})->State().files, metadata.groups[0].files);
}

TEST_F(GroupFilesTest, TheOrdersAreThoseOfTheRequestedFiles) {
  const Ref<const GroupFiles> files = ThreeFiles();
  EXPECT_EQ(files->OrdersOf({two_, three_}).oldest, 20u);
  EXPECT_EQ(files->OrdersOf({two_, three_}).newest, 30u);
  EXPECT_EQ(files->OrdersOf({three_}).oldest, 30u);
  EXPECT_EQ(files->OrdersOf({one_, two_}).newest, 20u);
}

TEST_F(GroupFilesTest, AHalfHasTheFilesThatOverlapItsKeyRange) {
  const Ref<const GroupFiles> files = ThreeFiles();
  EXPECT_EQ(Text(*files->Within(KeyRange(RowRange::RightOpen("", "d")))), "1@10 2@20");
  EXPECT_EQ(Text(*files->Within(KeyRange(RowRange::StartingAt("d")))), "2@20 3@30");
  EXPECT_EQ(files->Within(KeyRange(RowRange::StartingAt("d")))->redo(), files->redo());
}

TEST_F(GroupFilesTest, WithoutFilesTheRedoPointStays) {
  const Ref<const GroupFiles> files = ThreeFiles();
  EXPECT_EQ(Text(*files->Emptied()), "");
  EXPECT_EQ(files->Emptied()->redo(), files->redo());
  EXPECT_EQ(files->BytesOf(1), one_->info().size);
  EXPECT_EQ(files->Emptied()->BytesOf(1), 0u);
}

}  // namespace
}  // namespace bigtable
