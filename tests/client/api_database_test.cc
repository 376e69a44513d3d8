// Database: opening and closing, read-only, locks, log sink, statistics.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "support/capturing_sink.h"
#include "support/database_fixture.h"
#include "support/read_mode.h"
#include "support/scoped_shortcuts.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

class DatabaseTest : public DatabaseFixture {
 protected:
  absl::Status TryOpen(const DatabaseOptions& options) {
    return Database::Open(kPath, options).status();
  }
  DatabaseOptions ReadOnly() {
    DatabaseOptions options = Options();
    options.read_only = true;
    return options;
  }
  std::map<std::string, std::string> Files() {
    std::map<std::string, std::string> files;
    for (const std::string& path : file_system_->AllFiles()) {
      files[path] = file_system_->Contents(path);
    }
    return files;
  }
  // A database with something in a file and something in the log alone.
  void MakeDatabaseWithALog() {
    Open();
    Table* const table = CreateTable("t", {"f"});
    Set(table, "file", "f:q", 1, "v");
    ASSERT_OK(database_->Flush("t"));
    Set(table, "log", "f:q", 1, "v");
    Kill();
  }
};

// --- Opening ---

TEST_F(DatabaseTest, OpeningCreatesTheDirectoryButNotItsParent) {
  Open();
  EXPECT_FALSE(file_system_->AllFiles().empty());

  EXPECT_FALSE(Database::Open("/no/such/parent", Options()).ok());
}

TEST_F(DatabaseTest, AnEmptyDirectoryIsMadeADatabase) {
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
  expect_refused("compaction_threads", [](auto* o) { o->compaction_threads = 0; });
  expect_refused("compaction_threads", [](auto* o) { o->compaction_threads = 65; });
  expect_refused("max_open_files", [](auto* o) { o->max_open_files = 7; });
  expect_refused("max_open_files", [](auto* o) { o->max_open_files = -1; });
  expect_refused("balance_interval", [](auto* o) { o->balance_interval = absl::ZeroDuration(); });

  EXPECT_TRUE(file_system_->AllFiles().empty());
}

TEST_F(DatabaseTest, OptionsAtTheirLimitsAreTaken) {
  DatabaseOptions least = Options();
  least.memory_budget = MemoryBudget::kMinimum;
  least.memtable_size = 64 << 10;
  least.log_segment_size = 64 << 10;
  least.target_file_size = 1 << 20;
  least.max_open_files = 8;
  EXPECT_OK(TryOpen(least));

  DatabaseOptions most = Options();
  most.compaction_threads = 64;
  EXPECT_OK(TryOpen(most));
}

TEST_F(DatabaseTest, ADatabaseIsOpenOnlyOnce) {
  Open();

  EXPECT_STATUS(kFailedPrecondition, kPath, TryOpen(Options()));
  EXPECT_STATUS(kFailedPrecondition, kPath, TryOpen(ReadOnly()));

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

// --- Read-only ---

TEST_F(DatabaseTest, ReadOnlyReadsFilesAndLogAndWritesNotAByte) {
  MakeDatabaseWithALog();
  const std::map<std::string, std::string> before = Files();

  Open(ReadOnly());
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "file log");
  ASSERT_OK(database_->Close());
  database_.reset();

  const std::map<std::string, std::string> after = Files();
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [path, bytes] : before) {
    ASSERT_TRUE(after.contains(path)) << path;
    EXPECT_TRUE(after.at(path) == bytes) << path;
  }
}

TEST(DatabaseOnDiskTest, ReadOnlyWritesNotAByte) {
  const TempDirectory directory;
  {
    ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(directory.database(), TestOptions()));
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_OK(database->CreateTable("t", schema));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
    ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  }
  const std::map<std::string, std::string> before = directory.Contents();

  for (int i = 0; i < 2; ++i) {
    DatabaseOptions options = TestOptions();
    options.read_only = true;
    ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(directory.database(), options));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
    EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=v");
  }

  EXPECT_TRUE(directory.Contents() == before);
}

