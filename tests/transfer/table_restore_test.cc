// BackupEngine::RestoreTable: a table of a backup becomes a table of an open database, whole or not
// at all.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"
#include "support/seeds.h"
#include "support/watched_file_system.h"
#include "transfer/backups_fixture.h"

namespace bigtable {
namespace {

class TableRestoreTest : public BackupsFixture {
 protected:
  absl::Status RestoreTable(uint64_t id, std::string_view name, std::string_view table = "rows") {
    return backups_->RestoreTable(id, table, database_.get(), name);
  }
  std::string DumpOf(std::string_view table, std::shared_ptr<const Snapshot> snapshot = nullptr) {
    return DumpTable(database_.get(), table, {.snapshot = std::move(snapshot)});
  }
  // Two groups, an aggregate, versions, deletions, tablets that share files, an ingested file.
  void FillAllKinds() {
    TableSchema schema = StillSchema();
    schema.locality_groups["other"] = {};
    schema.families["g"] = {.locality_group = "other"};
    schema.families["n"] = {.value_type = ValueType::kInt64Sum};
    schema.families["v"] = {.gc = GcRule::MaxVersions(2)};
    Table* const table = CreateTable("rows", schema);
    for (int i = 0; i < 40; ++i) {
      RowMutation mutation(RowOf(i));
      mutation.Set("f:q", Timestamp(1), Cat("old", i)).Set("g:q", Timestamp(i + 1), "g");
      mutation.AddToCell("n:q", Timestamp(1), i);
      for (int version = 1; version <= 3; ++version) {
        mutation.Set("v:q", Timestamp(version), Cat("v", version));
      }
      EXPECT_OK(table->Apply(mutation));
      if (i % 16 == 0) {
        EXPECT_OK(database_->Flush("rows"));
      }
    }
    EXPECT_OK(database_->Flush("rows"));
    EXPECT_OK(database_->SplitTablet("rows", RowOf(13)));
    EXPECT_OK(database_->SplitTablet("rows", RowOf(27)));
    EXPECT_OK(table->Apply(RowMutation(RowOf(3)).DeleteRow()));
    EXPECT_OK(table->Apply(RowMutation(RowOf(14)).Delete("f:q").AddToCell("n:q", Timestamp(1), 7)));
    EXPECT_OK(database_->Flush("rows"));
    auto writer = SSTableWriter::Create("/in.sst", {.file_system = file_system_.get()}).value();
    for (int i = 25; i < 35; ++i) {
      EXPECT_OK(writer->Add({.row = RowOf(i),
                             .family = "f",
                             .qualifier = "ingested",
                             .timestamp = Timestamp(9),
                             .value = "i"}));
    }
    EXPECT_OK(writer->Finish());
    EXPECT_OK(table->Ingest({"/in.sst"}));
    Fill(table, 20, 24, "memory");
  }
  size_t SSTables() const {
    size_t files = 0;
    for (const std::string& file : file_system_->AllFiles()) {
      files += file.starts_with(absl::StrCat(kPath, "/sst/")) ? 1 : 0;
    }
    return files;
  }
};

TEST_F(TableRestoreTest, ItIsAsItWasAndHasALifeOfItsOwn) {
  ASSERT_NO_FATAL_FAILURE(FillAllKinds());
  const std::string before = DumpOf("rows");
  const BackupInfo made = Create();
  Table* const original = OpenTable("rows");
  for (int i = 0; i < 40; ++i) {
    EXPECT_OK(original->Apply(RowMutation(RowOf(i)).DeleteRow()));
  }
  ASSERT_OK(database_->Compact("rows"));
  ASSERT_OK(RestoreTable(made.id, "again"));
  EXPECT_EQ(DumpOf("again"), before);
  EXPECT_EQ(DumpOf("rows"), "");
  EXPECT_EQ(ShowRanges("again"), ShowRanges("rows"));
  EXPECT_EQ(database_->GetSchema("again").value(), database_->GetSchema("rows").value());
  ASSERT_OK(database_->DeleteTable("rows"));
  EXPECT_EQ(DumpOf("again"), before);

  // The same table twice, and after its files were written again.
  ASSERT_OK(RestoreTable(made.id, "rows"));
  ASSERT_OK(database_->Compact("again"));
  EXPECT_EQ(DumpOf("again"), before);
  EXPECT_EQ(DumpOf("rows"), before);
  ASSERT_OK(database_->DeleteTable("again"));
  EXPECT_EQ(DumpOf("rows"), before);
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Reopen(options);
  EXPECT_EQ(DumpOf("rows"), before);
  ASSERT_OK(database_->Compact("rows"));
  EXPECT_EQ(DumpOf("rows"), before);
  // What it has can be backed up again.
  const BackupInfo second = Create();
  ASSERT_OK(RestoreTable(second.id, "third"));
  EXPECT_EQ(DumpOf("third"), before);
}

TEST_F(TableRestoreTest, ALocalityGroupMayHaveLostItsFamilies) {
  TableSchema schema = StillSchema();
  schema.locality_groups["other"] = {};
  schema.families["g"] = {.locality_group = "other"};
  Fill(CreateTable("rows", schema), 0, 10);
  ASSERT_OK(database_->DropFamily("rows", "g"));
  const BackupInfo made = Create();
  ASSERT_OK(RestoreTable(made.id, "again"));
  EXPECT_EQ(DumpOf("again"), DumpOf("rows"));
  ASSERT_OK(database_->AddFamily("again", "g", {.locality_group = "other"}));
}

// The tablets of the table share files, which are removed when the last of them has no use for it.
TEST_F(TableRestoreTest, FilesOfSeveralTabletsAreRemovedWithTheLast) {
  ASSERT_NO_FATAL_FAILURE(FillAllKinds());
  const std::string before = DumpOf("rows");
  const BackupInfo made = Create();
  ASSERT_OK(database_->DeleteTable("rows"));
  ASSERT_OK(database_->WaitUntilQuiet());
  const size_t none = SSTables();
  ASSERT_OK(RestoreTable(made.id, "rows"));
  EXPECT_EQ(SSTables(), none + made.files);
  ASSERT_OK(database_->Compact("rows"));
  EXPECT_EQ(DumpOf("rows"), before);
  ASSERT_OK(database_->MergeTablets("rows", RowOf(13)));
  EXPECT_EQ(DumpOf("rows"), before);
  ASSERT_OK(database_->DeleteTable("rows"));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(SSTables(), none);
}

TEST_F(TableRestoreTest, LaterWritesAreNewerThanAllThatItHas) {
  Table* const rows = CreateSplitTable("rows", 2, 10);
  for (int i = 0; i < 2000; ++i) Set(rows, RowOf(i % 20), "f:q", 1, "old");
  EXPECT_OK(rows->Apply(RowMutation(RowOf(7)).DeleteRow()));
  const BackupInfo made = Create();
  // A new database, whose sequence numbers are smaller than those of the table.
  database_.reset();
  file_system_ = std::make_unique<InMemoryFileSystem>();
  Open();
  ASSERT_OK(RestoreTable(made.id, "rows"));
  Table* const table = OpenTable("rows");
  EXPECT_EQ(Show(table->ReadRow(RowOf(3))), "f:q@1=old");
  EXPECT_EQ(Show(table->ReadRow(RowOf(7))), "");
  Set(table, RowOf(3), "f:q", 1, "new");
  Set(table, RowOf(7), "f:q", 1, "new");
  const auto check = [&] {
    EXPECT_EQ(Show(OpenTable("rows")->ReadRow(RowOf(3))), "f:q@1=new");
    EXPECT_EQ(Show(OpenTable("rows")->ReadRow(RowOf(7))), "f:q@1=new");
    EXPECT_EQ(Show(OpenTable("rows")->ReadRow(RowOf(19))), "f:q@1=old");
  };
  check();
  Kill();
  Open();
  check();
  ASSERT_OK(database_->Compact("rows"));
  check();
  Reopen();
  check();
}

TEST_F(TableRestoreTest, SnapshotsAndTransactionsFromBeforeDoNotSeeIt) {
  // More rows than are walked over without a note that they are empty, and cached ones.
  DatabaseOptions options = WithServers(2);
  options.scan_cache = true;
  Reopen(options);
  Fill(CreateSplitTable("rows", 3, 100), 0, 300);
  const std::string before = DumpOf("rows");
  const BackupInfo made = Create();
  const auto snapshot = database_->TakeSnapshot().value();
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  ASSERT_OK(RestoreTable(made.id, "again"));
  const auto later = database_->TakeSnapshot().value();
  EXPECT_EQ(DumpOf("again", snapshot), "");
  Table* const table = OpenTable("again");
  EXPECT_EQ(Show(table->ReadRow(RowOf(5), Filter(), {.snapshot = snapshot})), "");
  EXPECT_EQ(DumpOf("again", later), before);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Show(table->ReadRow(RowOf(5))), "f:q@1=v5");
    EXPECT_EQ(Show(table->ReadRow(RowOf(5), Filter(), {.snapshot = snapshot})), "");
    EXPECT_EQ(DumpOf("again", snapshot), "");
    EXPECT_EQ(DumpOf("again"), before);
  }
  EXPECT_STATUS(kAborted, "table again was created or restored after",
                transaction->ReadRow(table, RowOf(5)));
  // One that only writes there has seen nothing of it.
  EXPECT_OK(transaction->Apply(table, RowMutation(RowOf(6)).Set("f:q", Timestamp(1), "v6")));
  EXPECT_OK(transaction->Commit());
  EXPECT_EQ(DumpOf("again"), before);
  // Also when compactions have run.
  ASSERT_OK(database_->Compact("again"));
  EXPECT_EQ(DumpOf("again", snapshot), "");
  EXPECT_EQ(DumpOf("again", later), before);
  ASSERT_OK(database_->RunTransaction([&](Transaction* again) -> absl::Status {
    return again->Apply(table, RowMutation(RowOf(6)).Set("f:q", Timestamp(1), "x"));
  }));
}

