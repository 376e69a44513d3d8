// Change streams together with other features of the engine.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/backup_engine.h"
#include "bigtable/bigtable.h"
#include "bigtable/bulk_load.h"
#include "bigtable/repair.h"

#include "changes_fixture.h"
#include "support/database_peer.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class ChangeCrossingsTest : public ChangesFixture {
 protected:
  void TearDown() override {
    other_.reset();
    database_.reset();
  }
  // Opens another database of the same files.
  Table* OpenOther(const std::string& path, DatabaseOptions options) {
    other_.reset();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(path, options);
    EXPECT_OK(opened);
    if (!opened.ok()) return nullptr;
    other_ = *std::move(opened);
    return other_->OpenTable("t").value();
  }

  std::unique_ptr<Database> other_;
};

// --- Who writes ---

// Adds to each mutation of "t" one of the row "log".
class LoggingObserver final : public MutationObserver {
 public:
  static constexpr const char* kName = "changes-logging";
  absl::Status Before(const ObservedMutation& mutation, ObserverContext* context) override {
    if (mutation.row() == "log") return absl::OkStatus();
    return context->Apply(mutation.table(),
                          RowMutation("log").Set("f:", Timestamp(7), mutation.row()));
  }
  bool ObservesCommits() const override { return false; }
};

TEST_F(ChangeCrossingsTest, HasWhatObserversAdd) {
  static const absl::Status registered =
      RegisterMutationObserver(LoggingObserver::kName, std::make_unique<LoggingObserver>());
  ASSERT_OK(registered);
  Open();
  TableSchema schema = SchemaWith({"f"});
  schema.observers = {LoggingObserver::kName};
  Table* const table = CreateTable("t", schema);
  Set(table, "a", "f:", 1, "x");
  ChangeStream stream = table->ReadChanges(All());
  ASSERT_TRUE(stream.Next());
  EXPECT_EQ(Show(stream.change()), "a: set f@1=x");
  const uint64_t batch = stream.change().batch;
  EXPECT_NE(batch, 0u);
  ASSERT_TRUE(stream.Next());
  EXPECT_EQ(Show(stream.change()), "log: set f@7=a");
  EXPECT_EQ(stream.change().batch, batch);
  EXPECT_FALSE(stream.Next());
}

TEST_F(ChangeCrossingsTest, HasWhatTransactionsAndAtomicOperationsWrite) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ASSERT_OK(database_->RunTransaction([&](Transaction* transaction) -> absl::Status {
    const auto old = transaction->ReadRow(table, "a");
    if (!old.ok()) return old.status();
    absl::Status status = transaction->Apply(table, RowMutation("a").Set("f:", Timestamp(1), "1"));
    if (!status.ok()) return status;
    return transaction->Apply(table, RowMutation("b").Set("f:", Timestamp(2), "2"));
  }));
  // A transaction that is not committed has no changes.
  EXPECT_STATUS(kCancelled, "no",
                database_->RunTransaction([&](Transaction* transaction) -> absl::Status {
                  EXPECT_OK(transaction->Apply(table, RowMutation("never").Set("f:", "x")));
                  return absl::CancelledError("no");
                }));
  ASSERT_OK(table->CheckAndMutateRow("a", Filter::PassAll(),
                                     RowMutation("a").Set("f:", Timestamp(3), "3"),
                                     RowMutation("a").DeleteRow()));
  ASSERT_OK(table->ReadModifyWriteRow(ReadModifyWrite("b").Append("f:", "+")));
  ChangeStream stream = table->ReadChanges(All());
  const Strings texts = Texts(&stream);
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[0], "a: set f@1=1");
  EXPECT_EQ(texts[1], "b: set f@2=2");
  EXPECT_EQ(texts[2], "a: set f@3=3");
  EXPECT_EQ(texts[3].substr(0, 9), "b: set f@");
  EXPECT_EQ(texts[3].substr(texts[3].size() - 3), "=2+");
}

