// Splits, moves and merges of tablets: nobody who reads or writes sees them.
#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "base/status.h"
#include "filesystem/faulty_file_system.h"
#include "support/database_fixture.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

std::string RowOf(int i) { return absl::StrFormat("row%05d", i); }

class TabletChangesTest : public DatabaseFixture {
 protected:
  DatabaseOptions WithServers(int servers) {
    DatabaseOptions options = Options();
    options.tablet_servers = servers;
    return options;
  }
  // A table that changes only by request.
  Table* CreateStillTable() {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = 0;
    return CreateTable("t", schema);
  }
  static void Fill(Table* table, int begin, int end, std::string_view value = "v") {
    for (int i = begin; i < end; ++i) Set(table, RowOf(i), "f:q", 1, Cat(value, i));
  }
  static void ExpectFilled(Table* table, int begin, int end, std::string_view value = "v") {
    int i = begin;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      ASSERT_EQ(row.key(), RowOf(i));
      ASSERT_EQ(Show(row), Cat("f:q@1=", value, i));
      ASSERT_EQ(Show(table->ReadRow(row.key())), Cat("f:q@1=", value, i));
      ++i;
    }
    EXPECT_OK(reader.status());
    EXPECT_EQ(i, end);
  }
  std::vector<TabletInfo> Tablets(std::string_view table) {
    absl::StatusOr<std::vector<TabletInfo>> tablets = database_->ListTablets(table);
    EXPECT_OK(tablets);
    return tablets.ok() ? *std::move(tablets) : std::vector<TabletInfo>();
  }
  // "[,b)@0 [b,)@1": tablets and their servers.
  std::string ShowTablets(std::string_view table) {
    std::string text;
    for (const TabletInfo& tablet : Tablets(table)) {
      absl::StrAppend(&text, text.empty() ? "" : " ", "[", tablet.rows.begin(), ",",
                      tablet.rows.end().value_or(""), ")@", tablet.server);
    }
    return text;
  }
  // "[,b) [b,)": the same without the servers.
  std::string ShowRows(std::string_view table) {
    std::string text;
    for (const TabletInfo& tablet : Tablets(table)) {
      absl::StrAppend(&text, text.empty() ? "" : " ", "[", tablet.rows.begin(), ",",
                      tablet.rows.end().value_or(""), ")");
    }
    return text;
  }
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
  Reopen();  // who shares it is found again
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->Flush("t"));
  ExpectFilled(OpenTable("t"), 0, 100);
  const auto statistics = database_->Statistics();
  const LocalityGroupStatistics group = statistics.tables.at("t").at("default");
  EXPECT_EQ(group.files, 2u);
  EXPECT_EQ(group.entries, 100u);  // each row once: nothing of the other half was copied
  // The shared one is gone; METADATA's own files beside.
  size_t users = 0;
  Reopen();
  users = database_->Statistics().tables.at("t").at("default").files;
  EXPECT_EQ(users, 2u);
}

TEST_F(TabletChangesTest, HalvesWriteOutTheirOwnRowsOnly) {
  Open();
  Table* const table = CreateStillTable();
  Fill(table, 0, 100);
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  ASSERT_OK(database_->SplitTablet("t", RowOf(20)));
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(database_->Statistics().tables.at("t").at("default").entries, 100u);
  ExpectFilled(table, 0, 100);
}

// So a file is removed as soon as the half that has its rows has compacted it.
TEST_F(TabletChangesTest, HalvesDoNotShareWhatLiesOnOneSide) {
  Open();
  Table* const table = CreateStillTable();
  Fill(table, 0, 50);
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 50, 100);
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  ExpectFilled(table, 0, 100);
  ASSERT_OK(database_->MergeTablets("t", RowOf(50)));
  EXPECT_EQ(database_->Statistics().major_compactions, 0u);  // neither reached into the other
  ExpectFilled(table, 0, 100);
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  Reopen();
  ExpectFilled(OpenTable("t"), 0, 100);
  const size_t files = FilesOnDisk();
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(FilesOnDisk(), files);
  ExpectFilled(OpenTable("t"), 0, 100);
}

