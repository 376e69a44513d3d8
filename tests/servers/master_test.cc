// The master dies, at any of its steps, and another one replaces it. No data is lost, no tablet is
// served twice, and clients that know the locations of tablets notice nothing.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class MasterTest : public TabletsFixture {
 protected:
  static constexpr int kRows = 40;

  // Creates a table with tablets that begin at rows 10, 20 and 30, and with data in SSTables,
  // memtables and logs.
  Table* CreateFilled(const std::string& name) {
    Table* const table = CreateSplitTable(name, 4, 10);
    Fill(table, 0, kRows, "v");
    EXPECT_OK(database_->Flush(name));
    Fill(table, 0, kRows, "w");
    return table;
  }
  // Waits for a master that has begun.
  void AwaitMaster() { ASSERT_OK(database_->ListTablets("t")); }

  // Makes `change` in a database with table "t", with the master dying at its step 1, 2, 3, ...,
  // until it lives through all of them. `is_done` returns whether the change was made, which is
  // possible even if the call reports that the outcome is unknown.
  void DieAtEachStep(const std::function<absl::Status(Database*)>& change,
                     const std::function<bool(Database*)>& is_done) {
    int deaths = 0;
    for (int fatal = 1;; ++fatal) {
      SCOPED_TRACE(Cat("step ", fatal));
      file_system_ = std::make_unique<InMemoryFileSystem>();
      Open(WithServers(2));
      Table* const table = CreateFilled("t");
      DatabasePeer peer(database_.get());
      std::atomic<int> steps{0};
      peer.OnMasterStep([&] {
        if (++steps == fatal) peer.KillMaster();
      });
      const absl::Status status = change(database_.get());
      ASSERT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
      const bool died = steps >= fatal;
      peer.OnMasterStep(nullptr);
      deaths += died ? 1 : 0;
      ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows, "w"));
      Fill(table, 0, kRows, "x");
      ASSERT_NO_FATAL_FAILURE(AwaitMaster());
      EXPECT_EQ(peer.ServedTwice(), "");
      if (status.ok()) {
        EXPECT_TRUE(is_done(database_.get()));
      }
      if (!is_done(database_.get())) {
        ASSERT_OK(change(database_.get()));
      }
      EXPECT_TRUE(is_done(database_.get()));
      ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows, "x"));
      if (fatal % 2 == 0) {
        Kill();
      } else {
        ASSERT_OK(database_->Close());
        database_.reset();
      }
      Open(WithServers(1));
      EXPECT_TRUE(is_done(database_.get()));
      ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kRows, "x"));
      ASSERT_OK(database_->Close());
      database_.reset();
      if (!died) break;
    }
    EXPECT_GT(deaths, 0);
  }
  static size_t TabletsOf(Database* database, std::string_view table) {
    const auto tablets = database->ListTablets(table);
    EXPECT_OK(tablets);
    return tablets.ok() ? tablets->size() : 0;
  }
};

TEST_F(MasterTest, ATableIsCreatedOrNot) {
  DieAtEachStep(
      [](Database* database) {
        CreateTableOptions options;
        options.split_rows = {"g", "p"};
        return database->CreateTable("u", StillSchema(), options);
      },
      [](Database* database) {
        const auto table = database->OpenTable("u");
        if (!table.ok()) return false;
        EXPECT_EQ(TabletsOf(database, "u"), 3u);
        for (const char* row : {"a", "h", "q"}) {
          EXPECT_OK((*table)->Apply(RowMutation(row).Set("f:q", "1")));
          EXPECT_OK((*table)->ReadRow(row));
        }
        return true;
      });
}

TEST_F(MasterTest, ATableIsDeletedOrNot) {
  DieAtEachStep(
      [](Database* database) {
        const absl::Status created = database->CreateTable("u", StillSchema());
        if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
        return database->DeleteTable("u");
      },
      [](Database* database) { return !database->OpenTable("u").ok(); });
}

TEST_F(MasterTest, ASchemaIsChangedOrNot) {
  DieAtEachStep([](Database* database) { return database->AddFamily("t", "g", {}); },
                [](Database* database) {
                  const auto schema = database->GetSchema("t");
                  EXPECT_OK(schema);
                  if (!schema->families.contains("g")) return false;
                  // All tablets have the change.
                  for (const int i : {5, 15, 25, 35}) {
                    Table* const table = *database->OpenTable("t");
                    EXPECT_OK(table->Apply(RowMutation(RowOf(i)).Set("g:q", Timestamp(1), "1")));
                    EXPECT_OK(table->Apply(RowMutation(RowOf(i)).DeleteFamily("g")));
                  }
                  return true;
                });
}