TEST_F(ChangeCrossingsTest, ContributionsToAggregatesAreThere) {
  Open();
  TableSchema schema = SchemaWith({"f"});
  schema.families["sum"] = {.value_type = ValueType::kInt64Sum};
  Table* const table = CreateTable("t", schema);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_OK(table->Apply(RowMutation("a").AddToCell("sum:q", Timestamp(5), i)));
  }
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Compact("t"));
  Table* const copy = CreateTable("u", schema);
  ChangeStream stream = table->ReadChanges(All());
  int count = 0;
  for (; stream.Next(); ++count) EXPECT_OK(copy->Apply(stream.change().mutation));
  EXPECT_EQ(count, 3);
  EXPECT_EQ(Show(copy->ReadRow("a")), Show(table->ReadRow("a")));
}

// --- What is stored ---

TEST_F(ChangeCrossingsTest, HasMutationsOfEachLocalityGroup) {
  Open();
  TableSchema schema = SchemaWith({"f"});
  schema.locality_groups["second"] = {};
  schema.families["g"] = {.locality_group = "second"};
  Table* table = CreateTable("t", schema);
  Set(table, "a", "g:", 1, "1");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "b", "g:", 1, "2");
  EXPECT_OK(
      table->Apply(RowMutation("c").Set("g:", Timestamp(1), "3").Set("f:", Timestamp(1), "4")));
  const Strings all = {"a: set g@1=1", "b: set g@1=2", "c: set g@1=3, set f@1=4"};
  EXPECT_EQ(AllOf(table), all);
  Kill();
  Open();
  EXPECT_EQ(AllOf(OpenTable("t")), all);
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(AllOf(OpenTable("t")), all);
}

TEST_F(ChangeCrossingsTest, HasWhatWasCollected) {
  Open();
  TableSchema schema = SchemaWith({"f"});
  schema.families["f"].gc = GcRule::MaxVersions(1);
  Table* const table = CreateTable("t", schema);
  for (int i = 1; i <= 3; ++i) Set(table, "a", "f:", i, Cat(i));
  EXPECT_OK(table->Apply(RowMutation("b").Set("f:", Timestamp(1), "x").DeleteRow()));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Show(table->ReadRow("a")), "f:@3=3");
  EXPECT_EQ(AllOf(table),
            (Strings{"a: set f@1=1", "a: set f@2=2", "a: set f@3=3", "b: set f@1=x, row"}));
}

TEST_F(ChangeCrossingsTest, HasLargeValues) {
  Open();
  Table* table = CreateTable("t", SchemaWith({"f"}));
  const auto value_of = [](int i) {
    return std::string(size_t{1} << 20, static_cast<char>('a' + i));
  };
  for (int i = 0; i < 8; ++i) {
    Set(table, Cat("r", i), "f:", 1, value_of(i));
    if (i == 3) {
      ASSERT_OK(database_->Flush("t"));
    }
  }
  for (const bool is_reopened : {false, true}) {
    if (is_reopened) {
      Reopen();
      table = OpenTable("t");
    }
    ChangeStream stream = table->ReadChanges(All());
    int i = 0;
    for (; stream.Next(); ++i) {
      const std::vector<ObservedOperation> operations = stream.change().Operations();
      ASSERT_EQ(operations.size(), 1u);
      EXPECT_EQ(stream.change().mutation.row(), Cat("r", i));
      EXPECT_TRUE(operations[0].value == value_of(i));
    }
    EXPECT_OK(stream.status());
    EXPECT_EQ(i, 8);
  }
}

// --- Copies ---

TEST_F(ChangeCrossingsTest, ACheckpointGoesOnAtThePositionsOfItsSource) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "1");
  ChangeStream stream = table->ReadChanges(All());
  ASSERT_TRUE(stream.Next());
  const std::string position = stream.Position();
  Set(table, "b", "f:", 1, "2");
  ASSERT_OK(database_->Checkpoint("/copy"));
  Set(table, "c", "f:", 1, "of the source alone");
  Table* const copy = OpenOther("/copy", Options());
  Set(copy, "d", "f:", 1, "of the copy alone");
  ChangeStream of_copy = copy->ReadChanges(From(position));
  EXPECT_EQ(Texts(&of_copy), (Strings{"b: set f@1=2", "d: set f@1=of the copy alone"}));
  EXPECT_EQ(AllOf(copy).size(), 3u);
}