TEST_F(DatabaseTest, ReadOnlyUsersShareADirectoryAndKeepWritersOut) {
  MakeDatabaseWithALog();
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> first, Database::Open(kPath, ReadOnly()));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> second, Database::Open(kPath, ReadOnly()));

  EXPECT_STATUS(kFailedPrecondition, kPath, TryOpen(Options()));

  first.reset();
  second.reset();
  EXPECT_OK(TryOpen(Options()));
}

TEST_F(DatabaseTest, ReadOnlyCreatesNothing) {
  EXPECT_STATUS(kNotFound, kPath, TryOpen(ReadOnly()));
  EXPECT_TRUE(file_system_->AllFiles().empty());
}

TEST_F(DatabaseTest, ReadOnlyRefusesWritesAndChangesOfSchemas) {
  MakeDatabaseWithALog();
  Open(ReadOnly());
  Table* const table = OpenTable("t");
  const RowMutation mutation = RowMutation("r").Set("f:q", "v");

  EXPECT_STATUS(kFailedPrecondition, "read", table->Apply(mutation));
  EXPECT_STATUS(kFailedPrecondition, "read", table->ApplyBatch({mutation})[0]);
  EXPECT_STATUS(kFailedPrecondition, "read", database_->CreateTable("u", TableSchema{}));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->DeleteTable("t"));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->AddFamily("t", "g", {}));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->DropFamily("t", "f"));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->UpdateFamily("t", "f", {}));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->SetLocalityGroup("t", "g", {}));
}

TEST_F(DatabaseTest, ReadOnlySnapshotsAndScansWork) {
  MakeDatabaseWithALog();
  Open(ReadOnly());
  ASSERT_OK_AND_ASSIGN(const auto snapshot, database_->TakeSnapshot());

  Scanner scanner(OpenTable("t"), {.snapshot = snapshot});
  EXPECT_EQ(ShowStream(scanner.FetchColumnFamily("f")), "file/f:q@1=v log/f:q@1=v");
  EXPECT_OK(database_->WaitUntilQuiet());
}

// --- Closing ---

