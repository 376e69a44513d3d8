// The sync of one log stalls during a batch over two servers. Every call ends at its deadline or
// does not need these servers, calls on other servers go on, and after the stall all is well.
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"

namespace bigtable {
namespace {

// Table t has a tablet on each of the first two servers, which the batch writes to, and table z on
// each of two others.
class BatchStallTest : public DatabaseFixture {
 protected:
  static constexpr absl::Duration kDeadline = absl::Milliseconds(40);
  static constexpr absl::Duration kLongDeadline = absl::Minutes(1);

  // What a call gets: its deadline as an option of any kind.
  using Call = std::function<absl::Status(absl::Time deadline)>;
  enum class Outcome { kSucceeds, kRunsIntoDeadline, kEither };
  struct Case {
    std::string name;
    Outcome outcome;
    Call call;
  };

  void SetUp() override {
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    DatabaseOptions options = Options();
    options.tablet_servers = 4;
    options.file_system = faulty_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
    t_ = CreateSplitTable("t", 0);
    z_ = CreateSplitTable("z", 2);
    ASSERT_NE(t_, nullptr);
    ASSERT_NE(z_, nullptr);
    // So that no server begins to note its writes during the stall.
    for (Table* const table : {t_, z_}) {
      for (const char* const row : {"a", "n"}) {
        ASSERT_OK(table->Apply(RowMutation(row).Set("f:q", Timestamp(1), "old")));
        const RowMutation again = RowMutation(row).Set("f:q", Timestamp(1), "old");
        ASSERT_OK(table->CheckAndMutateRow(row, {}, again, again));
      }
    }
    const auto hosts = DatabasePeer(database_.get()).Hosts();
    stalled_log_ = absl::StrCat("/", hosts[0]->server()->name(), "/");
  }
  void TearDown() override {
    EndStall();
    database_.reset();
  }
  Table* CreateSplitTable(const std::string& name, int first_server) {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = schema.split.merge_size = 0;
    EXPECT_OK(database_->CreateTable(name, schema, {.split_rows = {"m"}}));
    EXPECT_OK(database_->MoveTablet(name, "a", first_server));
    EXPECT_OK(database_->MoveTablet(name, "n", first_server + 1));
    const absl::StatusOr<Table*> table = database_->OpenTable(name);
    EXPECT_OK(table);
    return table.value_or(nullptr);
  }

  static WriteBatch BatchOf(Table* first, Table* second, const std::string& value) {
    WriteBatch batch;
    batch.Apply(first, RowMutation("a").Set("f:b", Timestamp(2), value));
    batch.Apply(second, RowMutation("n").Set("f:b", Timestamp(2), value));
    return batch;
  }
  void BeginStall() {
    faulty_->StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = stalled_log_});
    stalled_ = std::thread([this] {
      stalled_status_ =
          database_->Apply(BatchOf(t_, t_, "stalled"), {.durability = Durability::kSync});
    });
    ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  }
  void EndStall() {
    if (faulty_ != nullptr) faulty_->ReleaseCalls();
    if (stalled_.joinable()) stalled_.join();
  }

