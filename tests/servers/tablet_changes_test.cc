// Splits, moves and merges of tablets by request. Readers and writers see no difference.
#include <cstdint>
#include <string>

#include "gtest/gtest.h"

#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class TabletChangesTest : public TabletsFixture {
 protected:
  size_t FilesOnDisk() {
    const auto names = file_system_->ListDirectory(absl::StrCat(kPath, "/sst"));
    EXPECT_OK(names);
    return names->size();
  }
};

TEST_F(TabletChangesTest, ASplitKeepsEveryRowInMemoryAndOnDisk) {
  Open();
  Table* const table = CreateStillTable();
  Fill(table, 0, 50);
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 50, 100);
  ASSERT_OK(database_->SplitTablet("t", RowOf(30)));
  ASSERT_OK(database_->SplitTablet("t", RowOf(70)));
  EXPECT_EQ(ShowTablets("t"), "[,row00030)@0 [row00030,row00070)@0 [row00070,)@0");
  ExpectFilled(table, 0, 100);
  Fill(table, 0, 100, "w");
  ExpectFilled(table, 0, 100, "w");
  Kill();
  Open();
  EXPECT_EQ(ShowTablets("t"), "[,row00030)@0 [row00030,row00070)@0 [row00070,)@0");
  ExpectFilled(OpenTable("t"), 0, 100, "w");
  Reopen();
  ExpectFilled(OpenTable("t"), 0, 100, "w");
}

TEST_F(TabletChangesTest, HalvesShareFilesUntilBothAreCompacted) {
  Open();
  Table* const table = CreateStillTable();
  Fill(table, 0, 100);
  ASSERT_OK(database_->Flush("t"));
  const size_t files = FilesOnDisk();
  ASSERT_OK(database_->SplitTablet("t", RowOf(30)));
  EXPECT_EQ(FilesOnDisk(), files);
  const DatabaseStatistics shared = database_->Statistics();
  EXPECT_EQ(shared.tables.at("t").at("default").files, 1u);  // counted once
  EXPECT_EQ(shared.tables.at("t").at("default").entries, 100u);
  EXPECT_GT(Tablets("t")[1].disk_bytes, Tablets("t")[0].disk_bytes);
  Reopen();  // the sharing tablets are found again
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->Flush("t"));
  ExpectFilled(OpenTable("t"), 0, 100);
  const auto statistics = database_->Statistics();
  const LocalityGroupStatistics group = statistics.tables.at("t").at("default");
  EXPECT_EQ(group.files, 2u);
  EXPECT_EQ(group.entries, 100u);  // each row once: no row of the other half was copied
  // The shared file is deleted. METADATA's own files remain.
  size_t users = 0;
  Reopen();
  users = database_->Statistics().tables.at("t").at("default").files;
  EXPECT_EQ(users, 2u);
}

TEST_F(TabletChangesTest, HalvesFlushOnlyTheirOwnRows) {
  Open();
  Table* const table = CreateStillTable();
  Fill(table, 0, 100);
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  ASSERT_OK(database_->SplitTablet("t", RowOf(20)));
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(database_->Statistics().tables.at("t").at("default").entries, 100u);
  ExpectFilled(table, 0, 100);
}

// So a file is deleted as soon as the half that has its rows has compacted it.
TEST_F(TabletChangesTest, HalvesDoNotShareFilesOnOneSide) {
  Open();
  Table* const table = CreateStillTable();
  Fill(table, 0, 50);
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 50, 100);
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  ExpectFilled(table, 0, 100);
  ASSERT_OK(database_->MergeTablets("t", RowOf(50)));
  EXPECT_EQ(database_->Statistics().major_compactions, 0u);  // no file overlaps both halves
  ExpectFilled(table, 0, 100);
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  Reopen();
  ExpectFilled(OpenTable("t"), 0, 100);
  const size_t files = FilesOnDisk();
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(FilesOnDisk(), files);
  ExpectFilled(OpenTable("t"), 0, 100);
}

TEST_F(TabletChangesTest, DeletingATableWithSplitTabletsLeavesNoFile) {
  Open();
  Table* table = CreateStillTable();
  Fill(table, 0, 100);
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", RowOf(30)));
  ASSERT_OK(database_->DeleteTable("t"));
  ASSERT_OK(database_->CreateTable("u", TableSchema{}));
  Reopen();
  const size_t before = FilesOnDisk();
  table = CreateStillTable();
  Fill(table, 0, 10);
  ASSERT_OK(database_->Flush("t"));
  EXPECT_LE(before, 4u);  // METADATA's files, and those of its root tablet
}