TEST_F(ChangeCrossingsTest, ARestoredDatabaseGoesOnAtThePositionsOfItsSource) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "1");
  const std::string position = table->ReadChanges().Position();
  Set(table, "b", "f:", 1, "2");
  const auto backups = BackupEngine::Open("/backups", file_system_.get());
  ASSERT_OK(backups);
  const auto made = (*backups)->Create(database_.get());
  ASSERT_OK(made);
  ASSERT_OK((*backups)->Restore(made->id, "/restored", {.file_system = file_system_.get()}));
  Table* const restored = OpenOther("/restored", Options());
  Set(restored, "c", "f:", 1, "3");
  ChangeStream stream = restored->ReadChanges(From(position));
  EXPECT_EQ(Texts(&stream), (Strings{"b: set f@1=2", "c: set f@1=3"}));
}

TEST_F(ChangeCrossingsTest, TheStreamOfARestoredTableBeginsAnew) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "1");
  const std::string position = table->ReadChanges().Position();
  const auto backups = BackupEngine::Open("/backups", file_system_.get());
  ASSERT_OK(backups);
  const auto made = (*backups)->Create(database_.get());
  ASSERT_OK(made);
  ASSERT_OK((*backups)->RestoreTable(made->id, "t", database_.get(), "u"));
  Table* const restored = OpenTable("u");
  EXPECT_EQ(Show(restored->ReadRow("a")), "f:@1=1");
  EXPECT_EQ(AllOf(restored), Strings{});
  Set(restored, "b", "f:", 1, "2");
  EXPECT_EQ(AllOf(restored), Strings{"b: set f@1=2"});
  ChangeStream stream = restored->ReadChanges(From(position));
  EXPECT_FALSE(stream.Next());
  EXPECT_FALSE(stream.status().ok());
  EXPECT_EQ(AllOf(table), Strings{"a: set f@1=1"});
}

TEST_F(ChangeCrossingsTest, TheStreamOfARepairedTableBeginsAnew) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "1");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "b", "f:", 1, "2");
  const std::string position = table->ReadChanges().Position();
  ASSERT_OK(database_->Close());
  database_.reset();
  const auto report =
      RepairDatabase(kPath, {.target = "/repaired", .file_system = file_system_.get()});
  ASSERT_OK(report);
  Table* const repaired = OpenOther("/repaired", Options());
  EXPECT_EQ(Show(repaired->ReadRow("b")), "f:@1=2");
  // It knows its old changes completely, or not at all.
  Set(repaired, "c", "f:", 1, "3");
  ChangeStream all = repaired->ReadChanges(All());
  const Strings texts = Texts(&all);
  ASSERT_FALSE(texts.empty());
  EXPECT_EQ(texts.back(), "c: set f@1=3");
  EXPECT_EQ(texts.size(), 1u);
  ChangeStream old = repaired->ReadChanges(From(position));
  EXPECT_FALSE(old.Next());
  EXPECT_STATUS(kOutOfRange, "not kept", old.status());
}

// --- Ways to open a database ---

TEST_F(ChangeCrossingsTest, AFollowedDatabaseGoesOnAfterRefresh) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "1");
  DatabaseOptions follow = Options();
  follow.follow = true;
  follow.follow_interval = absl::InfiniteDuration();
  Table* const followed = OpenOther(kPath, follow);
  ChangeStream stream = followed->ReadChanges(All());
  EXPECT_EQ(Texts(&stream), Strings{"a: set f@1=1"});
  Set(table, "b", "f:", 1, "2");
  EXPECT_EQ(Texts(&stream), Strings{});
  ASSERT_OK(other_->Refresh());
  EXPECT_EQ(Texts(&stream), Strings{"b: set f@1=2"});
  const std::string position = stream.Position();
  // Over changes of the files and tablets.
  for (int i = 0; i < 5; ++i) {
    Set(table, Cat("r", i), "f:", 1, "");
    if (i == 1) {
      ASSERT_OK(database_->Flush("t"));
    }
    if (i == 2) {
      ASSERT_OK(database_->SplitTablet("t", "r2"));
    }
    if (i == 3) {
      ASSERT_OK(table->DropRowRange(RowRange::Prefix("r0")));
    }
    ASSERT_OK(other_->Refresh());
    const Strings texts = Texts(&stream);
    ASSERT_FALSE(texts.empty());
    EXPECT_EQ(texts[0], Cat("r", i, ": set f@1"));
  }
  // A position of the follower is one of the writer too.
  ChangeStream of_writer = table->ReadChanges(From(position));
  EXPECT_EQ(Texts(&of_writer).size(), 6u);
}