TEST_F(TableRestoreTest, WhatIsWrongIsNamedAndChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  ASSERT_OK(database_->SetAccessList("list", {.readers = {"reader"}}));
  TableSchema schema = StillSchema();
  schema.families["f"].access_list = "list";
  CreateTable("listed", schema);
  const BackupInfo made = Create();
  const std::string before = Dump();
  const size_t files = SSTables();
  EXPECT_STATUS(kNotFound, "no table \"none\"; it has: listed, other, rows",
                RestoreTable(made.id, "a", "none"));
  EXPECT_STATUS(kNotFound, "no backup 9", RestoreTable(9, "a"));
  EXPECT_STATUS(kAlreadyExists, "\"other\"", RestoreTable(made.id, "other"));
  for (const char* const name : {"a/b", "", "METADATA"}) {
    EXPECT_STATUS(kInvalidArgument, "", RestoreTable(made.id, name));
  }
  ASSERT_OK(database_->DeleteTable("listed"));
  ASSERT_OK(database_->DeleteAccessList("list"));
  EXPECT_STATUS(kNotFound, "\"list\"", RestoreTable(made.id, "listed", "listed"));
  EXPECT_EQ(database_->ListTables().value(), (std::vector<std::string>{"other", "rows"}));
  EXPECT_EQ(SSTables(), files);
  ASSERT_OK(database_->SetAccessList("list", {.readers = {"reader"}}));
  ASSERT_OK(RestoreTable(made.id, "listed", "listed"));
  EXPECT_EQ(Dump(), before);

  DatabaseOptions options = Options();
  options.read_only = true;
  Reopen(options);
  EXPECT_STATUS(kFailedPrecondition, "read-only", RestoreTable(made.id, "a"));
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kFailedPrecondition, "closed", RestoreTable(made.id, "a"));
}

