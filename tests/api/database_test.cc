// Database: opening and closing, and calls at and after Close.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

class DatabaseTest : public DatabaseFixture {
 protected:
  absl::Status TryOpen(const DatabaseOptions& options) {
    return Database::Open(kPath, options).status();
  }
};

// --- Opening ---

TEST_F(DatabaseTest, OpeningCreatesTheDirectoryButNotItsParent) {
  Open();
  EXPECT_FALSE(file_system_->AllFiles().empty());

  EXPECT_FALSE(Database::Open("/no/such/parent", Options()).ok());
}

TEST_F(DatabaseTest, AnEmptyDirectoryBecomesADatabase) {
  ASSERT_OK(file_system_->CreateDirectory(kPath));

  EXPECT_OK(TryOpen(Options()));
}

TEST_F(DatabaseTest, WithoutCreateIfMissingAMissingDatabaseIsNotFound) {
  DatabaseOptions options = Options();
  options.create_if_missing = false;

  EXPECT_STATUS(kNotFound, kPath, TryOpen(options));
  EXPECT_TRUE(file_system_->AllFiles().empty());
  Open();
  database_.reset();
  EXPECT_OK(TryOpen(options));
}

TEST_F(DatabaseTest, WithErrorIfExistsAnExistingDatabaseIsAlreadyExists) {
  DatabaseOptions options = Options();
  options.error_if_exists = true;

  EXPECT_OK(TryOpen(options));
  EXPECT_STATUS(kAlreadyExists, kPath, TryOpen(options));
}

TEST_F(DatabaseTest, AnOptionOutOfRangeIsNamedAndNothingIsCreated) {
  const auto expect_refused = [this](const char* name, auto change) {
    DatabaseOptions options = Options();
    change(&options);
    EXPECT_STATUS(kInvalidArgument, name, TryOpen(options));
  };
  expect_refused("memory_budget", [](auto* o) { o->memory_budget = (8 << 20) - 1; });
  expect_refused("memtable_size", [](auto* o) { o->memtable_size = (64 << 10) - 1; });
  expect_refused("memtable_size", [](auto* o) { o->memtable_size = o->memory_budget / 4 + 1; });
  expect_refused("shared_memory_budget",
                 [](auto* o) { o->shared_memory_budget = std::make_shared<MemoryBudget>(1000); });
  expect_refused("tablet_servers must be from 0 to 256, and is -2",
                 [](auto* o) { o->tablet_servers = -2; });
  expect_refused("durability", [](auto* o) { o->durability = static_cast<Durability>(9); });
  expect_refused("log_segment_size", [](auto* o) { o->log_segment_size = (64 << 10) - 1; });
  expect_refused("log_segment_size", [](auto* o) { o->log_segment_size = (1 << 30) + 1; });
  expect_refused("target_file_size", [](auto* o) { o->target_file_size = (1 << 20) - 1; });
  expect_refused("metadata_tablet_size", [](auto* o) { o->metadata_tablet_size = (4 << 10) - 1; });
  expect_refused("compaction_threads", [](auto* o) { o->compaction_threads = 0; });
  expect_refused("compaction_threads", [](auto* o) { o->compaction_threads = 65; });
  expect_refused("max_open_files", [](auto* o) { o->max_open_files = 7; });
  expect_refused("max_open_files", [](auto* o) { o->max_open_files = -1; });
  expect_refused("balance_interval", [](auto* o) { o->balance_interval = absl::ZeroDuration(); });

  EXPECT_TRUE(file_system_->AllFiles().empty());
}

TEST_F(DatabaseTest, OptionsAtTheirLimitsAreAccepted) {
  DatabaseOptions least = Options();
  least.memory_budget = MemoryBudget::kMinimum;
  least.memtable_size = 64 << 10;
  least.log_segment_size = 64 << 10;
  least.target_file_size = 1 << 20;
  least.metadata_tablet_size = 4 << 10;
  least.max_open_files = 8;
  EXPECT_OK(TryOpen(least));

  DatabaseOptions most = Options();
  most.compaction_threads = 64;
  EXPECT_OK(TryOpen(most));
}