TEST_F(DatabaseTest, EverythingIsThereAfterReopening) {
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

TEST_F(DatabaseTest, CallsWithoutAStatusDoNoHarmAfterClose) {
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

// Rows from every place where the engine can have a value.
TEST(DatabaseOnDiskTest, RowsStayValidAfterCloseAndAfterTheDatabaseIsGone) {
  const std::string value(50'000, 'v');
  std::vector<Row> rows;
  for (const auto mode : {FileSystem::ReadMode::kMapped, FileSystem::ReadMode::kPositional}) {
    const TempDirectory directory;  // gone too, when the rows are looked at
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

TEST_F(DatabaseTest, CloseWaitsForThreadsThatAreInCalls) {
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

// --- Log, statistics ---

TEST_F(DatabaseTest, TheLogSinkHearsWhatHappensInSingleLines) {
  const auto sink = std::make_shared<CapturingSink>();
  DatabaseOptions options = Options();
  options.log_sink = sink;
  Open(options);
  Set(CreateTable("t", {"f"}), "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Close());

  const std::vector<CapturingSink::Message> messages = sink->messages();
  ASSERT_FALSE(messages.empty());
  for (const CapturingSink::Message& message : messages) {
    EXPECT_FALSE(message.text.empty());
    EXPECT_EQ(message.text.find('\n'), std::string::npos) << message.text;
    EXPECT_EQ(message.severity, LogSeverity::kInfo) << message.text;
  }
  EXPECT_FALSE(file_system_->FileExists(std::string(kPath) + "/LOG"));
}

TEST_F(DatabaseTest, WithoutASinkTheFileLOGIsWritten) {
  Open();
  database_.reset();

  EXPECT_FALSE(file_system_->Contents(std::string(kPath) + "/LOG").empty());
}

TEST_F(DatabaseTest, StatisticsCountWhatWasDone) {
  Open();
  TableSchema schema;
  schema.locality_groups["other"] = {};
  schema.families["f"] = {};
  schema.families["g"] = {.locality_group = "other"};
  Table* const table = CreateTable("t", schema);
  const DatabaseStatistics before = database_->Statistics();
  for (int i = 0; i < 100; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(1000, 'v'));
  }
  ASSERT_OK(table->Apply(RowMutation("row0").Delete("f:q"), {.durability = Durability::kSync}));
  const DatabaseStatistics written = database_->Statistics();
  ASSERT_OK(database_->Flush("t"));
  const DatabaseStatistics flushed = database_->Statistics();
  ASSERT_OK(database_->Compact("t"));
  DatabaseStatistics compacted = database_->Statistics();

  EXPECT_EQ(written.rows_written - before.rows_written, 101u);
  EXPECT_GE(written.log_bytes_written - before.log_bytes_written, 100'000u);
  EXPECT_GE(written.log_syncs - before.log_syncs, 1u);
  const LocalityGroupStatistics in_memory = written.tables.at("t").at("default");
  EXPECT_GE(in_memory.memtables, 1u);
  EXPECT_GE(in_memory.memtable_bytes, 100'000u);
  EXPECT_EQ(in_memory.files, 0u);
  EXPECT_GE(written.memory_memtables + written.memory_log, 100'000u);
  EXPECT_EQ(written.memory_limit, uint64_t{32} << 20);

  const LocalityGroupStatistics in_file = flushed.tables.at("t").at("default");
  EXPECT_GE(flushed.minor_compactions - before.minor_compactions, 1u);
  EXPECT_GE(flushed.minor_compaction_bytes_written - before.minor_compaction_bytes_written,
            100'000u);
  EXPECT_EQ(in_file.files, 1u);
  EXPECT_EQ(in_file.sorted_runs, 1u);
  EXPECT_EQ(in_file.deletions, 1u);
  EXPECT_GE(in_file.entries, 100u);
  EXPECT_GE(in_file.file_bytes, 100'000u);
  EXPECT_LT(in_file.memtable_bytes, 100'000u);
  EXPECT_EQ(flushed.tables.at("t").at("other").files, 0u);

  EXPECT_GE(compacted.major_compactions - before.major_compactions, 1u);
  EXPECT_GE(compacted.merging_compactions, compacted.major_compactions);
  EXPECT_GE(compacted.merging_compaction_bytes_read, 90'000u);
  EXPECT_GE(compacted.merging_compaction_bytes_written, 90'000u);
  EXPECT_EQ(compacted.tables["t"]["default"].entries, 99u);
  EXPECT_EQ(compacted.tables["t"]["default"].deletions, 0u);
  EXPECT_EQ(compacted.stall_reason, StallReason::kNone);
  EXPECT_EQ(compacted.write_delay, absl::ZeroDuration());
  EXPECT_OK(compacted.background_error);
}

TEST_F(DatabaseTest, TheBlockCacheServesWhatWasReadBefore) {
  const ScopedShortcutsOn shortcuts;
  DatabaseOptions options = Options();
  options.read_mode = FileSystem::ReadMode::kPositional;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));

  ASSERT_OK(table->ReadRow("r"));
  const DatabaseStatistics first = database_->Statistics();
  ASSERT_OK(table->ReadRow("r"));
  const DatabaseStatistics second = database_->Statistics();

  EXPECT_GE(first.block_cache_misses, 1u);
  EXPECT_GT(second.block_cache_hits, first.block_cache_hits);
  EXPECT_EQ(second.block_cache_misses, first.block_cache_misses);
  EXPECT_GT(second.memory_block_cache, 0u);
}

}  // namespace
}  // namespace bigtable