TEST_F(TableRestoreTest, QuotasOfOwnersRefuseIt) {
  TableSchema schema = StillSchema();
  schema.families["f"].owner = "owner";
  Fill(CreateTable("rows", schema), 0, 10);
  const BackupInfo made = Create();
  ASSERT_OK(database_->SetTableQuota("rows", {.storage_bytes = 1}));  // not of the restored one
  ASSERT_OK(RestoreTable(made.id, "a"));
  ASSERT_OK(database_->SetCallerQuota("owner", {.storage_bytes = 10}));
  const size_t files = SSTables();
  EXPECT_STATUS(kResourceExhausted, "storage quota of 10 bytes", RestoreTable(made.id, "b"));
  EXPECT_EQ(SSTables(), files);
  ASSERT_OK(database_->SetCallerQuota("owner", {}));
  EXPECT_OK(RestoreTable(made.id, "b"));
}

TEST_F(TableRestoreTest, DamagedAndMissingFilesAreFound) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const BackupInfo made = Create();
  const size_t files = SSTables();
  for (const std::string& path : disk_.AllFiles()) {
    if (!path.starts_with(kFiles)) continue;
    const std::string bytes = disk_.ReadFile(path).value();
    for (const bool is_missing : {false, true}) {
      std::string damaged = bytes;
      damaged[damaged.size() / 2] ^= 1;
      ASSERT_OK(disk_.RemoveFile(path));
      if (!is_missing) {
        auto file = disk_.NewWritableFile(path).value();
        ASSERT_OK(file->Append(damaged));
      }
      const absl::Status other = RestoreTable(made.id, "b", "other");
      const absl::Status rows = RestoreTable(made.id, "a");
      EXPECT_NE(rows.ok(), other.ok()) << path;
      EXPECT_STATUS(kDataLoss, is_missing ? "is missing" : "is damaged", rows.ok() ? other : rows);
      ASSERT_OK(database_->DeleteTable(rows.ok() ? "a" : "b"));
    }
    auto file = disk_.NewWritableFile(path).value();
    ASSERT_OK(file->Append(bytes));
  }
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(SSTables(), files);
  EXPECT_OK(RestoreTable(made.id, "a"));
}