TEST_F(DatabaseTest, ADatabaseIsOpenOnlyOnce) {
  Open();
  DatabaseOptions read_only = Options();
  read_only.read_only = true;

  EXPECT_STATUS(kFailedPrecondition, kPath, TryOpen(Options()));
  EXPECT_STATUS(kFailedPrecondition, kPath, TryOpen(read_only));

  ASSERT_OK(database_->Close());
  EXPECT_OK(TryOpen(Options()));
}

TEST(DatabaseOnDiskTest, ADatabaseIsOpenOnlyOnce) {
  const TempDirectory directory;
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> database,
                       Database::Open(directory.database(), TestOptions()));

  EXPECT_STATUS(kFailedPrecondition, directory.database(),
                Database::Open(directory.database(), TestOptions()));

  database.reset();
  EXPECT_OK(Database::Open(directory.database(), TestOptions()));
}

// --- Closing ---

TEST_F(DatabaseTest, AllDataIsThereAfterReopening) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  Set(table, "file", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "memory", "f:q", 1, "v");

  Reopen();
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "file memory");
  database_.reset();  // without Close
  Open();
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "file memory");
}

TEST_F(DatabaseTest, CallsAfterCloseAreFailedPrecondition) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  const RowMutation mutation = RowMutation("r").Set("f:q", "v");
  ASSERT_OK(database_->Close());

  EXPECT_STATUS(kFailedPrecondition, "close", table->Apply(mutation));
  EXPECT_STATUS(kFailedPrecondition, "close", table->ApplyBatch({mutation})[0]);
  EXPECT_STATUS(kFailedPrecondition, "close", table->ReadRow("r"));
  RowReader reader = table->ReadRows(RowRange::All());
  EXPECT_FALSE(reader.Next());
  EXPECT_STATUS(kFailedPrecondition, "close", reader.status());
  EXPECT_STATUS(kFailedPrecondition, "close", database_->CreateTable("u", TableSchema{}));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->DeleteTable("t"));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->OpenTable("t"));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->ListTables());
  EXPECT_STATUS(kFailedPrecondition, "close", database_->GetSchema("t"));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->AddFamily("t", "g", {}));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->DropFamily("t", "f"));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->UpdateFamily("t", "f", {}));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->SetLocalityGroup("t", "g", {}));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->TakeSnapshot());
  EXPECT_STATUS(kFailedPrecondition, "close", database_->Flush("t"));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->Compact("t"));
  EXPECT_STATUS(kFailedPrecondition, "close", database_->Resume());
  EXPECT_OK(database_->Close());
}

TEST_F(DatabaseTest, CallsWithoutAStatusAreHarmlessAfterClose) {
  Open();
  CreateTable("t", {"f"});
  ASSERT_OK(database_->Close());

  database_->PauseCompactions();
  database_->ContinueCompactions();
  database_->CancelCompactions();
  database_->SetCompactionRate(1);
  (void)database_->Statistics();
}

TEST_F(DatabaseTest, CallsObserveTheirDeadlineAndCancellation) {
  Open();
  CreateTable("t", {"f"});
  Cancellation cancellation;
  cancellation.Cancel();
  const CallOptions late = {.deadline = absl::InfinitePast()};
  const CallOptions cancelled = {.cancellation = &cancellation};

  EXPECT_STATUS(kDeadlineExceeded, "",
                database_->CreateTable("u", TableSchema{}, {.deadline = late.deadline}));
  EXPECT_STATUS(kDeadlineExceeded, "", database_->DeleteTable("t", late));
  EXPECT_STATUS(kDeadlineExceeded, "", database_->AddFamily("t", "g", {}, late));
  EXPECT_STATUS(kDeadlineExceeded, "", database_->DropFamily("t", "f", late));
  EXPECT_STATUS(kDeadlineExceeded, "", database_->UpdateFamily("t", "f", {}, late));
  EXPECT_STATUS(kDeadlineExceeded, "", database_->SetLocalityGroup("t", "g", {}, late));
  EXPECT_STATUS(kDeadlineExceeded, "", database_->Flush("t", late));
  EXPECT_STATUS(kDeadlineExceeded, "", database_->Compact("t", late));
  EXPECT_STATUS(kCancelled, "",
                database_->CreateTable("u", TableSchema{}, {.cancellation = &cancellation}));
  EXPECT_STATUS(kCancelled, "", database_->DeleteTable("t", cancelled));
  EXPECT_STATUS(kCancelled, "", database_->Compact("t", cancelled));

  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> tables, database_->ListTables());
  EXPECT_EQ(tables, std::vector<std::string>{"t"});
  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  EXPECT_EQ(schema.families.size(), 1u);
  EXPECT_TRUE(schema.families.contains("f"));
}