TEST_F(TabletChangesTest, AHalfThatIsDeletedWithItsTableLeavesNoFile) {
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
  EXPECT_LE(before, 4u);  // METADATA's, and its root's
}

// Also when it is opened again, for each of them.
TEST_F(TabletChangesTest, HalvesHaveASharedFileInMemoryOnce) {
  Open();
  TableSchema schema;
  schema.locality_groups["default"] = {.compression = Compression::kNone, .in_memory = true};
  schema.families["f"] = {};
  schema.split.tablet_size = 0;
  const std::string value(1000, 'v');
  Fill(CreateTable("t", schema), 0, 1000, value);
  ASSERT_OK(database_->Compact("t"));
  // Blocks are read when they are needed first.
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

// They merge what they would merge if the rest of a shared file were not there.
TEST_F(TabletChangesTest, PoliciesGoByWhatAHalfHasOfASharedFile) {
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
        if (tablet.table == table && tablet.begin_row == begin) return tablet.size.sorted_runs;
      }
    }
    return 0;
  };
  bool has_merged = false;
  for (int i = 0; i < 10; ++i) {
    for (Table* const table : {split, whole}) Fill(table, kRows - kOfHalf, kRows, value);
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

TEST_F(TabletChangesTest, AMoveTakesEverythingAlong) {
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

// What one half has deleted for good must not come back with the other half's file.
TEST_F(TabletChangesTest, AMergeBringsNothingBack) {
  Open();
  Table* const table = CreateStillTable();
  Fill(table, 0, 100);
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
  for (int i = 50; i < 100; ++i) ASSERT_OK(table->Apply(RowMutation(RowOf(i)).DeleteRow()));
  // The right half alone is compacted.
  ASSERT_OK(database_->SplitTablet("t", RowOf(99)));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->MergeTablets("t", RowOf(99)));
  ASSERT_OK(database_->MergeTablets("t", RowOf(50)));
  EXPECT_EQ(ShowTablets("t"), "[,)@0");
  ExpectFilled(table, 0, 50);
  Reopen();
  ExpectFilled(OpenTable("t"), 0, 50);
}

TEST_F(TabletChangesTest, WhatIsHeldFromBeforeStaysAsItWas) {
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

// --- By themselves ---

TEST_F(TabletChangesTest, ATabletIsSplitWhenItIsTooLarge) {
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
  // And merged when most is gone.
  for (int i = 0; i < 300; ++i) {
    if (i % 10 == 0) continue;
    ASSERT_OK(table->Apply(RowMutation(RowOf(i)).DeleteRow()));
  }
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Tablets("t").size(), tablets.size());  // off
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

TEST_F(TabletChangesTest, RowsWithACommonPrefixStayTogether) {
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

TEST_F(TabletChangesTest, ARowThatIsLargerThanATabletStaysWhole) {
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

// --- Cut short ---

// Power is lost before each call of the file system that a change makes: afterwards the table has
// all its rows, in the tablets from before or in those from after, and those if it was
// acknowledged.
class TabletChangesPowerLossTest : public TabletChangesTest {
 protected:
  // `change` makes of the tablets [, row00010) and [row00010, ) what `after` shows.
  void LosePowerAtEachCall(const std::function<absl::Status(Database*)>& change,
                           const std::string& after) {
    const std::string before = "[,row00010) [row00010,)";
    int changed = 0, unchanged = 0;
    // Until it is done in all of some runs: background threads make calls, too.
    for (uint64_t call = 1, whole = 0; whole < 5 && call < 200; ++call) {
      InMemoryFileSystem memory;
      FaultyFileSystem faulty(&memory);
      DatabaseOptions options = WithServers(2);
      options.file_system = &faulty;
      options.durability = Durability::kSync;
      ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> database, Database::Open(kPath, options));
      TableSchema schema;
      schema.families["f"] = {};
      schema.split.tablet_size = 0;
      ASSERT_OK(database->CreateTable("t", schema));
      ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
      Fill(table, 0, 15);
      ASSERT_OK(database->Flush("t"));
      ASSERT_OK(database->SplitTablet("t", RowOf(10)));
      Fill(table, 15, 20);
      ASSERT_OK(database->WaitUntilQuiet());
      faulty.CountCalls();
      faulty.FailCall(
          call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
          call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
      const bool done = change(database.get()).ok();
      whole += done ? 1 : 0;
      for (const uint64_t seed : {uint64_t{0}, call}) {
        SCOPED_TRACE(Cat("call ", call, ", seed ", seed));
        const auto found =
            memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
        options.file_system = found.get();
        options.read_only = true;
        ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
        const std::string tablets = ShowRows("t");
        ExpectFilled(OpenTable("t"), 0, 20);
        options.read_only = false;
        database_.reset();
        ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
        EXPECT_EQ(ShowRows("t"), tablets);
        ++(tablets == after ? changed : unchanged);
        if (tablets != after) {
          EXPECT_FALSE(done);
          EXPECT_EQ(tablets, before);
        }
        ExpectFilled(OpenTable("t"), 0, 20);
        // What is left of a change that was cut short is in nobody's way.
        ASSERT_OK(database_->Compact("t"));
        ASSERT_OK(tablets == after ? database_->Flush("t") : change(database_.get()));
        ExpectFilled(OpenTable("t"), 0, 20);
        ASSERT_OK(database_->Close());
      }
      database.reset();  // cannot close in order any more
    }
    EXPECT_GT(changed, 0);
    EXPECT_GT(unchanged, 0);
  }
};

TEST_F(TabletChangesPowerLossTest, ASplitIsMadeOrNot) {
  LosePowerAtEachCall([](Database* database) { return database->SplitTablet("t", RowOf(5)); },
                      "[,row00005) [row00005,row00010) [row00010,)");
}

TEST_F(TabletChangesPowerLossTest, AMergeIsMadeOrNot) {
  LosePowerAtEachCall([](Database* database) { return database->MergeTablets("t", RowOf(10)); },
                      "[,)");
}

TEST_F(TabletChangesPowerLossTest, AMoveLosesNothing) {
  LosePowerAtEachCall(
      [](Database* database) {
        BT_RETURN_IF_ERROR(database->MoveTablet("t", RowOf(10), 1));
        return database->SplitTablet("t", RowOf(15));
      },
      "[,row00010) [row00010,row00015) [row00015,)");
}

// A single call of the file system fails during a change: after Resume everything works again, and
// the change can be made.
class TabletChangesFaultTest : public TabletChangesTest {
 protected:
  // `change` makes of the tablets [, row00010) and [row00010, ) what `after` shows.
  void FailEachCallOnce(const std::function<absl::Status(Database*)>& change,
                        const std::string& after) {
    const std::string before = "[,row00010) [row00010,)";
    int failed = 0;
    for (uint64_t call = 1, whole = 0; whole < 3 && call < 200; ++call) {
      SCOPED_TRACE(Cat("call ", call));
      FaultyFileSystem faulty(file_system_.get());
      DatabaseOptions options = WithServers(2);
      options.file_system = &faulty;
      ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
      Table* const table = CreateStillTable();
      Fill(table, 0, 15);
      ASSERT_OK(database_->Flush("t"));
      ASSERT_OK(database_->SplitTablet("t", RowOf(10)));
      Fill(table, 15, 20);
      ASSERT_OK(database_->WaitUntilQuiet());
      faulty.CountCalls();
      faulty.FailCall(
          call, absl::ResourceExhaustedError("disk full"), FaultyFileSystem::Repeat::kOnce,
          call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
      const bool done = change(database_.get()).ok();
      whole += faulty.faults() == 0 ? 1 : 0;
      failed += done ? 0 : 1;
      faulty.CountCalls();
      ExpectFilled(table, 0, 20);  // reads go on
      ASSERT_OK(database_->Resume());
      EXPECT_EQ(ShowRows("t"), done ? after : before);
      Fill(table, 0, 20, "w");
      ASSERT_OK(done ? absl::OkStatus() : change(database_.get()));
      EXPECT_EQ(ShowRows("t"), after);
      ExpectFilled(table, 0, 20, "w");
      ASSERT_OK(database_->Compact("t"));
      ASSERT_OK(database_->WaitUntilQuiet());
      const std::unique_ptr<InMemoryFileSystem> found =
          file_system_->CrashClone(call, Unsynced::kEverything);
      options.file_system = found.get();
      ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> reopened, Database::Open(kPath, options));
      database_.swap(reopened);
      EXPECT_EQ(ShowRows("t"), after);
      ExpectFilled(OpenTable("t"), 0, 20, "w");
      ASSERT_OK(database_->Close());
      database_.swap(reopened);
      ASSERT_OK(database_->DeleteTable("t"));
      ASSERT_OK(database_->Close());
      database_.reset();
      file_system_ = std::make_unique<InMemoryFileSystem>();
    }
    EXPECT_GT(failed, 1);
  }
};

TEST_F(TabletChangesFaultTest, ASplitThatFailsCanBeMadeLater) {
  FailEachCallOnce([](Database* database) { return database->SplitTablet("t", RowOf(5)); },
                   "[,row00005) [row00005,row00010) [row00010,)");
}

TEST_F(TabletChangesFaultTest, AMergeThatFailsCanBeMadeLater) {
  FailEachCallOnce([](Database* database) { return database->MergeTablets("t", RowOf(10)); },
                   "[,)");
}

TEST_F(TabletChangesFaultTest, AMoveThatFailsCanBeMadeLater) {
  FailEachCallOnce(
      [](Database* database) {
        for (const int server : {0, 1, 0}) {
          BT_RETURN_IF_ERROR(database->MoveTablet("t", RowOf(10), server));
        }
        return absl::OkStatus();
      },
      "[,row00010) [row00010,)");
}

// --- What is kept, and what is waited for ---

class TabletChangesWaitTest : public TabletChangesTest {
 protected:
  void SetUp() override {
    DatabaseOptions options = Options();
    options.read_mode = FileSystem::ReadMode::kPositional;
    options.shared_memory_budget = budget_;
    options.file_system = &faulty_;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    database_->SetCompactionRate(1);
  }
  void TearDown() override {
    faulty_.ReleaseCalls();
    database_.reset();  // before the file systems
  }
  // 4 MB of memtables, whose values lie in the log.
  static void FillMuch(Table* table) {
    Random random(1);
    for (int i = 0; i < 40; ++i) Set(table, RowOf(i), "f:q", 1, random.Bytes(100'000));
  }
  uint64_t MemtableBytes() {
    return budget_->used(MemoryBudget::Use::kMemtables) + budget_->used(MemoryBudget::Use::kLog);
  }
  bool MemtablesBecomeSmall() {
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (MemtableBytes() > (1 << 20) && absl::Now() < end) absl::SleepFor(absl::Milliseconds(5));
    return MemtableBytes() <= (1 << 20);
  }
  // A table with a compaction that takes for ever.
  Table* CreateTableInCompaction() {
    Table* const table = CreateStillTable();
    faulty_.CountCalls({{FileCall::kNewWritableFile}, ".sst"});
    constexpr int kFlushes = 12;
    Random random(2);
    for (int i = 0; i < kFlushes; ++i) {
      for (const char* row : {"a", "m", "z"}) Set(table, row, "f:q", i, random.Bytes(100'000));
      EXPECT_OK(database_->Flush("t"));
    }
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while (faulty_.calls() <= kFlushes && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_GT(faulty_.calls(), uint64_t{kFlushes});
    return table;
  }

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(32 << 20);
  FaultyFileSystem faulty_{file_system_.get()};
};

// Calls of other tables and of the database, which may take hours, do not matter.
TEST_F(TabletChangesWaitTest, WhatWasSplitIsLetGoOfDuringALongCall) {
  Table* const slow = CreateTable("slow", {"f"});
  FillMuch(slow);
  std::thread compacting(
      [&] { EXPECT_STATUS(kCancelled, "cancelled", database_->Compact("slow")); });
  ASSERT_TRUE(MemtablesBecomeSmall());
  Table* const table = CreateStillTable();
  FillMuch(table);
  ASSERT_OK(database_->SplitTablet("t", RowOf(20)));
  EXPECT_GT(MemtableBytes(), uint64_t{3 << 20});
  ASSERT_OK(database_->Flush("t"));
  EXPECT_TRUE(MemtablesBecomeSmall());
  database_->CancelCompactions();
  compacting.join();
}

TEST_F(TabletChangesWaitTest, WhatACallMayLookAtStaysUntilItHasLeft) {
  Table* const table = CreateStillTable();
  Set(table, "a", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", "b"));
  FillMuch(table);
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> files,
                       file_system_->ListDirectory(absl::StrCat(kPath, "/sst")));
  ASSERT_EQ(files.size(), 1u);
  faulty_.StallCalls({{FileCall::kRead}, files[0]});
  std::thread reader([&] { EXPECT_EQ(Show(table->ReadRow("a")), "f:q@1=v"); });
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  ASSERT_OK(database_->SplitTablet("t", RowOf(20)));
  for (int i = 0; i < 6; ++i) {  // each time what can be deleted is
    Set(table, RowOf(0), "f:q", 2, "w");
    ASSERT_OK(database_->Flush("t"));
    absl::SleepFor(absl::Milliseconds(300));
  }
  EXPECT_GT(MemtableBytes(), uint64_t{3 << 20});
  faulty_.ReleaseCalls();
  reader.join();
  EXPECT_TRUE(MemtablesBecomeSmall());
}

TEST_F(TabletChangesWaitTest, AChangeWaitsForACompactionNoLongerThanItsDeadline) {
  Table* const table = CreateTableInCompaction();
  CallOptions options;
  options.deadline = absl::Now() + absl::Milliseconds(50);
  EXPECT_STATUS(kDeadlineExceeded, "", database_->SplitTablet("t", "m", options));
  Set(table, "n", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));  // nothing is claimed any more
  database_->SetCompactionRate(0);
  database_->CancelCompactions();
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_EQ(Show(table->ReadRow("n")), "f:q@1=v");
}

TEST_F(TabletChangesWaitTest, ClosingDoesNotWaitForACompactionThatASplitWaitsFor) {
  CreateTableInCompaction();
  ASSERT_OK(database_->SetSplitRule("t", {.tablet_size = 64 << 10}));
  absl::SleepFor(absl::Milliseconds(100));
  const absl::Time start = absl::Now();
  EXPECT_OK(database_->Close());
  EXPECT_LT(absl::Now() - start, absl::Seconds(30));
}

// --- Meanwhile ---

class TabletChangesConcurrencyTest : public TabletChangesTest {};

// Writers count up their rows, each row by one thread, and read back what they have written;
// scanners see each moment whole; and all the while tablets are split, moved and merged.
TEST_F(TabletChangesConcurrencyTest, ReadersAndWritersDoNotNotice) {
  constexpr int kWriters = 3;
  constexpr int kRowsEach = 40;
  DatabaseOptions options = WithServers(3);
  options.memtable_size = 64 << 10;
  Open(options);
  Table* const table = CreateStillTable();
  std::atomic<bool> done{false};
  std::atomic<int64_t> writes{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      for (int n = 1; !done; ++n) {
        std::vector<RowMutation> batch;
        for (int r = 0; r < kRowsEach; ++r) {
          RowMutation mutation(RowOf(r * kWriters + w));
          mutation.Set("f:a", Timestamp(n), std::to_string(n));
          mutation.Set("f:b", Timestamp(n), std::to_string(n));
          if (n % 2 == 0) {
            batch.push_back(std::move(mutation));
            continue;
          }
          ASSERT_OK(table->Apply(mutation));
          const auto row = table->ReadRow(RowOf(r * kWriters + w), Filter::Latest(1));
          ASSERT_OK(row);
          ASSERT_EQ(Show(*row), Cat("f:a@", n, "=", n, " f:b@", n, "=", n));
        }
        for (const absl::Status& status : table->ApplyBatch(batch)) ASSERT_OK(status);
        writes += kRowsEach;
      }
    });
  }
  threads.emplace_back([&] {
    std::map<std::string, int> last;
    while (!done) {
      RowReader reader = table->ReadRows(RowRange::All(), Filter::Latest(1));
      size_t rows = 0;
      for (const Row& row : reader) {
        ASSERT_EQ(row.cells().size(), 2u);
        ASSERT_EQ(row.cells()[0].value, row.cells()[1].value);
        int& before = last[std::string(row.key())];
        const int now = std::stoi(std::string(row.cells()[0].value));
        ASSERT_GE(now, before);
        before = now;
        ++rows;
      }
      ASSERT_OK(reader.status());
      ASSERT_EQ(rows, last.size());  // none is missing that was there
    }
  });
  Random random(7);
  const absl::Time end = absl::Now() + absl::Seconds(2);
  int changes = 0;
  while (absl::Now() < end && !HasFailure()) {
    const std::string row = RowOf(static_cast<int>(random.Below(kWriters * kRowsEach)));
    const std::vector<TabletInfo> tablets = Tablets("t");
    absl::Status status;
    switch (random.Below(4)) {
      case 0:
        if (tablets.size() < 8) status = database_->SplitTablet("t", row);
        break;
      case 1:
        if (tablets.size() > 1) {
          const size_t i = 1 + random.Below(tablets.size() - 1);
          status = database_->MergeTablets("t", tablets[i].rows.begin());
        }
        break;
      case 2:
        status = database_->MoveTablet("t", row, static_cast<int>(random.Below(3)));
        break;
      default:
        if (random.OneIn(4)) status = database_->Compact("t");
        break;
    }
    EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
    ++changes;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(changes, 0);
  EXPECT_GT(writes.load(), 0);
}

// How long calls take while a tablet is split, and while one is moved, again and again.
TEST_F(TabletChangesConcurrencyTest, ThePauseIsShort) {
  Open(WithServers(2));
  Table* const table = CreateStillTable();
  Fill(table, 0, 2000);
  for (const bool move : {false, true}) {
    std::atomic<bool> done{false};
    std::atomic<int> begun{0}, enough{0};
    std::vector<std::vector<absl::Duration>> times(2);
    std::vector<std::thread> threads;
    for (const bool writes : {false, true}) {
      threads.emplace_back([&, writes] {
        for (int i = 0; !done; i = (i + 7) % 2000) {
          const absl::Time start = absl::Now();
          if (writes) {
            Set(table, RowOf(i), "f:q", 1, "w");
          } else {
            EXPECT_OK(table->ReadRow(RowOf(i)));
          }
          times[writes].push_back(absl::Now() - start);
          if (times[writes].size() == 1) ++begun;
          if (times[writes].size() == 3000) ++enough;  // for one in a thousand to say something
        }
      });
    }
    while (begun < 2) std::this_thread::yield();
    for (int i = 1; i <= 40; ++i) {
      if (move) {
        EXPECT_OK(database_->MoveTablet("t", RowOf(i), i % 2));
      } else {
        EXPECT_OK(database_->SplitTablet("t", RowOf(i * 40)));
      }
    }
    while (enough < 2) std::this_thread::yield();
    done = true;
    for (std::thread& thread : threads) thread.join();
    for (const bool writes : {false, true}) {
      std::vector<absl::Duration>& sorted = times[writes];
      std::sort(sorted.begin(), sorted.end());
      const absl::Duration most = sorted[sorted.size() - 1 - sorted.size() / 1000];
      std::cout << (writes ? "writes" : "reads") << " during " << (move ? "moves" : "splits")
                << ": p99.9 of " << sorted.size() << " is " << most << ", the longest "
                << sorted.back() << "\n";
      // Sanitizers take their own time.
      EXPECT_LT(most,
                (move ? absl::Milliseconds(50) : absl::Milliseconds(20)) * (kSanitized ? 5 : 1));
    }
  }
}

}  // namespace
}  // namespace bigtable