// Also when each of them opens the file again.
TEST_F(TabletChangesTest, HalvesHaveASharedFileInMemoryOnce) {
  Open();
  TableSchema schema;
  schema.locality_groups["default"] = {.compression = Compression::kNone, .in_memory = true};
  schema.families["f"] = {};
  schema.split.tablet_size = 0;
  const std::string value(1000, 'v');
  Fill(CreateTable("t", schema), 0, 1000, value);
  ASSERT_OK(database_->Compact("t"));
  // Blocks are loaded when they are first read.
  const auto bytes = [&] {
    ExpectFilled(OpenTable("t"), 0, 1000, value);
    return database_->Statistics().memory_in_memory_groups;
  };
  const uint64_t before = bytes();
  EXPECT_GT(before, 1'000'000u);
  ASSERT_OK(database_->SplitTablet("t", RowOf(300)));
  ASSERT_OK(database_->SplitTablet("t", RowOf(600)));
  EXPECT_LE(bytes(), before + before / 10);
  Reopen();
  EXPECT_LE(bytes(), before + before / 10);
}

// A half merges the runs that it would merge if the rest of a shared file did not exist.
TEST_F(TabletChangesTest, PoliciesCountOnlyTheHalfsPartOfASharedFile) {
  constexpr int kRows = 2000, kOfHalf = 100;
  Open();
  TableSchema schema;
  schema.locality_groups["default"] = {.compression = Compression::kNone};
  schema.families["f"] = {};
  schema.split.tablet_size = 0;
  Table* const split = CreateTable("t", schema);
  Table* const whole = CreateTable("u", schema);
  const std::string value(1000, 'v');
  Fill(split, 0, kRows, value);
  Fill(whole, kRows - kOfHalf, kRows, value);
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->Compact("u"));
  const std::string middle = RowOf(kRows - kOfHalf);
  ASSERT_OK(database_->SplitTablet("t", middle));
  const auto runs = [&](std::string_view table, std::string_view begin) -> uint64_t {
    for (const auto& [name, server] : database_->Statistics().servers) {
      for (const TabletStatistics& tablet : server.tablets) {
        if (tablet.table == table && tablet.rows.begin() == begin) return tablet.size.sorted_runs;
      }
    }
    return 0;
  };
  bool has_merged = false;
  for (int i = 0; i < 10; ++i) {
    // A little larger than the part, whose size is an estimate.
    for (Table* const table : {split, whole})
      Fill(table, kRows - kOfHalf, kRows, std::string(1050, 'v'));
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->Flush("u"));
    ASSERT_OK(database_->WaitUntilQuiet());
    EXPECT_EQ(runs("t", middle), runs("u", "")) << "after " << i + 1 << " flushes";
    has_merged |= runs("u", "") == 1;
  }
  EXPECT_TRUE(has_merged);
}

TEST_F(TabletChangesTest, ASplitRowIsChecked) {
  Open();
  CreateStillTable();
  EXPECT_STATUS(kInvalidArgument, "empty", database_->SplitTablet("t", ""));
  EXPECT_STATUS(kInvalidArgument, "65536", database_->SplitTablet("t", std::string(65537, 'x')));
  EXPECT_STATUS(kNotFound, "none", database_->SplitTablet("none", "a"));
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_STATUS(kAlreadyExists, "\"m\"", database_->SplitTablet("t", "m"));
  EXPECT_STATUS(kNotFound, "\"a\"", database_->MergeTablets("t", "a"));
  EXPECT_STATUS(kNotFound, "\"\"", database_->MergeTablets("t", ""));
  EXPECT_STATUS(kInvalidArgument, "from 0 to 0", database_->MoveTablet("t", "a", 1));
  EXPECT_STATUS(kInvalidArgument, "from 0 to 0", database_->MoveTablet("t", "a", -1));
  EXPECT_EQ(ShowTablets("t"), "[,m)@0 [m,)@0");
}

TEST_F(TabletChangesTest, AMoveKeepsAllData) {
  Open(WithServers(3));
  Table* const table = CreateStillTable();
  Fill(table, 0, 50);
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 50, 100);
  ASSERT_OK(database_->SplitTablet("t", RowOf(60)));
  ASSERT_OK(database_->MoveTablet("t", RowOf(60), 2));
  ASSERT_OK(database_->MoveTablet("t", "", 1));
  EXPECT_EQ(ShowTablets("t"), "[,row00060)@1 [row00060,)@2");
  ExpectFilled(table, 0, 100);
  Fill(table, 0, 100, "w");
  ExpectFilled(table, 0, 100, "w");
  Kill();
  Open(WithServers(2));
  ExpectFilled(OpenTable("t"), 0, 100, "w");
}

