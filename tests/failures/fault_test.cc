// The effect of single failing calls of the file system on the users of a database, and the state
// after a following crash.
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"

namespace bigtable {
namespace {

class FaultTest : public DatabaseFixture {
 protected:
  void SetUp() override { OpenFaulty(); }
  void TearDown() override {
    faulty_->ReleaseCalls();
    database_.reset();  // before the file systems
  }
  void OpenFaulty() {
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    DatabaseOptions options = Options();
    options.log_segment_size = 64 << 10;
    options.shared_memory_budget = budget_;
    options.file_system = faulty_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }
  // The process dies, or the machine with everything that was not synced. Then the rest is opened.
  void CrashAndOpen(Unsynced unsynced) {
    std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(1, unsynced);
    database_.reset();
    file_system_ = std::move(clone);
    OpenFaulty();
  }

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(32 << 20);
  std::unique_ptr<FaultyFileSystem> faulty_;
};

// The writes that fit into the log are acknowledged, applied, and found after a crash. The others
// leave nothing.
TEST_F(FaultTest, WritesOfAGroupThatFitIntoAFullLogAreApplied) {
  Table* table = CreateTable("t", {"f"});
  Set(table, "before", "f:q", 1, "v");
  faulty_->FailCalls({{FileCall::kNewLogFile}, {}}, absl::ResourceExhaustedError("disk full"));
  std::vector<RowMutation> batch;
  for (int i = 100; i < 400; ++i) {
    batch.emplace_back(absl::StrCat("batch", i));
    batch.back().Set("f:q", Timestamp(1), std::string(1000, 'v'));
  }
  std::string applied;
  size_t refused = 0;
  for (size_t i = 0; const absl::Status& status : table->ApplyBatch(batch)) {
    const RowMutation& mutation = batch[i++];
    if (status.ok()) {
      absl::StrAppend(&applied, ToAbsl(mutation.row()), " ");
    } else {
      EXPECT_STATUS(kResourceExhausted, "bytes found no room in the log of server", status);
      EXPECT_STATUS(kResourceExhausted, "disk full", status);
      ++refused;
    }
  }
  EXPECT_FALSE(applied.empty());
  EXPECT_GT(refused, 100u);
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), applied + "before");
  EXPECT_OK(database_->Statistics().background_error);
  faulty_->ClearFaults();
  Set(table, "later", "f:q", 1, "v");  // without Resume
  CrashAndOpen(Unsynced::kEverything);
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), applied + "before later");
}

// A file system may have errors of the codes that calls return at the ends of their limits.
TEST_F(FaultTest, ADeadlineOfTheFileSystemIsNotThatOfTheWrite) {
  Table* table = CreateTable("t", {"f"});
  ASSERT_OK(database_->WaitUntilQuiet());
  RowMutation large("large");
  large.Set("f:q", Timestamp(1), std::string(1 << 20, 'v'));
  for (const absl::Status& error :
       {absl::DeadlineExceededError("no answer"), absl::CancelledError("no answer")}) {
    faulty_->FailCalls({{FileCall::kNewLogFile}, {}}, error);
    EXPECT_STATUS(kResourceExhausted, "no answer", table->Apply(large));
    EXPECT_STATUS(kResourceExhausted, "no answer",
                  table->Apply(large, {.deadline = absl::Now() + absl::Hours(1)}));
    faulty_->ClearFaults();
  }
  EXPECT_OK(table->Apply(large));
}