  // Makes the call on a thread, so that the test ends even if the call does not.
  void Run(const Case& test, absl::Duration deadline) {
    SCOPED_TRACE(test.name);
    const absl::Time begin = absl::Now();
    std::future<absl::Status> called =
        std::async(std::launch::async, [&] { return test.call(absl::Now() + deadline); });
    if (called.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
      ADD_FAILURE() << "the call does not end";
      EndStall();
      called.wait();
      return;
    }
    const absl::Status status = called.get();
    EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
    if (test.outcome == Outcome::kSucceeds) {
      EXPECT_OK(status);
    } else if (test.outcome == Outcome::kRunsIntoDeadline) {
      EXPECT_STATUS(kDeadlineExceeded, "", status);
    } else if (!status.ok()) {
      EXPECT_TRUE(absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status)) << status;
    }
  }
  static absl::Status ReadAll(RowReader reader) {
    while (reader.Next()) {
    }
    return reader.status();
  }

  // Calls on rows of the table.
  std::vector<Case> RowCalls(Table* table, Outcome writes) {
    const auto set = [](const char* row) {
      return RowMutation(row).Set("f:late", Timestamp(3), "late");
    };
    const auto all = RowSet(RowRange::All());
    return {
        {"Apply to the first tablet", writes,
         [=](absl::Time d) { return table->Apply(set("a"), {.deadline = d}); }},
        {"Apply to the second tablet", writes,
         [=](absl::Time d) { return table->Apply(set("n"), {.deadline = d}); }},
        {"Apply with kSync", writes,
         [=](absl::Time d) {
           return table->Apply(set("n"), {.durability = Durability::kSync, .deadline = d});
         }},
        {"ApplyBatch", writes,
         [=](absl::Time d) {
           const RowMutation mutations[] = {set("a"), set("n")};
           absl::Status status;
           for (absl::Status& one : table->ApplyBatch(mutations, {.deadline = d})) {
             status.Update(one);
           }
           return status;
         }},
        {"CheckAndMutateRow", writes,
         [=](absl::Time d) {
           const RowMutation mutation = set("a");
           return table->CheckAndMutateRow("a", {}, mutation, mutation, {.deadline = d}).status();
         }},
        {"ReadModifyWriteRow", writes,
         [=](absl::Time d) {
           return table
               ->ReadModifyWriteRow(ReadModifyWrite("a").Append("f:late", "x"), {.deadline = d})
               .status();
         }},
        {"MutateRowAtomically", writes,
         [=](absl::Time d) {
           return table->MutateRowAtomically(
               "a", {}, [&](const Row&) -> absl::StatusOr<RowMutation> { return set("a"); },
               {.deadline = d});
         }},
        {"Database::Apply", writes,
         [=, this](absl::Time d) {
           return database_->Apply(BatchOf(table, table, "late"), {.deadline = d});
         }},
        {"Database::Apply with kSync", writes,
         [=, this](absl::Time d) {
           return database_->Apply(BatchOf(table, table, "late"),
                                   {.durability = Durability::kSync, .deadline = d});
         }},
        {"RunTransaction", writes,
         [=, this](absl::Time d) {
           return database_->RunTransaction(
               [&](Transaction* transaction) {
                 const auto row = transaction->ReadRow(table, "a", {}, {.deadline = d});
                 return row.ok() ? transaction->Apply(table, set("a")) : row.status();
               },
               {.deadline = d});
         }},
        {"ReadRow", Outcome::kSucceeds,
         [=](absl::Time d) { return table->ReadRow("a", {}, {.deadline = d}).status(); }},
        {"Get", Outcome::kSucceeds,
         [=](absl::Time d) { return table->Get("n", "f:q", {.deadline = d}).status(); }},
        {"ReadRow at a snapshot", writes,
         [=, this](absl::Time d) {
           const auto snapshot = database_->TakeSnapshot();
           if (!snapshot.ok()) return absl::InternalError("no snapshot");
           return table->ReadRow("n", {}, {.snapshot = *snapshot, .deadline = d}).status();
         }},
        {"ReadRows of one tablet", Outcome::kSucceeds,
         [=](absl::Time d) {
           return ReadAll(
               table->ReadRows(RowSet(RowRange::RightOpen("a", "b")), ReadOptions{.deadline = d}));
         }},
        {"ReadRows of two tablets", writes,
         [=](absl::Time d) { return ReadAll(table->ReadRows(all, ReadOptions{.deadline = d})); }},
        {"ReadRows in reverse", writes,
         [=](absl::Time d) {
           return ReadAll(table->ReadRows(all, ReadOptions{.reverse = true, .deadline = d}));
         }},
        {"SampleRowKeys", Outcome::kSucceeds,
         [=](absl::Time d) { return table->SampleRowKeys({.deadline = d}).status(); }},
        {"ApproximateSizes", Outcome::kSucceeds,
         [=](absl::Time d) {
           const RowRange ranges[] = {RowRange::All()};
           return table->ApproximateSizes(ranges, {.deadline = d}).status();
         }},
    };
  }

  // Calls on the table that change or maintain it. In an order in which all of them can succeed.
  std::vector<Case> TableCalls(const std::string& table, Outcome changes) {
    Database* const db = database_.get();
    const auto on = [&](std::string name, auto function) {
      return Case{std::move(name), changes, [=](absl::Time d) -> absl::Status {
                    return function(CallOptions{.deadline = d});
                  }};
    };
    const int server = table == "t" ? 2 : 3;
    return {
        on("AddFamily", [=](const CallOptions& o) { return db->AddFamily(table, "g", {}, o); }),
        on("UpdateFamily",
           [=](const CallOptions& o) {
             return db->UpdateFamily(table, "f", {.gc = GcRule::MaxVersions(9)}, o);
           }),
        on("ModifyFamilies",
           [=](const CallOptions& o) {
             return db->ModifyFamilies(table, {FamilyChange::Add("h", {})}, o);
           }),
        on("DropFamily", [=](const CallOptions& o) { return db->DropFamily(table, "f", o); }),
        on("SetLocalityGroup",
           [=](const CallOptions& o) { return db->SetLocalityGroup(table, "new", {}, o); }),
        on("SetSplitRule",
           [=](const CallOptions& o) {
             return db->SetSplitRule(table, {.tablet_size = 0, .merge_size = 0}, o);
           }),
        on("SetChangeStream",
           [=](const CallOptions& o) {
             return db->SetChangeStream(table, {.retention = absl::Hours(1)}, o);
           }),
        on("SetObservers", [=](const CallOptions& o) { return db->SetObservers(table, {}, o); }),
        on("Flush", [=](const CallOptions& o) { return db->Flush(table, o); }),
        on("SplitTablet", [=](const CallOptions& o) { return db->SplitTablet(table, "c", o); }),
        on("MergeTablets",
           [=](const CallOptions& o) {
             return db->MergeTablets(table, table == "t" ? "m" : "c", o);
           }),
        on("MoveTablet",
           [=](const CallOptions& o) { return db->MoveTablet(table, "a", server, o); }),
        on("DropRowRange",
           [=](const CallOptions& o) {
             Table* const opened = db->OpenTable(table).value();
             return opened->DropRowRange(RowRange::RightOpen("a", "b"), o);
           }),
        on("DeleteTable", [=](const CallOptions& o) { return db->DeleteTable(table, o); }),
    };
  }

  // Calls that concern no table, or all of them.
  std::vector<Case> OtherCalls() {
    Database* const db = database_.get();
    return {
        {"TakeSnapshot", Outcome::kSucceeds,
         [=](absl::Time) { return db->TakeSnapshot().status(); }},
        {"BeginTransaction", Outcome::kSucceeds,
         [=](absl::Time d) { return db->BeginTransaction({.deadline = d}).status(); }},
        {"a batch over a stalled server and another", Outcome::kRunsIntoDeadline,
         [=, this](absl::Time d) { return db->Apply(BatchOf(t_, z_, "late"), {.deadline = d}); }},
        {"CreateTable on all servers", Outcome::kRunsIntoDeadline,
         [=](absl::Time d) {
           TableSchema schema;
           schema.families["f"] = {};
           return db->CreateTable("new", schema, {.split_rows = {"b", "c", "d"}, .deadline = d});
         }},
        {"ListTablets", Outcome::kSucceeds,
         [=](absl::Time d) { return db->ListTablets("t", {.deadline = d}).status(); }},
        {"ListTables", Outcome::kSucceeds, [=](absl::Time) { return db->ListTables().status(); }},
        {"GetSchema", Outcome::kSucceeds, [=](absl::Time) { return db->GetSchema("t").status(); }},
        {"OpenTable", Outcome::kSucceeds,
         [=](absl::Time) {
           OpenTableOptions options;
           options.caller = "somebody";
           return db->OpenTable("t", options).status();
         }},
        {"SetAccessList", Outcome::kSucceeds,
         [=](absl::Time d) { return db->SetAccessList("list", {}, {.deadline = d}); }},
        {"DeleteAccessList", Outcome::kSucceeds,
         [=](absl::Time d) { return db->DeleteAccessList("list", {.deadline = d}); }},
        {"SetTableQuota", Outcome::kSucceeds,
         [=](absl::Time d) { return db->SetTableQuota("t", {}, {.deadline = d}); }},
        {"SetCallerQuota", Outcome::kSucceeds,
         [=](absl::Time d) { return db->SetCallerQuota("somebody", {}, {.deadline = d}); }},
        {"SetOptions", Outcome::kSucceeds,
         [=](absl::Time) {
           return db->SetOptions({{"compaction_rate", "1000000000"}});
         }},
        {"Statistics", Outcome::kSucceeds,
         [=](absl::Time) { return db->Statistics().background_error; }},
        {"Compact", Outcome::kRunsIntoDeadline,
         [=](absl::Time d) { return db->Compact("t", {.deadline = d}); }},
        {"Compact of another table", Outcome::kEither,
         [=](absl::Time d) { return db->Compact("z", {.deadline = d}); }},
        {"WaitUntilQuiet", Outcome::kEither,
         [=](absl::Time d) { return db->WaitUntilQuiet({.deadline = d}); }},
        {"Resume", Outcome::kSucceeds, [=](absl::Time d) { return db->Resume({.deadline = d}); }},
    };
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
  Table* t_ = nullptr;
  Table* z_ = nullptr;
  std::string stalled_log_;
  std::thread stalled_;
  absl::Status stalled_status_;
};

