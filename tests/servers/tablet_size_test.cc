// Tablets that are split because they are large, and merged because they are small.
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/random.h"
#include "support/tablets_fixture.h"
#include "support/watched_file_system.h"

namespace bigtable {
namespace {

class TabletSizeTest : public TabletsFixture {};

TEST_F(TabletSizeTest, ATabletIsSplitWhenItIsTooLarge) {
  Open();
  TableSchema schema;
  schema.families["f"] = {};
  schema.split.tablet_size = 64 << 10;
  Table* const table = CreateTable("t", schema);
  Random random(1);
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 300; ++i) {
    expected[RowOf(i)] = random.Bytes(1000);
    Set(table, RowOf(i), "f:q", 1, expected[RowOf(i)]);
  }
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  const std::vector<TabletInfo> tablets = Tablets("t");
  EXPECT_GE(tablets.size(), 5u);
  EXPECT_LE(tablets.size(), 12u);
  for (const TabletInfo& tablet : tablets) EXPECT_LE(tablet.disk_bytes, uint64_t{64 << 10});
  for (const auto& [row, value] : expected) {
    const auto read = table->ReadRow(row);
    ASSERT_OK(read);
    EXPECT_EQ(read->cells()[0].value, value);
  }
  // Tablets are merged when most of their data is deleted.
  for (int i = 0; i < 300; ++i) {
    if (i % 10 == 0) continue;
    ASSERT_OK(table->Apply(RowMutation(RowOf(i)).DeleteRow()));
  }
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  // Merges are off. The deletions may have made a tablet too large.
  EXPECT_GE(Tablets("t").size(), tablets.size());
  EXPECT_STATUS(
      kInvalidArgument, "merge_size",
      database_->SetSplitRule("t", {.tablet_size = 64 << 10, .merge_size = (32 << 10) + 1}));
  ASSERT_OK(database_->SetSplitRule("t", {.tablet_size = 64 << 10, .merge_size = 32 << 10}));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_LE(Tablets("t").size(), 2u);
  Reopen();
  EXPECT_EQ(database_->GetSchema("t")->split.merge_size, uint64_t{32 << 10});
  for (int i = 0; i < 300; ++i) {
    const auto read = OpenTable("t")->ReadRow(RowOf(i));
    ASSERT_OK(read);
    EXPECT_EQ(read->empty(), i % 10 != 0);
  }
}

// To merge the halves of a tablet is to compact them: both have its file.
TEST_F(TabletSizeTest, TabletsAreMergedByRuleWhenCompactionsGoOn) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  for (const char* row : {"a", "m", "z"}) Set(table, row, "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", "n"));
  database_->PauseCompactions();
  ASSERT_OK(table->DropRowRange(RowRange::RightOpen("b", "c")));
  const std::string before = ShowTablets("t");
  const uint64_t compactions = database_->Statistics().merging_compactions;
  ASSERT_OK(database_->SetSplitRule("t", {.tablet_size = 64 << 10, .merge_size = 32 << 10}));
  ASSERT_OK(database_->WaitUntilQuiet());
  absl::SleepFor(absl::Seconds(1));  // for upkeep to look at the rule
  EXPECT_EQ(ShowTablets("t"), before);
  EXPECT_EQ(database_->Statistics().merging_compactions, compactions);
  ASSERT_OK(database_->MergeTablets("t", "n")) << "a call of the program";
  EXPECT_NE(ShowTablets("t"), before);

  database_->ContinueCompactions();
  for (int i = 0; i < 1000 && Tablets("t").size() > 1; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(ShowTablets("t"), "[,)@0");
}

// In the flush that is a part of the merge, before its compaction begins.
TEST_F(TabletSizeTest, AMergeByRuleThatAPauseRefusesIsMadeWhenCompactionsGoOn) {
  WatchedFileSystem watched(file_system_.get(), Cat(kPath, "/sst"));
  DatabaseOptions options = Options();
  options.file_system = &watched;
  database_ = *Database::Open(kPath, options);
  Table* const table = CreateTable("t", {"f"});
  for (const char* row : {"a", "m", "z"}) Set(table, row, "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", "n"));
  ASSERT_OK(table->DropRowRange(RowRange::StartingAt("n")));  // the file of [,n) still has z
  for (const char* row : {"a", "z"}) Set(table, row, "f:q", 2, "v");
  const std::string before = ShowTablets("t");
  std::atomic<bool> is_paused{false};
  watched.Watch([&] {
    if (!is_paused.exchange(true)) database_->PauseCompactions();
  });
  ASSERT_OK(database_->SetSplitRule("t", {.tablet_size = 64 << 10, .merge_size = 32 << 10}));
  for (int i = 0; i < 1000 && !is_paused; ++i) absl::SleepFor(absl::Milliseconds(10));
  ASSERT_TRUE(is_paused);
  absl::SleepFor(absl::Seconds(1));  // for upkeep to look at the rule again
  EXPECT_EQ(ShowTablets("t"), before);

  database_->ContinueCompactions();
  for (int i = 0; i < 1000 && Tablets("t").size() > 1; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(ShowTablets("t"), "[,)@0");
  database_.reset();  // before its file system
}

TEST_F(TabletSizeTest, RowsWithACommonPrefixStayTogether) {
  Open();
  TableSchema schema;
  schema.families["f"] = {};
  schema.split = {.tablet_size = 64 << 10, .prefix_length = 2};
  Table* const table = CreateTable("t", schema);
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    Set(table, Cat("p", i / 100, RowOf(i)), "f:q", 1, random.Bytes(1000));
  }
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(ShowTablets("t"), "[,p1)@0 [p1,p2)@0 [p2,)@0");
}

TEST_F(TabletSizeTest, ARowThatIsLargerThanATabletStaysWhole) {
  Open();
  TableSchema schema;
  schema.families["f"] = {};
  schema.split.tablet_size = 64 << 10;
  Table* const table = CreateTable("t", schema);
  Random random(1);
  for (int i = 0; i < 300; ++i) Set(table, "a", Cat("f:q", i), 1, random.Bytes(1000));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Tablets("t").size(), 1u);
  EXPECT_EQ(table->ReadRow("a")->cells().size(), 300u);
}

}  // namespace
}  // namespace bigtable