TEST_F(FaultTest, AWriteThatIsTooLargeForTheFreeSpaceFailsAlone) {
  Table* table = CreateTable("t", {"f"});
  Set(table, "before", "f:q", 1, "v");
  ASSERT_OK(database_->WaitUntilQuiet());
  file_system_->set_max_total_bytes(file_system_->total_bytes() + (200 << 10));
  RowMutation large("large");
  large.Set("f:q", Timestamp(1), std::string(1 << 20, 'v'));
  for (const Durability durability : {Durability::kBuffered, Durability::kSync}) {
    const absl::Status refused = table->Apply(large, {.durability = durability});
    EXPECT_STATUS(kResourceExhausted, "a write of 1048", refused);
    EXPECT_STATUS(kResourceExhausted, "are free", refused);
    EXPECT_OK(table->Apply(RowMutation("small").Set("f:q", Timestamp(1), "v"),
                           {.durability = durability}));
  }
  EXPECT_OK(database_->Statistics().background_error);
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "before small");
  file_system_->set_max_total_bytes(InMemoryFileSystem::kUnlimited);
  EXPECT_OK(table->Apply(large));
  CrashAndOpen(Unsynced::kEverything);
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "before large small");
}

TEST_F(FaultTest, ADeletionThatFailsLeavesTheTableAlsoAfterACrash) {
  Table* table = CreateTable("t", {"f"});
  Set(table, "row", "f:q", 1, "v");
  faulty_->CountCalls({{FileCall::kSyncDirectory}, "/schema"});
  faulty_->FailCall(1, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", database_->DeleteTable("t"));
  WriteOptions sync;
  sync.durability = Durability::kSync;
  ASSERT_OK(table->Apply(RowMutation("row").Set("f:q", Timestamp(2), "w"), sync));
  CrashAndOpen(Unsynced::kEverything);
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("row")), "f:q@2=w f:q@1=v");
}

TEST_F(FaultTest, AChangeOfTheSchemaThatFailsLeavesTheOldOneAlsoAfterACrash) {
  Table* table = CreateTable("t", {"f", "g"});
  faulty_->CountCalls({{FileCall::kSyncDirectory}, "/schema"});
  faulty_->FailCall(1, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", database_->DropFamily("t", "g"));
  WriteOptions sync;
  sync.durability = Durability::kSync;
  ASSERT_OK(table->Apply(RowMutation("row").Set("g:q", Timestamp(2), "w"), sync));
  CrashAndOpen(Unsynced::kEverything);
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("row")), "g:q@2=w");
}

TEST_F(FaultTest, ASchemaThatCannotBeRestoredStopsWritesUntilResume) {
  Table* table = CreateTable("t", {"f"});
  faulty_->FailCalls({{FileCall::kSyncDirectory}, "/schema"}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", database_->DeleteTable("t"));
  EXPECT_STATUS(kUnavailable, "schema of table t",
                table->Apply(RowMutation("row").Set("f:q", Timestamp(1), "v")));
  EXPECT_STATUS(kUnavailable, "no sync", database_->Resume());
  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());
  WriteOptions sync;
  sync.durability = Durability::kSync;
  ASSERT_OK(table->Apply(RowMutation("row").Set("f:q", Timestamp(1), "v"), sync));
  CrashAndOpen(Unsynced::kNothing);
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("row")), "f:q@1=v");
}

TEST_F(FaultTest, ChangesOfTablesOnAFullDiskStopNoWrites) {
  Table* table = CreateTable("t", {"f", "g"});
  CreateTable("u", {"f"});
  Set(table, "before", "f:q", 1, "v");
  ASSERT_OK(database_->WaitUntilQuiet());
  file_system_->set_max_total_bytes(file_system_->total_bytes());

  EXPECT_STATUS(kResourceExhausted, "schema/t", database_->DropFamily("t", "g"));
  EXPECT_STATUS(kResourceExhausted, "schema/t",
                database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(1)}));
  EXPECT_FALSE(database_->CreateTable("new", TableSchema{.families = {{"f", {}}}}).ok());
  EXPECT_OK(database_->Statistics().background_error);
  file_system_->set_max_total_bytes(InMemoryFileSystem::kUnlimited);

  Set(table, "later", "g:q", 1, "v");  // without Resume
  Set(OpenTable("u"), "later", "f:q", 1, "v");
  EXPECT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(2)}));
  CrashAndOpen(Unsynced::kEverything);
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "before later");
  EXPECT_EQ(database_->GetSchema("t").value().families.at("f").gc, GcRule::MaxVersions(2));
  EXPECT_STATUS(kNotFound, "new", database_->OpenTable("new"));
}