TEST_F(TableRestoreTest, LimitsAndClosingEndIt) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const BackupInfo made = Create();
  const size_t before = SSTables();
  Cancellation cancellation;
  RestoreTableOptions options{.cancellation = &cancellation};
  uint64_t files = 0, bytes = 0;
  options.on_progress = [&](uint64_t n, uint64_t copied) {
    files = n;
    bytes = copied;
    if (n == 2) cancellation.Cancel();
  };
  EXPECT_STATUS(kCancelled, "",
                backups_->RestoreTable(made.id, "rows", database_.get(), "a", options));
  EXPECT_EQ(files, 2u);
  EXPECT_GT(bytes, 100u);
  EXPECT_STATUS(kDeadlineExceeded, "",
                backups_->RestoreTable(made.id, "rows", database_.get(), "a",
                                       {.deadline = absl::Now() - absl::Seconds(1)}));
  EXPECT_EQ(SSTables(), before);
  EXPECT_EQ(database_->ListTables().value(), (std::vector<std::string>{"other", "rows"}));
  std::thread closing;
  options = {};
  options.on_progress = [&](uint64_t, uint64_t) {
    if (closing.joinable()) return;
    closing = std::thread([&] { EXPECT_OK(database_->Close()); });
    absl::SleepFor(absl::Milliseconds(100));
  };
  EXPECT_STATUS(kFailedPrecondition, "closed",
                backups_->RestoreTable(made.id, "rows", database_.get(), "a", options));
  closing.join();
  Open();
  EXPECT_EQ(database_->ListTables().value(), (std::vector<std::string>{"other", "rows"}));
}