TEST_F(TabletChangesTest, ServerTimesIncreaseAcrossMoves) {
  Open(WithServers(2));
  Table* const table = CreateStillTable();
  clock_.Set(1000);
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "1")));
  clock_.Set(500);
  ASSERT_OK(database_->MoveTablet("t", "a", 1));
  ASSERT_OK(database_->MoveTablet("t", "a", 0));
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "2")));
  EXPECT_EQ(Show(table->ReadRow("a")), "f:q@1001=2 f:q@1000=1");
}

TEST_F(TabletChangesTest, ServerTimesIncreaseAcrossSplitsAndMerges) {
  Open();
  Table* const table = CreateStillTable();
  clock_.Set(1000);
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "1")));
  clock_.Set(500);
  ASSERT_OK(database_->SplitTablet("t", "m"));
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "2")));
  ASSERT_OK(table->Apply(RowMutation("z").Set("f:q", "3")));
  EXPECT_EQ(Show(table->ReadRow("a")), "f:q@1001=2 f:q@1000=1");
  EXPECT_EQ(Show(table->ReadRow("z")), "f:q@1001=3");
  clock_.Set(3000);
  ASSERT_OK(table->Apply(RowMutation("z").Set("f:q", "4")));
  clock_.Set(2000);
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "5")));
  clock_.Set(500);
  ASSERT_OK(database_->MergeTablets("t", "m"));
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "6")));
  EXPECT_EQ(Show(table->ReadRow("a", Filter::Latest(1))), "f:q@3001=6");
}

TEST_F(TabletChangesTest, AMergeUndoesASplit) {
  Open(WithServers(2));
  Table* const table = CreateStillTable();
  Fill(table, 0, 100);
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 40, 60, "w");
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  ASSERT_OK(database_->MoveTablet("t", RowOf(50), 1));
  Fill(table, 60, 80, "x");
  ASSERT_OK(database_->MergeTablets("t", RowOf(50)));
  EXPECT_EQ(ShowTablets("t"), "[,)@1");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(Show(OpenTable("t")->ReadRow(RowOf(i))), Cat("f:q@1=",
                                                             i < 40 || i >= 80 ? "v"
                                                             : i < 60          ? "w"
                                                                               : "x",
                                                             i));
    }
    Kill();
    Open();
  }
}

// What one half has deleted for good must not return through the other half's file.
TEST_F(TabletChangesTest, AMergeDoesNotBringDeletedDataBack) {
  Open();
  Table* const table = CreateStillTable();
  Fill(table, 0, 100);
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  for (int i = 50; i < 100; ++i) ASSERT_OK(table->Apply(RowMutation(RowOf(i)).DeleteRow()));
  // Only the right half is compacted.
  ASSERT_OK(database_->SplitTablet("t", RowOf(99)));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->MergeTablets("t", RowOf(99)));
  ASSERT_OK(database_->MergeTablets("t", RowOf(50)));
  EXPECT_EQ(ShowTablets("t"), "[,)@0");
  ExpectFilled(table, 0, 50);
  Reopen();
  ExpectFilled(OpenTable("t"), 0, 50);
}

TEST_F(TabletChangesTest, RowsAndSnapshotsFromBeforeStayUnchanged) {
  Open(WithServers(2));
  Table* const table = CreateStillTable();
  Fill(table, 0, 100);
  const auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  RowReader reader = table->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  Fill(table, 0, 100, "w");
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  RowReader later = table->ReadRows(RowRange::All());
  ASSERT_TRUE(later.Next());
  Fill(table, 0, 100, "x");
  ASSERT_OK(database_->MoveTablet("t", RowOf(50), 1));
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->MergeTablets("t", RowOf(50)));
  ASSERT_OK(database_->Compact("t"));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(Show(reader.row()), Cat("f:q@1=v", i));
    ASSERT_EQ(Show(later.row()), Cat("f:q@1=w", i));
    ASSERT_EQ(reader.Next(), i < 99);
    ASSERT_EQ(later.Next(), i < 99);
    ASSERT_EQ(Show(table->ReadRow(RowOf(i), {}, {.snapshot = *snapshot})), Cat("f:q@1=v", i));
  }
  ExpectFilled(table, 0, 100, "x");
}

}  // namespace
}  // namespace bigtable