// The file is replaced or removed with an error, and then there is no room to undo that.
TEST_F(FaultTest, AChangeOfATableThatCannotBeUndoneIsMade) {
  Table* table = CreateTable("t", {"f", "g"});
  CreateTable("deleted", {"f"});
  const absl::Status full = absl::ResourceExhaustedError("disk full");
  // The n-th call that changes the file does its work and fails, and all later ones do nothing.
  const auto fail_from = [&](uint64_t n) {
    faulty_->CountCalls({{FileCall::kNewWritableFile, FileCall::kRenameFile, FileCall::kRemoveFile},
                         absl::StrCat(kPath, "/lockservice/schema")});  // not its copy
    faulty_->FailCall(n, full, FaultyFileSystem::Repeat::kOnce, FaultyFileSystem::Done::kAll);
    faulty_->FailCall(n + 1, full, FaultyFileSystem::Repeat::kFromThenOn);
  };

  fail_from(2);
  EXPECT_OK(database_->DropFamily("t", "g"));
  fail_from(2);
  EXPECT_OK(database_->CreateTable("new", TableSchema{.families = {{"f", {}}}}));
  fail_from(1);
  EXPECT_OK(database_->DeleteTable("deleted"));

  EXPECT_OK(database_->Statistics().background_error);
  Set(table, "row", "f:q", 1, "v");
  Set(OpenTable("new"), "row", "f:q", 1, "v");
  CrashAndOpen(Unsynced::kEverything);
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("row")), "f:q@1=v");
  EXPECT_EQ(Show(OpenTable("new")->ReadRow("row")), "f:q@1=v");
  EXPECT_FALSE(database_->GetSchema("t").value().families.contains("g"));
  EXPECT_STATUS(kNotFound, "deleted", database_->OpenTable("deleted"));
}

TEST_F(FaultTest, AWriteWhoseDeadlinePassesInTheQueueIsNotApplied) {
  Table* table = CreateTable("t", {"f"});
  faulty_->StallCalls({{FileCall::kLogSync}, {}});
  std::thread first([&] {
    WriteOptions sync;
    sync.durability = Durability::kSync;
    EXPECT_OK(table->Apply(RowMutation("first").Set("f:q", "v"), sync));
  });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  absl::Status late;
  absl::Status cancelled;
  Cancellation cancellation;
  std::thread second([&] {
    WriteOptions options;
    options.deadline = absl::Now() + absl::Milliseconds(20);
    late = table->Apply(RowMutation("late").Set("f:q", "v"), options);
  });
  std::thread third([&] {
    WriteOptions options;
    options.cancellation = &cancellation;
    cancelled = table->Apply(RowMutation("cancelled").Set("f:q", "v"), options);
  });
  absl::SleepFor(absl::Milliseconds(50));
  cancellation.Cancel();
  faulty_->ReleaseCalls();
  first.join();
  second.join();
  third.join();
  EXPECT_STATUS(kDeadlineExceeded, "deadline", late);
  EXPECT_STATUS(kCancelled, "cancelled", cancelled);
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "first");
}

// --- Deleting a table frees its memory and waits for no compaction ---