TEST_F(MasterTest, ATabletIsSplitOrNot) {
  DieAtEachStep(
      [](Database* database) {
        const absl::Status split = database->SplitTablet("t", RowOf(15));
        return absl::IsAlreadyExists(split) ? absl::OkStatus() : split;
      },
      [](Database* database) { return TabletsOf(database, "t") == 5; });
}

TEST_F(MasterTest, TabletsAreMergedOrNot) {
  DieAtEachStep([](Database* database) { return database->MergeTablets("t", RowOf(20)); },
                [](Database* database) { return TabletsOf(database, "t") == 3; });
}

TEST_F(MasterTest, ATabletIsMovedOrStaysAtItsServer) {
  // A tablet's server does not outlive the opening of the database.
  DieAtEachStep(
      [](Database* database) {
        for (const int server : {0, 1}) {
          if (const absl::Status moved = database->MoveTablet("t", RowOf(15), server);
              !moved.ok()) {
            return moved;
          }
        }
        return absl::OkStatus();
      },
      [](Database* database) { return TabletsOf(database, "t") == 4; });
}

TEST_F(MasterTest, RowsAreDroppedByTheNextCallAtTheLatest) {
  DieAtEachStep(
      [](Database* database) -> absl::Status {
        const absl::Status created =
            database->CreateTable("u", StillSchema(), {.split_rows = {"g", "p"}});
        if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
        const absl::StatusOr<Table*> table = database->OpenTable("u");
        if (!table.ok()) return table.status();
        for (const char* row : {"a", "b", "h", "q", "z"}) {
          EXPECT_OK((*table)->Apply(RowMutation(row).Set("f:q", "1")));
        }
        return (*table)->DropRowRange(RowRange::RightOpen("b", "r"));
      },
      [](Database* database) {
        const auto table = database->OpenTable("u");
        return table.ok() && ShowKeys((*table)->ReadRows(RowRange::All())) == "a z";
      });
}

TEST_F(MasterTest, ALostServerIsReplacedByAnyMaster) {
  DieAtEachStep(
      [](Database* database) {
        DatabasePeer peer(database);
        for (TabletServer* server : peer.Servers()) peer.Kill(server);
        peer.ReplaceLostServers();
        return absl::OkStatus();
      },
      [](Database* database) { return TabletsOf(database, "t") == 4; });
}

// The master that begins may wait for METADATA forever. The next master does not.
TEST_F(MasterTest, AMasterMayDieWhileItBeginsAndAServerOfMetadataWithIt) {
  for (const ServerRole role : kMetadataRoles) {
    for (int fatal = 1; fatal <= 16; ++fatal) {
      SCOPED_TRACE(Cat(NameOfRole(role), ", step ", fatal));
      file_system_ = std::make_unique<InMemoryFileSystem>();
      ASSERT_NO_FATAL_FAILURE(Open(WithServers(2)));
      Table* const table = CreateFilled("t");
      DatabasePeer peer(database_.get());
      std::atomic<int> steps{0}, under_way{0};
      // The step after the server's death is the one that replaces the server, unless the master
      // has another step before it needs METADATA.
      peer.OnMasterStep([&] {
        ++under_way;
        const int step = ++steps;
        if (step == fatal) {
          for (TabletServer* server : peer.ServersOf(role)) peer.Kill(server);
        } else if (step == fatal + 1) {
          absl::SleepFor(absl::Milliseconds(10));
          peer.KillMaster();
        }
        --under_way;
      });
      peer.KillMaster();
      absl::Status created;
      do {
        created = database_->CreateTable("u", StillSchema());
      } while (absl::IsUnavailable(created));
      EXPECT_TRUE(created.ok() || absl::IsAlreadyExists(created)) << created;
      peer.OnMasterStep(nullptr);
      while (under_way > 0) absl::SleepFor(absl::Milliseconds(1));
      ASSERT_NO_FATAL_FAILURE(AwaitMaster());
      ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows, "w"));
      ASSERT_NO_FATAL_FAILURE(Reopen(WithServers(2)));
      ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kRows, "w"));
      database_.reset();
    }
  }
}

TEST_F(MasterTest, WithoutAMasterReadsAndWritesContinue) {
  Open(WithServers(2));
  Table* const table = CreateFilled("t");
  DatabasePeer peer(database_.get());
  std::atomic<bool> may_begin{false};
  // Set before the master is killed, since its successor may begin at once.
  peer.OnMasterStep([&] {
    while (!may_begin) absl::SleepFor(absl::Milliseconds(1));
  });
  peer.KillMaster();
  for (int round = 0; round < 10; ++round) {
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows, "w"));
    Fill(table, 0, kRows, "w");
  }
  // So do calls on tables that were not open, and all calls that need no master.
  EXPECT_OK(database_->OpenTable("t"));
  EXPECT_OK(database_->Flush("t"));
  EXPECT_OK(database_->Compact("t"));
  const absl::Time soon = absl::Now() + absl::Milliseconds(20);
  EXPECT_STATUS(kDeadlineExceeded, "", database_->SplitTablet("t", RowOf(15), {.deadline = soon}));
  may_begin = true;
  EXPECT_OK(database_->SplitTablet("t", RowOf(15)));
  EXPECT_EQ(TabletsOf(database_.get(), "t"), 5u);
}