TEST_F(BatchStallTest, EveryCallEndsAtItsDeadline) {
  ASSERT_NO_FATAL_FAILURE(BeginStall());
  for (const Case& test : RowCalls(t_, Outcome::kRunsIntoDeadline)) Run(test, kDeadline);
  for (const Case& test : TableCalls("t", Outcome::kRunsIntoDeadline)) Run(test, kDeadline);
  for (const Case& test : OtherCalls()) {
    Run(test, test.outcome == Outcome::kSucceeds ? kLongDeadline : kDeadline);
  }
  EndStall();
  EXPECT_OK(stalled_status_);
  // What ran into its deadline has left nothing behind.
  EXPECT_EQ(Show(t_->ReadRow("a")), "f:b@2=stalled f:q@1=old");
  EXPECT_EQ(Show(t_->ReadRow("n")), "f:b@2=stalled f:q@1=old");
  EXPECT_OK(database_->Apply(BatchOf(t_, z_, "later")));
  EXPECT_EQ(Show(t_->ReadRow("a")), "f:b@2=later f:q@1=old");
  for (const Case& test : RowCalls(t_, Outcome::kSucceeds)) Run(test, kLongDeadline);
  for (const Case& test : TableCalls("t", Outcome::kSucceeds)) Run(test, kLongDeadline);
}