TEST_F(TableRestoreTest, AnErrorAtEachCallRestoresAllOrNothingAndCanBeTriedAgain) {
  ASSERT_NO_FATAL_FAILURE(FillAllKinds());
  const std::string before = DumpOf("rows");
  const BackupInfo made = Create();
  database_.reset();
  const auto start = std::exchange(file_system_, nullptr);
  const auto open_on = [&](FileSystem* file_system) {
    DatabaseOptions options = WithServers(2);
    options.file_system = file_system;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    EXPECT_OK(opened);
    database_ = *std::move(opened);
  };
  ASSERT_GT(made.files, 8u);
  int failed = 0;
  for (uint64_t call = 1;; ++call) {
    SCOPED_TRACE(call);
    file_system_ = start->CrashClone(1, Unsynced::kEverything);
    FaultyFileSystem faulty(file_system_.get());
    open_on(&faulty);
    ASSERT_OK(database_->WaitUntilQuiet());
    const size_t files = SSTables();
    faulty.CountCalls({.thread = std::this_thread::get_id()});
    faulty.FailCall(call, absl::InternalError("injected"));
    const absl::Status status = RestoreTable(made.id, "again");
    const bool is_over = faulty.calls() < call;
    faulty.ClearFaults();
    if (!status.ok()) {
      ++failed;
      ASSERT_OK(database_->Resume());
      const bool is_there = database_->OpenTable("again").ok();
      if (is_there) {
        EXPECT_EQ(DumpOf("again"), before);
      } else {
        ASSERT_OK(RestoreTable(made.id, "again"));
      }
    }
    EXPECT_EQ(DumpOf("again"), before);
    database_.reset();
    open_on(file_system_.get());
    EXPECT_EQ(DumpOf("again"), before);
    EXPECT_EQ(DumpOf("rows"), before);
    ASSERT_OK(database_->DeleteTable("again"));
    ASSERT_OK(database_->WaitUntilQuiet());
    EXPECT_LT(SSTables(), files + made.files) << "nothing is left but flushes of METADATA";
    database_.reset();
    if (is_over) {
      EXPECT_OK(status);
      break;
    }
  }
  EXPECT_GT(failed, 20);
}

TEST_F(TableRestoreTest, AfterALossOfPowerAtEachCallAllIsThereOrNothingRandom) {
  ASSERT_NO_FATAL_FAILURE(FillAllKinds());
  const std::string before = DumpOf("rows");
  const BackupInfo made = Create();
  database_.reset();
  WatchedFileSystem watched(file_system_.get());
  DatabaseOptions options = WithServers(2);
  options.file_system = &watched;
  database_ = Database::Open(kPath, options).value();
  Mutex mutex;
  std::vector<std::unique_ptr<InMemoryFileSystem>> disks;
  watched.Watch([&] {
    MutexLock lock(&mutex);
    disks.push_back(file_system_->CrashClone(disks.size()));
  });
  ASSERT_OK(RestoreTable(made.id, "again"));
  watched.Watch(nullptr);
  disks.push_back(file_system_->CrashClone(1));
  database_.reset();
  EXPECT_GT(disks.size(), 15u);
  bool was_there = false;
  for (const std::unique_ptr<InMemoryFileSystem>& disk : disks) {
    options.file_system = disk.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
    const bool is_there = database_->OpenTable("again").ok();
    if (is_there) {
      EXPECT_EQ(DumpOf("again"), before);
    }
    EXPECT_TRUE(is_there || !was_there) << "it is durable once it is there";
    EXPECT_EQ(DumpOf("rows"), before);
    was_there = is_there;
    database_.reset();
  }
  EXPECT_TRUE(was_there);
}

// Writers and readers of other tables, and a table of the same name that is created and deleted.
TEST_F(TableRestoreTest, OthersGoOnMeanwhileConcurrency) {
  ASSERT_NO_FATAL_FAILURE(FillAllKinds());
  const std::string before = DumpOf("rows");
  const BackupInfo made = Create();
  Table* const other = CreateTable("other", {"f"});
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (int i = 0; !is_over; ++i) Set(other, RowOf(i % 100), "f:q", 1, Cat(i));
  });
  std::thread creator([&] {
    while (!is_over) {
      const absl::Status created = database_->CreateTable("again", StillSchema());
      if (created.ok()) {
        EXPECT_OK(database_->DeleteTable("again"));
      } else {
        EXPECT_EQ(created.code(), absl::StatusCode::kAlreadyExists);
      }
    }
  });
  int restored = 0;
  for (int i = 0; i < 20; ++i) {
    const absl::Status status = RestoreTable(made.id, "again");
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
      continue;
    }
    ++restored;
    EXPECT_EQ(DumpOf("again"), before);
    EXPECT_OK(database_->DeleteTable("again"));
  }
  is_over = true;
  writer.join();
  creator.join();
  EXPECT_EQ(DumpOf("rows"), before);
}

}  // namespace
}  // namespace bigtable