TEST_F(ChangeCrossingsTest, AFollowerOfConcurrentWritersMissesNothing) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Open(options);
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ASSERT_OK(database_->SplitTablet("t", "m"));
  ASSERT_OK(database_->MoveTablet("t", "a", 0));
  ASSERT_OK(database_->MoveTablet("t", "z", 1));
  constexpr int kWrites = 300;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kWrites; ++i) {
        WriteBatch batch;
        if (writer != 0) batch.Apply(table, RowMutation(Cat("a", writer)).Set("f:", Cat(i)));
        if (writer != 1) batch.Apply(table, RowMutation(Cat("z", writer)).Set("f:", Cat(i)));
        EXPECT_OK(database_->Apply(batch));
        if (writer == 0 && i % 100 == 50) {
          EXPECT_OK(database_->Flush("t"));
        }
      }
    });
  }
  DatabaseOptions follow = options;
  follow.follow = true;
  follow.follow_interval = absl::InfiniteDuration();
  Table* const followed = OpenOther(kPath, follow);
  std::string position;
  Strings seen;
  const auto read_on = [&] {
    const absl::Status refreshed = other_->Refresh();
    EXPECT_TRUE(refreshed.ok() || absl::IsUnavailable(refreshed)) << refreshed;
    ChangeStream stream = followed->ReadChanges(position.empty() ? All() : From(position));
    // Not always to the end.
    for (int left = static_cast<int>(seen.size() % 7) * 40; left >= 0 && stream.Next(); --left) {
      seen.push_back(Cat(stream.change().sequence, " ", Show(stream.change())));
    }
    EXPECT_OK(stream.status());
    position = stream.Position();
  };
  for (int round = 0; round < 40; ++round) read_on();
  for (std::thread& writer : writers) writer.join();
  for (size_t before = 0, idle = 0; idle < 3; before = seen.size()) {
    read_on();
    idle = seen.size() == before ? idle + 1 : 0;
  }
  Strings all;
  ChangeStream stream = table->ReadChanges(All());
  while (stream.Next()) {
    all.push_back(Cat(stream.change().sequence, " ", Show(stream.change())));
  }
  EXPECT_EQ(all.size(), size_t{4} * kWrites);
  std::sort(all.begin(), all.end());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, all);
}

TEST_F(ChangeCrossingsTest, AReadOnlyDatabaseHasItsChanges) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  const std::string position = table->ReadChanges().Position();
  Set(table, "a", "f:", 1, "1");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "b", "f:", 1, "2");
  const Strings all = {"a: set f@1=1", "b: set f@1=2"};
  for (const bool is_killed : {true, false}) {
    if (is_killed) {
      Kill();
    } else {
      Open();
      ASSERT_OK(database_->Close());
      database_.reset();
    }
    DatabaseOptions options = Options();
    options.read_only = true;
    options.file_system = file_system_.get();
    Table* const found = OpenOther(kPath, options);
    EXPECT_EQ(AllOf(found), all);
    ChangeStream stream = found->ReadChanges(From(position));
    EXPECT_EQ(Texts(&stream), all);
    EXPECT_STATUS(kFailedPrecondition, "", other_->SetChangeStream("t", {}));
    other_.reset();
  }
}

// --- What ends a stream, or refuses it ---

TEST_F(ChangeCrossingsTest, FilesAreNotIngestedIntoATableWithAStream) {
  Open();
  TableSchema schema = SchemaWith({"f"});
  Table* const table = CreateTable("t", schema);
  ASSERT_OK(file_system_->CreateDirectory("/files"));
  const auto sorter = SSTableSorter::Create("/files", schema, {.file_system = file_system_.get()});
  ASSERT_OK(sorter);
  ASSERT_OK((*sorter)->Add(RowMutation("a").Set("f:", Timestamp(1), "x")));
  const auto files = (*sorter)->Finish();
  ASSERT_OK(files);
  EXPECT_STATUS(kFailedPrecondition, "change stream", table->Ingest(*files, {}));
  EXPECT_EQ(AllOf(table), Strings{});
  ASSERT_OK(database_->SetChangeStream("t", {}));
  ASSERT_OK(table->Ingest(*files, {}));
}

