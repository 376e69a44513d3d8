// A call waits for another thread that is inside a stalled call of the file system: it hears its
// deadline and its cancellation meanwhile, and afterwards all is well.
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/test_observers.h"

namespace bigtable {
namespace {

class StalledWaitsTest : public DatabaseFixture {
 protected:
  static constexpr absl::Duration kDeadline = absl::Milliseconds(60);

  // What a call gets: as options of any kind.
  struct Limits {
    absl::Time deadline = absl::InfiniteFuture();
    const Cancellation* cancellation = nullptr;
  };
  using Call = std::function<absl::Status(const Limits&)>;
  struct Named {
    std::string name;
    Call call;
  };

  void TearDown() override {
    if (faulty_ != nullptr) faulty_->ReleaseCalls();
    for (std::future<absl::Status>& call : stalled_) call.wait();
    stalled_.clear();
    database_.reset();
  }
  void OpenFaulty(DatabaseOptions options) {
    if (faulty_ == nullptr) faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    options.file_system = faulty_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }
  void ReopenFaulty(const DatabaseOptions& options) {
    ASSERT_OK(database_->Close());
    database_.reset();
    OpenFaulty(options);
  }
  // A table whose tablets change only on request.
  Table* CreateStill(std::string_view name, const LocalityGroup& group = {}) {
    TableSchema schema;
    schema.locality_groups["default"] = group;
    schema.families["f"] = {.locality_group = "default"};
    schema.split.tablet_size = schema.split.merge_size = 0;
    return CreateTable(name, schema);
  }
  // Begins a call, which stalls in a call of the file system that passes the filter; only calls on
  // one file do, or all.
  enum class Files { kAll, kOne };
  void Stall(FileCallFilter filter, std::function<absl::Status()> call, Files files = Files::kAll) {
    const int before = faulty_->stalled();
    if (files == Files::kOne) {
      faulty_->StallOneFile(std::move(filter));
    } else {
      faulty_->StallCalls(std::move(filter));
    }
    stalled_.push_back(std::async(std::launch::async, std::move(call)));
    ASSERT_TRUE(faulty_->WaitUntilStalled(before + 1));
  }
  // The stalled calls end well.
  void EndStall() {
    faulty_->ReleaseCalls();
    for (std::future<absl::Status>& call : stalled_) EXPECT_OK(call.get());
    stalled_.clear();
  }
  // The result of a call, which ends although the stalled one does not.
  absl::Status Ended(const Call& call, const Limits& limits) {
    std::future<absl::Status> called = std::async(std::launch::async, [&] { return call(limits); });
    if (called.wait_for(std::chrono::seconds(15)) != std::future_status::ready) {
      ADD_FAILURE() << "the call does not end";
      faulty_->ReleaseCalls();
    }
    return called.get();
  }
  // The call waits for the stalled one, and hears its deadline and its cancellation.
  void ExpectToHear(const Named& named) {
    SCOPED_TRACE(named.name);
    EXPECT_STATUS(kDeadlineExceeded, "", Ended(named.call, {.deadline = absl::Now() + kDeadline}));
    Cancellation cancellation;
    std::future<void> cancelling = std::async(std::launch::async, [&] {
      absl::SleepFor(kDeadline);
      cancellation.Cancel();
    });
    EXPECT_STATUS(kCancelled, "", Ended(named.call, {.cancellation = &cancellation}));
  }

  std::set<std::string> SSTables() const {
    std::set<std::string> files;
    for (const std::string& path : file_system_->AllFiles()) {
      if (path.ends_with(".sst")) files.insert(path);
    }
    return files;
  }