TEST_F(DatabaseTest, CloseWhileCompactionsArePausedReturns) {
  Open();
  CreateTable("t", {"f"});
  database_->PauseCompactions();

  EXPECT_OK(database_->Close());
}

// Rows from each kind of memory that the engine reads values from.
TEST(DatabaseOnDiskTest, RowsStayValidAfterTheDatabaseIsClosedAndDeleted) {
  const std::string value(50'000, 'v');
  std::vector<Row> rows;
  for (const auto mode : {FileSystem::ReadMode::kMapped, FileSystem::ReadMode::kPositional}) {
    const TempDirectory directory;  // deleted when the rows are read again
    DatabaseOptions options;
    options.read_mode = mode;
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> database,
                         Database::Open(directory.database(), options));
    TableSchema schema;
    schema.locality_groups["plain"] = {};
    schema.locality_groups["compressed"] = {.compression = Compression::kZstd};
    schema.locality_groups["in_memory"] = {.in_memory = true};
    for (const char* name : {"plain", "compressed", "in_memory"}) {
      schema.families[name] = {.locality_group = name};
    }
    ASSERT_OK(database->CreateTable("t", schema));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
    RowMutation mutation("r");
    mutation.Set("plain:q", value).Set("compressed:q", value).Set("in_memory:q", value);
    ASSERT_OK(table->Apply(mutation));
    ASSERT_OK_AND_ASSIGN(Row in_memtable, table->ReadRow("r"));
    ASSERT_OK(database->Flush("t"));
    ASSERT_OK_AND_ASSIGN(Row in_file, table->ReadRow("r"));
    rows.push_back(std::move(in_memtable));
    rows.push_back(std::move(in_file));
    ASSERT_OK(database->Close());
    for (const Row& row : rows) {
      for (const Cell& cell : row.cells()) EXPECT_TRUE(cell.value == value);
    }
  }

  for (const Row& row : rows) {
    EXPECT_EQ(row.key(), "r");
    ASSERT_EQ(row.cells().size(), 3u);
    for (const Cell& cell : row.cells()) EXPECT_TRUE(cell.value == value);
  }
}

TEST_F(DatabaseTest, AReaderAndASnapshotMayOutliveTheDatabase) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 1000; ++i) Set(table, absl::StrCat("row", 1000 + i), "f:q", 1, "v");
  ASSERT_OK_AND_ASSIGN(const auto snapshot, database_->TakeSnapshot());
  RowReader reader = table->ReadRows(RowRange::All(), {.snapshot = snapshot});
  ASSERT_TRUE(reader.Next());

  ASSERT_OK(database_->Close());
  database_.reset();

  EXPECT_EQ(Show(reader.row()), "f:q@1=v");
  int rows = 1;
  while (reader.Next()) ++rows;
  EXPECT_LT(rows, 1000);
  EXPECT_STATUS(kFailedPrecondition, "close", reader.status());
  EXPECT_GT(snapshot->sequence(), 0u);
}

TEST_F(DatabaseTest, CloseWaitsForThreadsInsideCalls) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  std::atomic<int> begun{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([table, i, &begun, &wrong] {
      for (int k = 0;; ++k) {
        const absl::Status status =
            i % 2 == 0 ? table->Apply(RowMutation(absl::StrCat(i, "/", k)).Set("f:q", "v"))
                       : table->ReadRow("0/0").status();
        ++begun;
        if (absl::IsFailedPrecondition(status)) return;
        if (!status.ok()) ++wrong;
      }
    });
  }
  while (begun < 100) std::this_thread::yield();

  EXPECT_OK(database_->Close());
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace bigtable