// A caller that has got the master before it lost its lock can call again, and is told so.
TEST_F(MasterTest, EachCallOfALostMasterIsUnavailable) {
  Open(WithServers(2));
  CreateFilled("t");
  ASSERT_OK(database_->SetAccessList("list", {}));
  DatabasePeer peer(database_.get());
  const std::shared_ptr<Master> master = peer.PresentMaster();
  ASSERT_NE(master, nullptr);
  peer.KillMaster();
  const auto expect_lost = [](std::string_view call, const absl::Status& status) {
    SCOPED_TRACE(call);
    EXPECT_STATUS(kUnavailable, "the master has lost its lock", status);
  };
  TableChanges* const tables = master->tables();
  expect_lost("CreateTable", tables->CreateTable("u", StillSchema(), {}, {}));
  expect_lost("DeleteTable", tables->DeleteTable("t", {}));
  expect_lost("ChangeTable",
              tables->ChangeTable("t", {}, [](TableLayout*) { return absl::OkStatus(); }));
  expect_lost("SetAccessList", tables->SetAccessList("list", {}, {}));
  expect_lost("DeleteAccessList", tables->DeleteAccessList("list", {}));
  expect_lost("SetTableQuota", tables->SetTableQuota("t", {}, {}));
  expect_lost("SetCallerQuota", tables->SetCallerQuota("ann", {}, {}));
  TabletChanges* const tablets = master->tablets();
  expect_lost("SplitTablet", tablets->SplitTablet("t", RowOf(5), {}));
  expect_lost("MergeTablets", tablets->MergeTablets("t", RowOf(10), {}));
  expect_lost("MoveTablet", tablets->MoveTablet("t", RowOf(5), 1, {}));
}

// The schema's file cannot be read after its change has failed, because the lock is lost meanwhile.
TEST_F(MasterTest, ALostMasterStopsNoWrites) {
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = WithServers(2);
  options.file_system = &faulty;
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  Table* const table = CreateFilled("t");
  ASSERT_OK(database_->WaitUntilQuiet());
  DatabasePeer peer(database_.get());
  faulty.FailCalls({.kinds = {FileCall::kNewWritableFile}, .path_contains = "schema"},
                   absl::UnavailableError("not now"));
  faulty.FailCalls({.kinds = {FileCall::kSyncDirectory}}, absl::UnavailableError("not now"));
  faulty.StallCalls({.kinds = {FileCall::kSyncDirectory}});
  absl::Status changed;
  std::thread changer([&] { changed = database_->AddFamily("t", "g", {}); });
  EXPECT_TRUE(faulty.WaitUntilStalled(1));
  peer.KillMaster();
  faulty.ReleaseCalls();
  changer.join();
  EXPECT_STATUS(kUnavailable, "", changed);
  faulty.ClearFaults();
  ASSERT_NO_FATAL_FAILURE(AwaitMaster());
  EXPECT_OK(table->Apply(RowMutation("row").Set("f:q", "v")));
  database_.reset();
}

TEST_F(MasterTest, ServersRefuseAnEarlierMaster) {
  Open(WithServers(1));
  CreateFilled("t");
  const std::shared_ptr<ServerHost> host = DatabasePeer(database_.get()).Hosts().front();
  ASSERT_OK(host->Accept(UINT64_MAX));
  const std::shared_ptr<Tablet> tablet = host->server()->tablets().All().front();
  EXPECT_STATUS(kUnavailable, "was replaced by master", host->Unload(1, tablet->id(), {}));
  EXPECT_STATUS(kUnavailable, "was replaced by master",
                host->Split(1, tablet->table_id(), RowOf(5), {}));
  EXPECT_STATUS(kUnavailable, "was replaced by master", host->Accept(1).status());
  EXPECT_STATUS(kUnavailable, "was replaced by master", host->Drop(1, tablet->table_id()).status());
  EXPECT_EQ(host->server()->tablets().All().size(), 4u);
}

TEST_F(MasterTest, OnlyOneMasterExistsAtATime) {
  Open(WithServers(1));
  EXPECT_STATUS(kUnavailable, "another master", DatabasePeer(database_.get()).StartMaster());
}

}  // namespace
}  // namespace bigtable