  static absl::Status ReadAll(RowReader reader) {
    while (reader.Next()) {
    }
    return reader.status();
  }
  static absl::Status ScanAll(Table* table, const ReadOptions& options) {
    Scanner scanner(table, options);
    for (ScanStream* stream = scanner.FetchColumnFamily("f"); !stream->Done(); stream->Next()) {
    }
    return scanner.status();
  }
  // Every way of reading row "a".
  std::vector<Named> Reads(Table* table) {
    const auto options = [](const Limits& limits) {
      return ReadOptions{.deadline = limits.deadline, .cancellation = limits.cancellation};
    };
    const auto call = [](const Limits& limits) {
      return CallOptions{.deadline = limits.deadline, .cancellation = limits.cancellation};
    };
    return {
        {"ReadRow", [=](const Limits& l) { return table->ReadRow("a", {}, options(l)).status(); }},
        {"ReadRow of one column",
         [=](const Limits& l) {
           return table->ReadRow("a", Filter::Column("f", "q"), options(l)).status();
         }},
        {"Get", [=](const Limits& l) { return table->Get("a", "f:q", options(l)).status(); }},
        {"GetRows",
         [=](const Limits& l) {
           const std::vector<std::string_view> rows = {"a", "b"};
           return table->GetRows(rows, {}, options(l))[0].status();
         }},
        {"ReadRow at a snapshot",
         [=, this](const Limits& l) {
           ReadOptions at = options(l);
           at.snapshot = database_->TakeSnapshot().value();
           return table->ReadRow("a", {}, at).status();
         }},
        {"ReadRows",
         [=](const Limits& l) { return ReadAll(table->ReadRows(RowRange::All(), options(l))); }},
        {"ReadRows in reverse",
         [=](const Limits& l) {
           ReadOptions reverse = options(l);
           reverse.reverse = true;
           return ReadAll(table->ReadRows(RowRange::All(), reverse));
         }},
        {"Scanner", [=](const Limits& l) { return ScanAll(table, options(l)); }},
        {"a read of a transaction",
         [=, this](const Limits& l) {
           absl::StatusOr<Transaction> transaction = database_->BeginTransaction(call(l));
           if (!transaction.ok()) return transaction.status();
           return transaction->ReadRow(table, "a", {}, options(l)).status();
         }},
    };
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
  std::vector<std::future<absl::Status>> stalled_;
};

// --- Reads that wait for another read ---

TEST_F(StalledWaitsTest, AReadWaitsForTheOpeningOfItsSSTableWithinItsLimits) {
  OpenFaulty(Options());
  Set(CreateStill("t"), "a", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ReopenFaulty(Options());
  Table* const t = OpenTable("t");
  ASSERT_NO_FATAL_FAILURE(
      Stall({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ".sst"},
            [=] { return t->ReadRow("a").status(); }));
  for (const Named& read : Reads(t)) ExpectToHear(read);
  ExpectToHear({"SampleRowKeys", [=](const Limits& l) {
                  return t->SampleRowKeys({l.deadline, l.cancellation}).status();
                }});
  ExpectToHear({"ApproximateSizes", [=](const Limits& l) {
                  const RowRange all[] = {RowRange::All()};
                  return t->ApproximateSizes(all, {l.deadline, l.cancellation}).status();
                }});
  EndStall();
  EXPECT_EQ(Show(t->ReadRow("a")), "f:q@1=v");
}

TEST_F(StalledWaitsTest, AReadWaitsForTheLoadOfItsInMemoryTableWithinItsLimits) {
  DatabaseOptions options = Options();
  options.read_mode = FileSystem::ReadMode::kPositional;
  OpenFaulty(options);
  Set(CreateStill("t", {.in_memory = true}), "a", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Table* const t = OpenTable("t");
  // The file is open, so the next call reads its blocks.
  ASSERT_NO_FATAL_FAILURE(Stall({.kinds = {FileCall::kRead}, .path_contains = ".sst"},
                                [=] { return t->ReadRow("a").status(); }));
  for (const Named& read : Reads(t)) ExpectToHear(read);
  EndStall();
  EXPECT_EQ(Show(t->ReadRow("a")), "f:q@1=v");
}

// With few open files, a read opens its file again after others were read.
TEST_F(StalledWaitsTest, AReadWaitsForTheReopeningOfItsFileWithinItsLimits) {
  DatabaseOptions options = Options();
  options.read_mode = FileSystem::ReadMode::kPositional;
  options.max_open_files = 8;
  OpenFaulty(options);
  ReadOptions uncached;
  uncached.fill_cache = false;
  Table* t = nullptr;
  for (int i = 0; i < 20; ++i) {
    Table* const table = CreateStill(Cat("t", i));
    if (t == nullptr) t = table;
    Set(table, "a", "f:q", 1, "v");
    ASSERT_OK(database_->Flush(table->name()));
    ASSERT_OK(table->ReadRow("a", {}, uncached));
  }
  ASSERT_NO_FATAL_FAILURE(
      Stall({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ".sst"},
            [=] { return t->ReadRow("a").status(); }));
  for (const Named& read : Reads(t)) ExpectToHear(read);
  EndStall();
  EXPECT_EQ(Show(t->ReadRow("a")), "f:q@1=v");
}

// With few open files, the newest file of METADATA is closed while others are read.
TEST_F(StalledWaitsTest, ALookupOfATabletWaitsForTheFilesOfMetadataWithinItsLimits) {
  DatabaseOptions options = Options();
  options.read_mode = FileSystem::ReadMode::kPositional;
  options.max_open_files = 8;
  OpenFaulty(options);
  constexpr int kTables = 20;
  for (int i = 0; i < kTables; ++i) {
    const std::string name = Cat("t", i);
    Set(CreateStill(name), "a", "f:q", 1, "v");
    ASSERT_OK(database_->Flush(name));
  }
  ReopenFaulty(options);
  ReadOptions uncached;
  uncached.fill_cache = false;
  const auto read_others = [&] {
    for (int i = 2; i < kTables; ++i) ASSERT_OK(OpenTable(Cat("t", i))->ReadRow("a", {}, uncached));
  };
  ASSERT_NO_FATAL_FAILURE(read_others());
  Set(OpenTable("t2"), "b", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t2"));
  DatabasePeer(database_.get())
      .ServersOf(ServerRole::kMetadata)
      .front()
      ->rotation()
      .RotateEverything();
  ASSERT_OK(database_->WaitUntilQuiet());
  ASSERT_NO_FATAL_FAILURE(read_others());
  Table* const other = OpenTable("t1");
  ASSERT_NO_FATAL_FAILURE(Stall(
      {.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ".sst"},
      [=] { return other->ReadRow("a").status(); }, Files::kOne));
  Table* const t = OpenTable("t0");
  for (const Named& read : Reads(t)) ExpectToHear(read);
  ExpectToHear({"a write", [=](const Limits& l) {
                  return t->Apply(RowMutation("b").Set("f:q", Timestamp(1), "v"),
                                  {.deadline = l.deadline, .cancellation = l.cancellation});
                }});
  EndStall();
  EXPECT_EQ(Show(t->ReadRow("a")), "f:q@1=v");
}

// --- The lock service ---

TEST_F(StalledWaitsTest, CallsThatReadTheLockServiceWaitForItsWritesWithinTheirLimits) {
  OpenFaulty(Options());
  CreateStill("t");
  TableSchema schema;
  schema.families["f"] = {.access_list = "list"};
  ASSERT_OK(database_->SetAccessList("list", {.readers = {"reader"}, .writers = {"reader"}}));
  Table* const listed = CreateTable("listed", schema);
  ASSERT_NE(listed, nullptr);
  OpenTableOptions of_reader;
  of_reader.caller = "reader";
  absl::StatusOr<Table*> opened = database_->OpenTable("listed", of_reader);
  ASSERT_OK(opened);
  Table* const as_reader = *opened;
  ASSERT_NO_FATAL_FAILURE(
      Stall({.kinds = {FileCall::kNewWritableFile}, .path_contains = "/db/lockservice"}, [this] {
        return database_->SetAccessList("list", {.readers = {"reader"}, .writers = {"reader"}});
      }));
  Database* const db = database_.get();
  const auto call = [](const Limits& l) { return CallOptions{l.deadline, l.cancellation}; };
  const std::vector<Named> calls = {
      {"OpenTable of a table that is not there",
       [=](const Limits& l) {
         return db->OpenTable("none", {.deadline = l.deadline, .cancellation = l.cancellation})
             .status();
       }},
      {"OpenOrCreateTable",
       [=](const Limits& l) {
         CreateTableOptions options;
         options.deadline = l.deadline;
         options.cancellation = l.cancellation;
         return db->OpenOrCreateTable("new", {}, options).status();
       }},
      {"GetSchema", [=](const Limits& l) { return db->GetSchema("none", call(l)).status(); }},
      {"ListTables", [=](const Limits& l) { return db->ListTables(call(l)).status(); }},
      {"GetAccessList",
       [=](const Limits& l) { return db->GetAccessList("list", call(l)).status(); }},
      {"ListAccessLists", [=](const Limits& l) { return db->ListAccessLists(call(l)).status(); }},
      {"GetTableQuota", [=](const Limits& l) { return db->GetTableQuota("t", call(l)).status(); }},
      {"ListCallerQuotas", [=](const Limits& l) { return db->ListCallerQuotas(call(l)).status(); }},
      {"Flush of a table that is not there",
       [=](const Limits& l) { return db->Flush("none", call(l)); }},
      {"Apply for a caller",
       [=](const Limits& l) {
         return as_reader->Apply(RowMutation("a").Set("f:q", Timestamp(1), "v"),
                                 {.deadline = l.deadline, .cancellation = l.cancellation});
       }},
      {"ReadRow for a caller",
       [=](const Limits& l) {
         ReadOptions options;
         options.deadline = l.deadline;
         options.cancellation = l.cancellation;
         return as_reader->ReadRow("a", {}, options).status();
       }},
  };
  for (const Named& named : calls) ExpectToHear(named);
  // What is in the cache of the session waits for nothing.
  EXPECT_OK(Ended([=](const Limits&) { return db->GetSchema("t").status(); }, {}));
  EXPECT_OK(Ended([=](const Limits&) { return db->Statistics().background_error; }, {}));
  EndStall();
  EXPECT_OK(as_reader->Apply(RowMutation("a").Set("f:q", Timestamp(1), "v")));
}

TEST_F(StalledWaitsTest, ResumeWaitsForTheLockServiceWithinItsLimits) {
  OpenFaulty(Options());
  Table* const t = CreateStill("t");
  DatabasePeer peer(database_.get());
  peer.Servers().front()->write_error().Set(absl::UnavailableError("made by the test"));
  ASSERT_NO_FATAL_FAILURE(
      Stall({.kinds = {FileCall::kNewWritableFile}, .path_contains = "/db/lockservice"},
            [=] { return peer.session()->Write("other", "").status(); }));
  Database* const db = database_.get();
  ExpectToHear({"Resume", [=](const Limits& l) {
                  return db->Resume({l.deadline, l.cancellation});
                }});
  EXPECT_STATUS(kUnavailable, "made by the test",
                t->Apply(RowMutation("a").Set("f:q", Timestamp(1), "v")));
  EndStall();
  EXPECT_OK(db->Resume());
  Set(t, "a", "f:q", 1, "v");
}

// --- Upkeep of the log ---

TEST_F(StalledWaitsTest, CallsThatTrimTheLogWaitForItsUpkeepWithinTheirLimits) {
  OpenFaulty(Options());
  Table* const t = CreateStill("t");
  CreateStill("empty");
  Set(t, "a", "f:q", 1, "v");
  ASSERT_OK(database_->WaitUntilQuiet());
  ASSERT_NO_FATAL_FAILURE(Stall({.kinds = {FileCall::kNewLogFile}, .path_contains = "segment.tmp"},
                                [this] { return database_->Compact("t"); }));
  Set(t, "b", "f:q", 1, "v");
  Database* const db = database_.get();
  const auto call = [](const Limits& l) { return CallOptions{l.deadline, l.cancellation}; };
  ExpectToHear({"WaitUntilQuiet", [=](const Limits& l) { return db->WaitUntilQuiet(call(l)); }});
  ExpectToHear({"Compact", [=](const Limits& l) { return db->Compact("t", call(l)); }});
  EXPECT_OK(Ended([=](const Limits& l) { return db->DeleteTable("empty", call(l)); },
                  {.deadline = absl::Now() + kDeadline}));
  EndStall();
  EXPECT_OK(database_->WaitUntilQuiet());
}

// --- A deletion and a flush ---

TEST_F(StalledWaitsTest, ADeletionOfATableLeavesTheWaitForItsFlushAtItsDeadline) {
  OpenFaulty(Options());
  Table* const t = CreateStill("t");
  Set(t, "a", "f:q", 1, "v");
  CreateStill("u");
  const std::set<std::string> before = SSTables();
  faulty_->StallCalls({.kinds = {FileCall::kAppend}, .path_contains = ".sst"});
  std::future<absl::Status> flushed =
      std::async(std::launch::async, [&] { return database_->Flush("t"); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));

  Database* const db = database_.get();
  EXPECT_OK(Ended([=](const Limits& l) { return db->DeleteTable("t", {l.deadline}); },
                  {.deadline = absl::Now() + kDeadline}));
  // It is deleted, and may be created again.
  EXPECT_STATUS(kNotFound, "", db->GetSchema("t").status());
  EXPECT_STATUS(kNotFound, "deleted", t->ReadRow("a").status());
  EXPECT_STATUS(kNotFound, "deleted", t->Apply(RowMutation("a").Set("f:q", Timestamp(1), "v")));
  Table* const again = CreateStill("t");
  EXPECT_EQ(Show(again->ReadRow("a")), "");
  // A deletion that waits holds up no other change.
  std::future<absl::Status> waiting =
      std::async(std::launch::async, [&] { return database_->WaitUntilQuiet(); });
  EXPECT_OK(Ended([=](const Limits& l) { return db->AddFamily("u", "g", {}, {l.deadline}); },
                  {.deadline = absl::Now() + absl::Minutes(1)}));

  faulty_->ReleaseCalls();
  flushed.get().IgnoreError();  // NotFound, unless it was done before it has noticed
  EXPECT_OK(waiting.get());
  // Nothing is left of it, in METADATA or on disk, once the flush has dropped its references.
  for (int i = 0; i < 5000 && SSTables() != before; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(SSTables(), before);
  ReopenFaulty(Options());
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("a")), "");
}

// A turn of the writers is under way nearly always, and the tablets need one each.
TEST_F(StalledWaitsTest, UpkeepFinishesADeletionBesideBusyWriters) {
  OpenFaulty(Options());
  CreateStill("busy");
  DatabasePeer peer(database_.get());
  GroupCommit* const queue = peer.Servers().front()->writer().queue();
  TableSchema schema;
  schema.families["f"] = {};
  schema.split.tablet_size = schema.split.merge_size = 0;
  CreateTableOptions options;
  for (char row = 'b'; row < 'r'; ++row) options.split_rows.emplace_back(1, row);
  ASSERT_OK(database_->CreateTable("t", schema, options));
  Set(OpenTable("t"), "a", "f:q", 1, "v");
  faulty_->StallCalls({.kinds = {FileCall::kAppend}, .path_contains = ".sst"});
  std::future<absl::Status> flushed =
      std::async(std::launch::async, [&] { return database_->Flush("t"); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  ASSERT_OK(database_->DeleteTable("t", {.deadline = absl::Now() + kDeadline}));
  EXPECT_EQ(peer.TablesOfMetadata().value().size(), 2u);

  std::atomic<bool> is_over{false};
  std::vector<std::thread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      while (!is_over) queue->RunExclusive([] { absl::SleepFor(absl::Milliseconds(30)); });
    });
  }
  faulty_->ReleaseCalls();
  flushed.get().IgnoreError();  // NotFound, unless it was done before it has noticed
  for (int i = 0; i < 100 && peer.TablesOfMetadata().value().size() > 1; ++i) {
    absl::SleepFor(absl::Milliseconds(100));
  }
  EXPECT_EQ(peer.TablesOfMetadata().value().size(), 1u);
  is_over = true;
  for (std::thread& writer : writers) writer.join();
}

// The master that has begun the deletion is lost while it waits.
TEST_F(StalledWaitsTest, ADeletionThatWaitsForAFlushIsFinishedByALaterMaster) {
  OpenFaulty(Options());
  Table* const t = CreateStill("t");
  Set(t, "a", "f:q", 1, "v");
  faulty_->StallCalls({.kinds = {FileCall::kAppend}, .path_contains = ".sst"});
  std::future<absl::Status> flushed =
      std::async(std::launch::async, [&] { return database_->Flush("t"); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  std::future<absl::Status> deleted =
      std::async(std::launch::async, [&] { return database_->DeleteTable("t"); });
  while (database_->GetSchema("t").ok()) absl::SleepFor(absl::Milliseconds(1));
  absl::SleepFor(absl::Milliseconds(20));
  DatabasePeer(database_.get()).KillMaster();
  CreateStill("u");  // by the next master
  faulty_->ReleaseCalls();
  EXPECT_OK(deleted.get());
  flushed.get().IgnoreError();  // NotFound, unless it was done before it has noticed
  EXPECT_OK(database_->WaitUntilQuiet());
  // The file of the flush, if that was done at the end; the next opening removes it.
  const std::set<std::string> left = SSTables();
  ReopenFaulty(Options());
  EXPECT_STATUS(kNotFound, "", database_->GetSchema("t").status());
  const std::set<std::string> after = SSTables();
  for (const std::string& file : left) EXPECT_FALSE(after.contains(file)) << file;
}

// --- Observers ---

TEST_F(StalledWaitsTest, AWriteLeavesTheWaitForEarlierCommitsAndAfterIsCalledInOrder) {
  HookObserver::ClearAll();
  OpenFaulty(Options());
  TableSchema schema;
  schema.families["f"] = {};
  schema.observers = {HookObserver::NameOf(0)};
  Table* const t = CreateTable("t", schema);
  Set(t, "a", "f:q", 1, "v");
  ASSERT_OK(database_->WaitUntilQuiet());  // the log has a file in which it can continue
  std::mutex mutex;
  std::string called;
  HookObserver::Get(0)->after = [&](const ObservedMutation& mutation, uint64_t) {
    const std::lock_guard lock(mutex);
    called += mutation.row();
  };
  const auto write = [=](const char* row, Durability durability, const Limits& limits) {
    return t->Apply(RowMutation(row).Set("f:q", Timestamp(1), "v"),
                    {.durability = durability,
                     .deadline = limits.deadline,
                     .cancellation = limits.cancellation});
  };
  ASSERT_NO_FATAL_FAILURE(Stall(
      {.kinds = {FileCall::kLogSync}, .path_contains = "/db/log/server"},
      [=] { return write("1", Durability::kSync, {}); }, Files::kOne));
  // It takes over from the stalled write, whose thread is the one that is waited for.
  EXPECT_OK(Ended([=](const Limits& l) { return write("2", Durability::kBuffered, l); },
                  {.deadline = absl::Now() + absl::Milliseconds(300)}));
  Cancellation cancellation;
  std::future<void> cancelling = std::async(std::launch::async, [&] {
    absl::SleepFor(absl::Milliseconds(100));
    cancellation.Cancel();
  });
  EXPECT_OK(Ended([=](const Limits& l) { return write("3", Durability::kBuffered, l); },
                  {.cancellation = &cancellation}));
  EXPECT_EQ(Show(t->ReadRow("3")), "f:q@1=v");
  EXPECT_EQ(called, "");
  EndStall();
  EXPECT_EQ(called, "123");
  EXPECT_OK(write("4", Durability::kBuffered, {}));
  EXPECT_EQ(called, "1234");
  HookObserver::ClearAll();
}

// --- Takeovers ---

// The first sync stalls, and then the one in the file in which the log continues.
TEST_F(StalledWaitsTest, ACallThatTakesOverIsNotHeldUpByTheSecondStall) {
  OpenFaulty(Options());
  Table* const t = CreateStill("t");
  Set(t, "a", "f:q", 1, "v");
  const auto synced = [=](const char* row) {
    return t->Apply(RowMutation(row).Set("f:q", Timestamp(1), "v"),
                    {.durability = Durability::kSync});
  };
  ASSERT_NO_FATAL_FAILURE(Stall({.kinds = {FileCall::kLogSync}, .path_contains = "/db/log/server"},
                                [=] { return synced("1"); }));
  const auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  const auto read = [&](const Limits& limits) {
    ReadOptions options;
    options.snapshot = *snapshot;
    options.deadline = limits.deadline;
    options.cancellation = limits.cancellation;
    return t->ReadRow("a", {}, options).status();
  };
  const absl::Time begin = absl::Now();
  EXPECT_STATUS(kDeadlineExceeded, "", Ended(read, {.deadline = begin + absl::Milliseconds(400)}));
  EXPECT_EQ(faulty_->stalled(), 2);  // it has taken over
  ExpectToHear({"a read at a snapshot", read});
  ExpectToHear({"a write", [&](const Limits& l) {
                  return t->Apply(RowMutation("b").Set("f:q", Timestamp(1), "v"),
                                  {.deadline = l.deadline, .cancellation = l.cancellation});
                }});
  ExpectToHear({"a flush", [&](const Limits& l) {
                  return database_->Flush("t", {l.deadline, l.cancellation});
                }});
  EndStall();
  EXPECT_OK(read({}));
  EXPECT_OK(synced("2"));
  EXPECT_EQ(ShowKeys(t->ReadRows(RowSet(RowRange::All()))), "1 2 a");
}

// --- The waits that hear no limits (UnlimitedWaits in limited_calls.h) ---

// Holds the present turn among the writes of a server.
class HeldTurn {
 public:
  explicit HeldTurn(TabletServer* server)
      : thread_([this, server] {
          server->writer().queue()->RunExclusive([this] {
            begun_.Notify();
            released_.WaitForNotification();
          });
        }) {
    begun_.WaitForNotification();
  }
  ~HeldTurn() {
    Release();
    thread_.join();
  }
  void Release() {
    if (!released_.HasBeenNotified()) released_.Notify();
  }

 private:
  absl::Notification begun_;
  absl::Notification released_;
  std::thread thread_;
};

// Two writes are one group, whose sync stalls, and so does the one in the file in which the log
// continues.
TEST_F(StalledWaitsTest, AWriteWhoseTurnHasBegunHearsNoLimits) {
  OpenFaulty(Options());
  Table* const t = CreateStill("t");
  Set(t, "a", "f:q", 1, "v");
  HeldTurn turn(DatabasePeer(database_.get()).Servers().front());
  const auto write = [=](const char* row, absl::Time deadline) {
    return t->Apply(RowMutation(row).Set("f:q", Timestamp(1), "v"),
                    {.durability = Durability::kSync, .deadline = deadline});
  };
  faulty_->StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = "/db/log/server"});
  std::future<absl::Status> first =
      std::async(std::launch::async, [&] { return write("1", absl::InfiniteFuture()); });
  absl::SleepFor(absl::Milliseconds(30));
  std::future<absl::Status> second =
      std::async(std::launch::async, [&] { return write("2", absl::Now() + 3 * kDeadline); });
  absl::SleepFor(absl::Milliseconds(30));
  turn.Release();
  ASSERT_TRUE(faulty_->WaitUntilStalled(2));
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(400)), std::future_status::timeout);
  faulty_->ReleaseCalls();
  EXPECT_OK(first.get());
  EXPECT_OK(second.get());
}

// The turn begins when the change has looked, and before it takes one itself.
TEST_F(StalledWaitsTest, AChangeThatHasBegunHearsNoLimits) {
  OpenFaulty(Options());
  Set(CreateStill("t"), "a", "f:q", 1, "v");
  DatabasePeer peer(database_.get());
  std::unique_ptr<HeldTurn> turn;
  peer.OnMasterStep([&] {
    if (turn == nullptr) turn = std::make_unique<HeldTurn>(peer.Servers().front());
  });
  std::future<absl::Status> added = std::async(std::launch::async, [&] {
    return database_->AddFamily("t", "g", {}, {.deadline = absl::Now() + kDeadline});
  });
  EXPECT_EQ(added.wait_for(std::chrono::milliseconds(400)), std::future_status::timeout);
  peer.OnMasterStep(nullptr);
  turn->Release();
  EXPECT_OK(added.get());
}

}  // namespace
}  // namespace bigtable