TEST_F(ChangeCrossingsTest, TheStreamOfADeletedTableIsNotFound) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges();
  std::thread deleter([&] {
    absl::SleepFor(absl::Milliseconds(30));
    ASSERT_OK(database_->DeleteTable("t"));
  });
  EXPECT_FALSE(stream.Next(absl::Seconds(60)));
  EXPECT_STATUS(kNotFound, "", stream.status());
  deleter.join();
  // A new table of the name is another one.
  const std::string position = stream.Position();
  Table* const again = CreateTable("t", SchemaWith({"f"}));
  ChangeStream of_other = again->ReadChanges(From(position));
  EXPECT_FALSE(of_other.Next());
  EXPECT_STATUS(kInvalidArgument, "not of table t", of_other.status());
  EXPECT_FALSE(stream.Next());
}

TEST_F(ChangeCrossingsTest, CloseEndsAStreamThatWaits) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges();
  std::thread closer([&] {
    absl::SleepFor(absl::Milliseconds(30));
    EXPECT_OK(database_->Close());
  });
  EXPECT_FALSE(stream.Next(absl::Seconds(60)));
  EXPECT_STATUS(kFailedPrecondition, "closed", stream.status());
  closer.join();
}

TEST_F(ChangeCrossingsTest, ACallerReadsOnlyWhatItMay) {
  Open();
  ASSERT_OK(database_->SetAccessList("list", {.readers = {"ann"}, .writers = {"ann"}}));
  TableSchema schema = SchemaWith({"f", "g"});
  schema.families["g"].access_list = "list";
  Table* const table = CreateTable("t", schema);
  Set(table, "a", "f:", 1, "1");
  const auto ann = database_->OpenTable("t", {.caller = "ann"});
  const auto bob = database_->OpenTable("t", {.caller = "bob"});
  ASSERT_OK(ann);
  ASSERT_OK(bob);
  EXPECT_EQ(AllOf(*ann), Strings{"a: set f@1=1"});
  // A stream has all families.
  ChangeStream refused = (*bob)->ReadChanges(All());
  EXPECT_FALSE(refused.Next());
  EXPECT_STATUS(kPermissionDenied, "bob", refused.status());
  // A permission that ends is heard by a stream that is open.
  ChangeStream open = (*ann)->ReadChanges();
  ASSERT_OK(database_->SetAccessList("list", {}));
  Set(table, "b", "f:", 1, "2");
  EXPECT_FALSE(open.Next());
  EXPECT_STATUS(kPermissionDenied, "ann", open.status());
}

// --- Servers ---

TEST_F(ChangeCrossingsTest, ALostServerLosesNoChange) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Open(options);
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ASSERT_OK(database_->SplitTablet("t", "m"));
  ASSERT_OK(database_->MoveTablet("t", "a", 0));
  ASSERT_OK(database_->MoveTablet("t", "z", 1));
  ChangeStream stream = table->ReadChanges();
  Strings all;
  Strings seen;
  for (int round = 0; round < 4; ++round) {
    for (const char* row : {"a", "z", "b"}) {
      Set(table, row, "f:", round, "");
      all.push_back(Cat(row, ": set f@", round));
    }
    WriteBatch batch;
    batch.Apply(table, RowMutation("c").Set("f:", Timestamp(round), ""));
    batch.Apply(table, RowMutation("y").Set("f:", Timestamp(round), ""));
    ASSERT_OK(database_->Apply(batch));
    all.push_back(Cat("c: set f@", round));
    all.push_back(Cat("y: set f@", round));
    if (round == 1) {
      for (std::string& text : Texts(&stream)) seen.push_back(std::move(text));
    }
    DatabasePeer peer(database_.get());
    const std::vector<TabletServer*> servers = peer.Servers();
    peer.Kill(servers[static_cast<size_t>(round) % servers.size()]);
    // Every second time before anything was read.
    if (round % 2 == 0)
      Set(table, "n", "f:", round, "after"), all.push_back(Cat("n: set f@", round, "=after"));
  }
  for (std::string& text : Texts(&stream)) seen.push_back(std::move(text));
  EXPECT_EQ(seen.size(), all.size());
  // The mutations of a batch are in the order of its servers.
  std::sort(seen.begin(), seen.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(seen, all);
  Strings kept = AllOf(table);
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, all);
}

}  // namespace
}  // namespace bigtable