TEST_F(FaultTest, ADeletedTableKeepsNoMemory) {
  Table* const table = CreateTable("t", {"f"});
  // Without the log segments that are kept for reuse.
  const auto memory = [&] { return budget_->used() - budget_->used(MemoryBudget::Use::kSpareLog); };
  const uint64_t before = memory();
  Set(table, "row", "f:q", 1, std::string(50000, 'v'));
  ASSERT_OK(database_->Flush("t"));
  for (int i = 0; i < 100; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(50000, 'v'));
  }
  ASSERT_OK(database_->DeleteTable("t"));
  const absl::Time end = absl::Now() + absl::Seconds(10);
  uint64_t after = UINT64_MAX;
  while (after > before + (1 << 20) && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(10));
    after = memory();
  }
  EXPECT_LE(after, before + (1 << 20));
  EXPECT_STATUS(kNotFound, "deleted", table->ReadRow("row"));
}

// The table is deleted, but METADATA's log fails when its tablets are to be forgotten.
TEST_F(FaultTest, ADeletionThatMetadataRefusesIsFinishedByUpkeep) {
  const auto sstables = [&] {
    std::set<std::string> files;
    for (const std::string& path : file_system_->AllFiles()) {
      if (path.ends_with(".sst")) files.insert(path);
    }
    return files;
  };
  ASSERT_THAT(sstables(), testing::IsEmpty());
  Table* const table = CreateTable("t", {"f"});
  Set(table, "a", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_EQ(sstables().size(), 1u);
  const std::string file = *sstables().begin();
  for (int i = 0; i < 2000; ++i) Set(table, Cat("row", i), "f:q", 1, "v");
  const uint64_t memtables = budget_->used(MemoryBudget::Use::kMemtables);
  faulty_->FailCalls({{FileCall::kLogSync}, "/db/log/metadata"}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", database_->DeleteTable("t"));
  EXPECT_STATUS(kNotFound, "there is no table", database_->GetSchema("t").status());
  // Memory is freed nevertheless.
  for (int i = 0; i < 1000 && budget_->used(MemoryBudget::Use::kMemtables) >= memtables; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_LT(budget_->used(MemoryBudget::Use::kMemtables), memtables);
  EXPECT_TRUE(sstables().contains(file));
  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());
  for (int i = 0; i < 3000 && sstables().contains(file); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_FALSE(sstables().contains(file));
  EXPECT_THAT(DatabasePeer(database_.get()).TablesOfMetadata().value(), testing::IsEmpty());
}

TEST_F(FaultTest, DeletingATableDoesNotWaitForItsCompactions) {
  Table* const table = CreateTable("t", {"f"});
  database_->SetCompactionRate(1);
  faulty_->CountCalls({{FileCall::kNewWritableFile}, ".sst"});
  constexpr int kFlushes = 12;
  for (int i = 0; i < kFlushes; ++i) {
    for (const char* row : {"a", "z"}) Set(table, row, "f:q", i, std::string(100000, 'v'));
    ASSERT_OK(database_->Flush("t"));
  }
  while (faulty_->calls() == kFlushes) absl::SleepFor(absl::Milliseconds(1));
  const absl::Time start = absl::Now();
  EXPECT_OK(database_->DeleteTable("t"));
  EXPECT_LT(absl::Now() - start, absl::Seconds(30));
  EXPECT_OK(database_->WaitUntilQuiet());
  EXPECT_OK(database_->Statistics().background_error);
}

// --- Names ---

TEST_F(FaultTest, NoTableNameIsMistakenForATemporaryFile) {
  for (const char* name : {"x", "x.tmp", "tmp", "y.tmp", "schema", "x.~"}) {
    if (!database_->CreateTable(name, TableSchema{.families = {{"f", {}}}}).ok()) continue;
    Set(OpenTable(name), name, "f:q", 1, "v");
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> before, database_->ListTables());
  EXPECT_GE(before.size(), 5u);
  ASSERT_OK(database_->AddFamily("x", "g", {}));
  CrashAndOpen(Unsynced::kEverything);
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> after, database_->ListTables());
  EXPECT_EQ(after, before);
  for (const std::string& name : after) {
    EXPECT_EQ(ShowKeys(OpenTable(name)->ReadRows(RowRange::All())), name);
  }
}

}  // namespace
}  // namespace bigtable
