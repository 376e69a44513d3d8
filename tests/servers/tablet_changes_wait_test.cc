// What splits, moves and merges keep alive, what they wait for, and which calls wait for them.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/random.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class TabletChangesWaitTest : public TabletsFixture {
 protected:
  void SetUp() override {
    DatabaseOptions options = Options();
    options.read_mode = FileSystem::ReadMode::kPositional;
    options.shared_memory_budget = budget_;
    options.file_system = &faulty_;
    options.tablet_servers = 2;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    database_->SetCompactionRate(1);
  }
  void TearDown() override {
    faulty_.ReleaseCalls();
    database_.reset();  // before the file systems
  }
  // Writes 4 MB into memtables, with values that lie in the log.
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
  // A table with a compaction that never ends.
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

// Calls on other tables and on the database may take hours; they do not keep the memory alive.
TEST_F(TabletChangesWaitTest, MemoryOfASplitTabletIsFreedDuringALongCall) {
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

TEST_F(TabletChangesWaitTest, MemoryThatACallMayUseIsKeptUntilTheCallEnds) {
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
  for (int i = 0; i < 6; ++i) {  // each time retired memory is deleted
    Set(table, RowOf(0), "f:q", 2, "w");
    ASSERT_OK(database_->Flush("t"));
    absl::SleepFor(absl::Milliseconds(300));
  }
  EXPECT_GT(MemtableBytes(), uint64_t{3 << 20});
  faulty_.ReleaseCalls();
  reader.join();
  EXPECT_TRUE(MemtablesBecomeSmall());
}

// A tablet that is being moved is on no server for a while. Quotas must not see less data then.
TEST_F(TabletChangesWaitTest, TheStorageOfATabletCountsWhileItIsMoved) {
  Table* const table = CreateStillTable();
  Set(table, "a", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  const StorageStatistics before = database_->Statistics().storage["t"];
  ASSERT_GT(before.disk_bytes, 0u);
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletInfo> tablets, database_->ListTablets("t"));
  DatabasePeer peer(database_.get());
  const auto is_served = [&] {
    for (TabletServer* server : peer.Servers()) {
      for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
        if (tablet->Layout()->name == "t") return true;
      }
    }
    return false;
  };
  int between = 0;  // steps of the move, after the tablet has left its server
  peer.OnMasterStep([&] {
    if (is_served()) return;
    ++between;
    EXPECT_EQ(database_->Statistics().storage["t"], before);
  });
  ASSERT_OK(database_->MoveTablet("t", "", 1 - tablets[0].server));
  peer.OnMasterStep([] {});
  EXPECT_EQ(between, 1);
  EXPECT_EQ(database_->Statistics().storage["t"], before);
}

TEST_F(TabletChangesWaitTest, AChangeWaitsForACompactionNoLongerThanItsDeadline) {
  Table* const table = CreateTableInCompaction();
  CallOptions options;
  options.deadline = absl::Now() + absl::Milliseconds(50);
  EXPECT_STATUS(kDeadlineExceeded, "", database_->SplitTablet("t", "m", options));
  Set(table, "n", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));  // no tablet is claimed any more
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

}  // namespace
}  // namespace bigtable
