// Database::Checkpoint: that a copy has exactly one moment of the database, beside writes and
// changes of tablets, and what is left after errors and crashes at each of its calls.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/mutex.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"
#include "support/watched_file_system.h"

namespace bigtable {
namespace {

constexpr const char* kCopy = "/copy";

class CheckpointTest : public TabletsFixture {
 protected:
  // The database is on these: faults first, which the watched calls do not see.
  void SetUp() override {
    watched_ = std::make_unique<WatchedFileSystem>(file_system_.get(), kCopy);
    faulty_ = std::make_unique<FaultyFileSystem>(watched_.get());
  }
  void TearDown() override { database_.reset(); }

  void OpenIt(int servers = 2, bool read_only = false) {
    DatabaseOptions options = Options();
    options.tablet_servers = servers;
    options.file_system = faulty_.get();
    options.read_only = read_only;
    database_ = OpenAt(kPath, options);
  }
  static std::unique_ptr<Database> OpenAt(std::string_view path, const DatabaseOptions& options) {
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(path, options);
    EXPECT_OK(opened);
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  std::unique_ptr<Database> OpenCopy(FileSystem* file_system = nullptr) {
    DatabaseOptions options = Options();
    options.create_if_missing = false;
    options.file_system = file_system != nullptr ? file_system : file_system_.get();
    return OpenAt(kCopy, options);
  }
  // All tables, with their schemas and rows.
  static std::string Dump(Database* database) {
    std::string dump;
    const std::vector<std::string> names = database->ListTables().value();
    for (const std::string& name : names) {
      absl::StrAppend(&dump, name, ":");
      const TableSchema schema = database->GetSchema(name).value();
      for (const auto& [family, _] : schema.families) {
        absl::StrAppend(&dump, " ", family);
      }
      dump += "\n";
      RowReader reader = (*database->OpenTable(name))->ReadRows(RowRange());
      for (const Row& row : reader) {
        absl::StrAppend(&dump, "  ", ToAbsl(row.key()), ": ", Show(row), "\n");
      }
      EXPECT_OK(reader.status());
    }
    return dump;
  }
  // The same for reading, and then for writing.
  std::string DumpCopy() {
    DatabaseOptions options = Options();
    options.read_only = true;
    options.file_system = file_system_.get();
    std::unique_ptr<Database> copy = OpenAt(kCopy, options);
    const std::string dump = copy != nullptr ? Dump(copy.get()) : "";
    copy.reset();
    copy = OpenCopy();
    if (copy != nullptr) {
      EXPECT_EQ(Dump(copy.get()), dump);
    }
    return dump;
  }
  // Rows in SSTables of several runs, in memtables, deleted ones, and tablets that share files.
  void FillTables() {
    Table* const rows = CreateSplitTable("rows", 3, 10);
    Fill(rows, 0, 30);
    ASSERT_OK(database_->Flush("rows"));
    Fill(rows, 5, 25, "second");
    ASSERT_OK(rows->Apply(RowMutation(RowOf(7)).DeleteRow()));
    ASSERT_OK(database_->Flush("rows"));
    ASSERT_OK(database_->SplitTablet("rows", RowOf(15)));
    Fill(rows, 10, 20, "third");
    ASSERT_OK(rows->Apply(RowMutation(RowOf(3)).DeleteRow()));
    TableSchema schema;
    schema.locality_groups["g"] = {};
    schema.families["count"] = {.value_type = ValueType::kInt64Sum};
    schema.families["text"] = {.locality_group = "g"};
    schema.split.tablet_size = 0;
    Table* const other = CreateTable("other", schema);
    Set(other, "r", "text:t", 5, "before");
    ASSERT_OK(database_->Flush("other"));
    Set(other, "r", "text:t", 6, "after");
    for (const int64_t n : {1, 2}) {
      ASSERT_OK(other->Apply(RowMutation("r").AddToCell("count:c", Timestamp(1), n)));
    }
    CreateTable("empty", {"f"});
  }
  void RemoveCopy(const std::string& path = kCopy) {
    const std::vector<std::string> names = file_system_->ListDirectory(path).value();
    for (const std::string& name : names) {
      const std::string of_name = absl::StrCat(path, "/", name);
      if (file_system_->RemoveFile(of_name).ok()) continue;
      RemoveCopy(of_name);
      ASSERT_OK(file_system_->RemoveDirectory(of_name));
    }
  }
  size_t FilesIn(std::string_view directory) const {
    size_t files = 0;
    for (const std::string& file : file_system_->AllFiles()) {
      files += file.starts_with(absl::StrCat(ToAbsl(directory), "/")) ? 1 : 0;
    }
    return files;
  }

  std::unique_ptr<WatchedFileSystem> watched_;
  std::unique_ptr<FaultyFileSystem> faulty_;
};

TEST_F(CheckpointTest, ACopyIsAWholeDatabaseOfItsOwn) {
  OpenIt();
  ASSERT_NO_FATAL_FAILURE(FillTables());
  ASSERT_OK(database_->SetAccessList("list", {.readers = {"reader"}}));
  ASSERT_OK(database_->SetTableQuota("rows", {.storage_bytes = 1 << 20}));
  const std::string before = Dump(database_.get());
  ASSERT_OK(database_->Checkpoint(kCopy));
  EXPECT_EQ(Dump(database_.get()), before);
  EXPECT_EQ(DumpCopy(), before);
  {
    const std::unique_ptr<Database> copy = OpenCopy();
    EXPECT_EQ(copy->ListAccessLists().value(), std::vector<std::string>{"list"});
    EXPECT_EQ(copy->GetTableQuota("rows")->storage_bytes, uint64_t{1} << 20);
    EXPECT_EQ(copy->ListTablets("rows")->size(), 4u);
    // New writes are newer than all that are there.
    Set(*copy->OpenTable("rows"), RowOf(12), "f:q", 1, "new");
    EXPECT_EQ(Show((*copy->OpenTable("rows"))->ReadRow(RowOf(12))), "f:q@1=new");
    ASSERT_OK(copy->Compact("rows"));
    ASSERT_OK(copy->Close());
  }
  EXPECT_EQ(Dump(database_.get()), before);
  // What happens here is not seen there, and neither are the files.
  Fill(OpenTable("rows"), 0, 30, "later");
  ASSERT_OK(database_->DeleteTable("other"));
  ASSERT_OK(database_->Compact("rows"));
  ASSERT_OK(database_->Close());
  database_.reset();
  const std::unique_ptr<Database> copy = OpenCopy();
  EXPECT_EQ(Show((*copy->OpenTable("rows"))->ReadRow(RowOf(20))), "f:q@1=second20");
  EXPECT_EQ(copy->ListTables()->size(), 3u);
}

TEST_F(CheckpointTest, SSTablesAreLinkedOrElseCopied) {
  OpenIt(1);
  ASSERT_NO_FATAL_FAILURE(FillTables());
  for (const char* const table : {"rows", "other"}) ASSERT_OK(database_->Flush(table));
  const std::string before = Dump(database_.get());
  ASSERT_OK(database_->Checkpoint(kCopy));
  // METADATA's, which are written anew.
  const int of_links = watched_->created(".sst");
  EXPECT_EQ(DumpCopy(), before);
  ASSERT_NO_FATAL_FAILURE(RemoveCopy());
  watched_->RefuseLinks();
  ASSERT_OK(database_->Checkpoint(kCopy));
  EXPECT_GE(watched_->created(".sst") - of_links, of_links + 2);
  EXPECT_EQ(DumpCopy(), before);
}

TEST_F(CheckpointTest, AnEmptyDatabaseIsCopied) {
  OpenIt();
  ASSERT_OK(database_->Checkpoint(kCopy));
  EXPECT_EQ(DumpCopy(), "");
  const std::unique_ptr<Database> copy = OpenCopy();
  ASSERT_OK(copy->CreateTable("t", {.families = {{"f", {}}}}));
}

TEST_F(CheckpointTest, ACopyOfADatabaseThatWasOpenedForReading) {
  OpenIt();
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const std::string before = Dump(database_.get());
  Kill();
  watched_ = std::make_unique<WatchedFileSystem>(file_system_.get(), kCopy);
  faulty_ = std::make_unique<FaultyFileSystem>(watched_.get());
  OpenIt(1, /*read_only=*/true);
  EXPECT_EQ(Dump(database_.get()), before);
  ASSERT_OK(database_->Checkpoint(kCopy));
  EXPECT_EQ(DumpCopy(), before);
}

TEST_F(CheckpointTest, OnlyANewOrEmptyDirectoryIsTaken) {
  OpenIt();
  file_system_->SetContents("/copy/mine", "text");
  EXPECT_STATUS(kAlreadyExists, "\"mine\"", database_->Checkpoint(kCopy));
  EXPECT_EQ(file_system_->Contents("/copy/mine"), "text");
  EXPECT_EQ(FilesIn(kCopy), 1u);
  EXPECT_STATUS(kAlreadyExists, kPath, database_->Checkpoint(kPath));
  EXPECT_STATUS(kNotFound, "/missing/copy", database_->Checkpoint("/missing/copy"));
  ASSERT_OK(file_system_->CreateDirectory("/empty"));
  EXPECT_OK(database_->Checkpoint("/empty"));
}

// A second copy to the same directory, or an opening of it, leaves the first one alone.
TEST_F(CheckpointTest, ADirectoryBelongsToOneCopyAtATime) {
  OpenIt();
  ASSERT_NO_FATAL_FAILURE(FillTables());
  bool is_first = true;
  watched_->Watch([&] {
    if (FilesIn("/copy/sst") == 0 || !std::exchange(is_first, false)) return;
    EXPECT_STATUS(kAlreadyExists, "there are files", database_->Checkpoint(kCopy));
    DatabaseOptions options = Options();
    options.file_system = file_system_.get();
    EXPECT_FALSE(Database::Open(kCopy, options).ok());
  });
  ASSERT_OK(database_->Checkpoint(kCopy));
  watched_->Watch(nullptr);
  EXPECT_FALSE(is_first);
  EXPECT_EQ(DumpCopy(), Dump(database_.get()));
  // The lock of the database itself is still checked.
  ASSERT_OK(file_system_->RemoveFile("/db/LOCK"));
  EXPECT_STATUS(kFailedPrecondition, "LOCK", database_->Flush("rows"));
}

TEST_F(CheckpointTest, ItsLimitsEndItAnywhereAndLeaveNothing) {
  OpenIt();
  ASSERT_NO_FATAL_FAILURE(FillTables());
  EXPECT_STATUS(kDeadlineExceeded, "",
                database_->Checkpoint(kCopy, {.deadline = absl::Now() - absl::Seconds(1)}));
  EXPECT_EQ(FilesIn(kCopy), 0u);
  int cancelled = 0;
  for (int call = 1;; ++call) {
    Cancellation cancellation;
    int calls = 0;
    watched_->Watch([&] {
      if (++calls == call) cancellation.Cancel();
    });
    const absl::Status status = database_->Checkpoint(kCopy, {.cancellation = &cancellation});
    watched_->Watch(nullptr);
    if (status.ok()) break;  // it was nearly done
    EXPECT_STATUS(kCancelled, "", status);
    EXPECT_EQ(FilesIn(kCopy), 0u);
    ++cancelled;
  }
  EXPECT_GT(cancelled, 5);
}

TEST_F(CheckpointTest, ClosingEndsIt) {
  OpenIt();
  ASSERT_NO_FATAL_FAILURE(FillTables());
  std::thread closing;
  watched_->Watch([&] {
    if (closing.joinable()) return;
    closing = std::thread([&] { EXPECT_OK(database_->Close()); });
    absl::SleepFor(absl::Milliseconds(100));
  });
  EXPECT_STATUS(kFailedPrecondition, "closed", database_->Checkpoint(kCopy));
  closing.join();
  EXPECT_EQ(FilesIn(kCopy), 0u);
}

TEST_F(CheckpointTest, AnErrorOfAnyCallLeavesNothingAndItCanBeRepeated) {
  OpenIt();
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const std::string before = Dump(database_.get());
  int failed = 0;
  for (uint64_t call = 1;; ++call) {
    faulty_->CountCalls({{}, kCopy});
    faulty_->FailCall(call, absl::UnavailableError("no disk"));
    const absl::Status status = database_->Checkpoint(kCopy);
    const bool has_failed = faulty_->calls() >= call;
    faulty_->ClearFaults();
    EXPECT_EQ(Dump(database_.get()), before) << call;
    if (status.ok() && !has_failed) break;
    if (status.ok()) {  // a look at a file that cannot be there
      EXPECT_EQ(DumpCopy(), before) << call;
      ASSERT_NO_FATAL_FAILURE(RemoveCopy());
      continue;
    }
    EXPECT_STATUS(kUnavailable, "no disk", status) << call;
    EXPECT_EQ(FilesIn(kCopy), 0u) << call;
    ++failed;
  }
  EXPECT_GT(failed, 40);
  EXPECT_EQ(DumpCopy(), before);
}

// At each call the machine may lose power. Then the copy is whole, or no database.
TEST_F(CheckpointTest, AfterALossOfPowerItIsWholeOrNothing) {
  OpenIt();
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const std::string before = Dump(database_.get());
  std::vector<std::unique_ptr<InMemoryFileSystem>> disks;
  watched_->Watch([&] { disks.push_back(file_system_->CrashClone(disks.size())); });
  ASSERT_OK(database_->Checkpoint(kCopy));
  watched_->Watch(nullptr);
  ASSERT_GT(disks.size(), 20u);
  // Durable when it has returned.
  disks.push_back(file_system_->CrashClone(1, Unsynced::kNothing));
  size_t whole = 0;
  for (const auto& disk : disks) {
    DatabaseOptions options = Options();
    options.create_if_missing = false;
    options.file_system = disk.get();
    const absl::StatusOr<std::unique_ptr<Database>> copy = Database::Open(kCopy, options);
    if (copy.ok()) {
      ++whole;
      EXPECT_EQ(Dump(copy->get()), before);
    } else {
      EXPECT_TRUE(absl::IsNotFound(copy.status()) || absl::IsDataLoss(copy.status()))
          << copy.status();
      EXPECT_NE(disk, disks.back());
    }
  }
  EXPECT_GE(whole, 1u);
  EXPECT_LT(whole, disks.size());
}

// The files of the moment keep their names until they are linked, whatever happens to the tables.
TEST_F(CheckpointTest, FilesThatAreReplacedMeanwhileAreKept) {
  for (const bool deletes : {false, true}) {
    SCOPED_TRACE(deletes);
    OpenIt();
    ASSERT_NO_FATAL_FAILURE(FillTables());
    const std::string before = Dump(database_.get());
    bool is_first = true;
    watched_->Watch([&] {
      if (FilesIn("/copy/sst") == 0 || !std::exchange(is_first, false)) return;
      if (deletes) {
        for (const char* const table : {"rows", "other"}) ASSERT_OK(database_->DeleteTable(table));
      } else {
        Fill(OpenTable("rows"), 0, 30, "later");
        for (const char* const table : {"rows", "other"}) ASSERT_OK(database_->Compact(table));
      }
    });
    ASSERT_OK(database_->Checkpoint(kCopy));
    watched_->Watch(nullptr);
    EXPECT_FALSE(is_first);
    EXPECT_EQ(DumpCopy(), before);
    // Those that no table names any more are gone now.
    ASSERT_OK(database_->WaitUntilQuiet());
    const size_t files = FilesIn("/db/sst");
    ASSERT_OK(database_->Close());
    database_.reset();
    OpenIt();
    EXPECT_LE(files, FilesIn("/db/sst") + 2);
    ASSERT_OK(database_->Close());
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    SetUp();
  }
}

// A write that has its number, and is not in the memtables yet, is waited for.
TEST_F(CheckpointTest, AStalledWriteIsWaitedForWithinTheLimits) {
  OpenIt(1);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "a", "f:q", 1, "v");
  faulty_->StallCalls({{FileCall::kLogSync}, "/server-"});
  std::thread writer([&] {
    EXPECT_OK(table->Apply(RowMutation("b").Set("f:q", Timestamp(1), "v"),
                           {.durability = Durability::kSync}));
  });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  EXPECT_STATUS(kDeadlineExceeded, "",
                database_->Checkpoint(kCopy, {.deadline = absl::Now() + absl::Milliseconds(50)}));
  EXPECT_EQ(FilesIn(kCopy), 0u);
  faulty_->ReleaseCalls();
  writer.join();
  ASSERT_OK(database_->Checkpoint(kCopy));
  EXPECT_EQ(DumpCopy(), Dump(database_.get()));
}

// A tablet that is moved has no server for a moment.
TEST_F(CheckpointTest, ACopyAtAnyStepOfAChangeOfTabletsIsWholeOrWaits) {
  OpenIt(2);
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const std::string before = Dump(database_.get());
  int copied = 0;
  int waited = 0;
  DatabasePeer(database_.get()).OnMasterStep([&] {
    const absl::Status status =
        database_->Checkpoint(kCopy, {.deadline = absl::Now() + absl::Milliseconds(50)});
    if (absl::IsDeadlineExceeded(status)) {
      ++waited;
      return;
    }
    ASSERT_OK(status);
    EXPECT_EQ(DumpCopy(), before);
    ASSERT_NO_FATAL_FAILURE(RemoveCopy());
    ++copied;
  });
  const int server = database_->ListTablets("rows")->front().server;
  ASSERT_OK(database_->MoveTablet("rows", "", 1 - server));
  ASSERT_OK(database_->SplitTablet("rows", RowOf(5)));
  ASSERT_OK(database_->MergeTablets("rows", RowOf(5)));
  DatabasePeer(database_.get()).OnMasterStep(nullptr);
  EXPECT_GT(copied, 0);
  EXPECT_GT(waited, 0);
}

// Each round writes one number to rows on all servers, in one batch. A row of its own has the
// rounds that have ended.
TEST_F(CheckpointTest, ACopyBesideConcurrentBatchesHasOneMoment) {
  OpenIt(3);
  constexpr int kTablets = 6;
  Table* const table = CreateSplitTable("rows", kTablets, 10);
  std::atomic<bool> ends = false;
  std::atomic<int> rounds = 0;
  std::thread writer([&] {
    for (int round = 1; !ends; ++round) {
      WriteBatch batch;
      for (int i = 0; i < kTablets; ++i) {
        batch.Apply(table,
                    RowMutation(RowOf(10 * i)).Set("f:q", Timestamp(1), absl::StrCat(round)));
      }
      EXPECT_OK(database_->Apply(batch));
      Set(table, RowOf(5), "f:ended", 1, absl::StrCat(round));
      rounds = round;
    }
  });
  std::thread changer([&] {
    Random random(1);
    while (!ends) {
      const int i = static_cast<int>(random.Below(kTablets));
      const absl::Status moved =
          database_->MoveTablet("rows", RowOf(10 * i + 5), static_cast<int>(random.Below(3)));
      EXPECT_TRUE(moved.ok()) << moved;
      if (random.OneIn(3)) {
        EXPECT_OK(database_->Flush("rows"));
      }
      if (random.OneIn(4)) {
        EXPECT_OK(database_->Compact("rows"));
      }
      if (random.OneIn(4)) {
        database_->SplitTablet("rows", RowOf(10 * i + 3)).IgnoreError();
        database_->MergeTablets("rows", RowOf(10 * i + 3)).IgnoreError();
      }
    }
  });
  const int copies = kSlow ? 5 : 15;
  for (int i = 0; i < copies; ++i) {
    const int before = rounds;
    const std::string path = absl::StrCat("/copy", i);
    ASSERT_OK(database_->Checkpoint(path));
    const int after = rounds + 1;
    DatabaseOptions options = Options();
    const std::unique_ptr<Database> copy = OpenAt(path, options);
    ASSERT_NE(copy, nullptr);
    Table* const copied = *copy->OpenTable("rows");
    const auto value = [&](int row, const char* column) {
      const Row found = copied->ReadRow(RowOf(row)).value();
      for (const Cell& cell : found.cells()) {
        if (Cat(cell.family, ":", cell.qualifier) == column) {
          return std::stoi(std::string(cell.value));
        }
      }
      return 0;
    };
    const int round = value(0, "f:q");
    EXPECT_GE(round, before);
    EXPECT_LE(round, after);
    for (int t = 1; t < kTablets; ++t) EXPECT_EQ(value(10 * t, "f:q"), round) << t;
    const int ended = value(5, "f:ended");
    EXPECT_TRUE(ended == round || ended == round - 1) << ended << " of " << round;
  }
  ends = true;
  writer.join();
  changer.join();
  EXPECT_GT(rounds, copies);
}

}  // namespace
}  // namespace bigtable