TEST_F(BatchStallTest, CallsOnOtherServersGoOn) {
  ASSERT_NO_FATAL_FAILURE(BeginStall());
  // It waits for a stalled server, and holds up no other while it does.
  std::future<absl::Status> waiting =
      std::async(std::launch::async, [&] { return database_->Apply(BatchOf(t_, z_, "waiting")); });
  absl::SleepFor(absl::Milliseconds(50));
  for (const Case& test : RowCalls(z_, Outcome::kSucceeds)) Run(test, kLongDeadline);
  EndStall();
  EXPECT_OK(stalled_status_);
  EXPECT_OK(waiting.get());
}

TEST_F(BatchStallTest, ChangesOfTablesOnOtherServersGoOn) {
  ASSERT_NO_FATAL_FAILURE(BeginStall());
  for (const Case& test : TableCalls("z", Outcome::kSucceeds)) Run(test, kLongDeadline);
  EndStall();
  EXPECT_OK(stalled_status_);
}

// An earlier batch, whose parts are not synced, is of the stalled servers alone.
TEST_F(BatchStallTest, SyncsOfOtherServersDoNotWaitForPartsThatTheyDoNotFollow) {
  ASSERT_OK(database_->Apply(BatchOf(t_, t_, "buffered")));
  ASSERT_NO_FATAL_FAILURE(BeginStall());
  for (const Case& test : RowCalls(z_, Outcome::kSucceeds)) Run(test, kLongDeadline);
  Run({"Flush", Outcome::kSucceeds,
       [&](absl::Time d) { return database_->Flush("z", {.deadline = d}); }},
      kLongDeadline);
  EndStall();
  EXPECT_OK(stalled_status_);
}

TEST_F(BatchStallTest, WaitingCallsHearTheirCancellation) {
  ASSERT_NO_FATAL_FAILURE(BeginStall());
  Cancellation cancellation;
  std::vector<std::future<absl::Status>> calls;
  const auto start = [&](auto call) { calls.push_back(std::async(std::launch::async, call)); };
  start([&] {
    return t_->Apply(RowMutation("a").Set("f:late", Timestamp(3), "late"),
                     {.cancellation = &cancellation});
  });
  start([&] { return database_->Apply(BatchOf(t_, t_, "late"), {.cancellation = &cancellation}); });
  start([&] {
    return ReadAll(
        t_->ReadRows(RowSet(RowRange::All()), ReadOptions{.cancellation = &cancellation}));
  });
  start([&] { return database_->AddFamily("t", "g", {}, {.cancellation = &cancellation}); });
  start([&] { return database_->Flush("t", {.cancellation = &cancellation}); });
  absl::SleepFor(absl::Milliseconds(30));
  cancellation.Cancel();
  for (std::future<absl::Status>& call : calls) EXPECT_STATUS(kCancelled, "", call.get());
  EndStall();
}

// A change without a deadline waits for the stall, and no other change waits for it.
TEST_F(BatchStallTest, AChangeThatWaitsHoldsUpNoOther) {
  ASSERT_NO_FATAL_FAILURE(BeginStall());
  std::future<absl::Status> added =
      std::async(std::launch::async, [&] { return database_->AddFamily("t", "g", {}); });
  std::future<absl::Status> split =
      std::async(std::launch::async, [&] { return database_->SplitTablet("t", "c"); });
  absl::SleepFor(absl::Milliseconds(30));
  for (const Case& test : TableCalls("z", Outcome::kSucceeds)) Run(test, kLongDeadline);
  EndStall();
  EXPECT_OK(added.get());
  EXPECT_OK(split.get());
}

}  // namespace
}  // namespace bigtable
