// Tablet servers die or lose their sessions, and other servers take over their tablets.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class LostServerTest : public TabletsFixture {
 protected:
  std::vector<std::string> ServerFiles() {
    auto names = file_system_->ListDirectory(absl::StrCat(kPath, "/lockservice/servers"));
    EXPECT_OK(names);
    std::erase_if(*names, [](const std::string& name) { return !name.starts_with("server-"); });
    return *names;
  }
};

TEST_F(LostServerTest, TheTabletsOfADeadServerAreServedByOthers) {
  Open(WithServers(3));
  Table* const table = CreateSplitTable("t", 6, 10);
  Fill(table, 0, 60, "v");
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 0, 60, "w");  // in the logs only
  DatabasePeer peer(database_.get());
  const std::vector<std::string> before = ServerFiles();
  EXPECT_EQ(before.size(), 3u);
  TabletServer* const dead = peer.Servers()[1];
  peer.Kill(dead);
  ExpectFilled(table, 0, 60, "w");
  Fill(table, 0, 60, "x");
  ExpectFilled(table, 0, 60, "x");
  EXPECT_FALSE(dead->state().serving());
  peer.ReplaceLostServers();  // the lost servers' files are removed when this returns
  const std::vector<std::string> after = ServerFiles();
  EXPECT_EQ(std::count(after.begin(), after.end(), dead->name()), 0);
  EXPECT_FALSE(file_system_->FileExists(Cat(kPath, "/log/", dead->name())));
  Kill();
  Open(WithServers(2));
  ExpectFilled(OpenTable("t"), 0, 60, "x");
}

TEST_F(LostServerTest, AllServersMayDieOneAfterTheOther) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable("t", 4, 10);
  for (int round = 0; round < 5; ++round) {
    const std::string value = absl::StrCat("r", round, "-");
    Fill(table, 0, 40, value);
    DatabasePeer peer(database_.get());
    for (TabletServer* server : peer.Servers()) peer.Kill(server);
    ExpectFilled(table, 0, 40, value);
  }
  Reopen(WithServers(2));
  ExpectFilled(OpenTable("t"), 0, 40, "r4-");
}

TEST_F(LostServerTest, AServerThatRegainsItsLockContinues) {
  Open(WithServers(1));
  Table* const table = CreateSplitTable("t", 2, 10);
  Fill(table, 0, 20, "v");
  DatabasePeer peer(database_.get());
  int lost = 0;
  int kept = 0;
  for (int round = 0; round < 20; ++round) {
    TabletServer* const server = peer.Servers()[0];
    peer.Expire(server);
    lost += server->state().serving() ? 0 : 1;  // it may have the lock again by now
    Fill(table, 0, 20, Cat("r", round, "-"));
    ExpectFilled(table, 0, 20, Cat("r", round, "-"));
    kept += server->state().serving() ? 1 : 0;
  }
  std::cout << kept << " of 20 times the server regained its lock\n";
  EXPECT_GT(lost, 0);
  EXPECT_GT(kept, 0);
}

// The server is not replaced before the database is closed.
TEST_F(LostServerTest, CallsThatWaitForATabletAccumulateNothingAndDoNotBlockClose) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable("t", 4, 10);
  Fill(table, 0, 40, "v");
  DatabasePeer peer(database_.get());
  std::atomic<bool> may_replace{false};
  peer.OnMasterStep([&] {
    while (!may_replace) absl::SleepFor(absl::Milliseconds(1));
  });
  peer.Kill(peer.Servers()[0]);
  std::vector<std::thread> callers;
  for (const bool writes : {false, true}) {
    callers.emplace_back([&, writes] {
      absl::Status status;
      for (int row = 0; row < 40 && status.ok(); ++row) {
        RowMutation mutation(RowOf(row));
        mutation.Set("f:q", "w");
        status = writes ? table->Apply(mutation) : table->ReadRow(RowOf(row)).status();
      }
      EXPECT_STATUS(kFailedPrecondition, "closed", status);
    });
  }
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_LT(peer.RetiredRoutes(), 10u);
  std::thread closer([&] { database_->Close().IgnoreError(); });
  for (std::thread& caller : callers) caller.join();
  may_replace = true;
  closer.join();
}

TEST_F(LostServerTest, AServerWhoseFileIsFencedEnds) {
  Open(WithServers(1));
  Table* const table = CreateSplitTable("t", 2, 10);
  Fill(table, 0, 20, "v");
  DatabasePeer peer(database_.get());
  TabletServer* const server = peer.Servers()[0];
  peer.Kill(server);
  peer.ReplaceLostServers();
  EXPECT_EQ(server->state().Renew(), ServerLock::State::kLost);
  EXPECT_FALSE(server->state().serving());
  ExpectFilled(table, 0, 20, "v");
}

TEST_F(LostServerTest, RowsAndSnapshotsFromBeforeStayUnchanged) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable("t", 4, 10);
  Fill(table, 0, 40, "v");
  const auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  RowReader reader = table->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  Fill(table, 0, 40, "w");
  DatabasePeer peer(database_.get());
  for (TabletServer* server : peer.Servers()) peer.Kill(server);
  Fill(table, 0, 40, "x");
  ASSERT_OK(database_->Compact("t"));
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(Show(reader.row()), Cat("f:q@1=v", i));
    ASSERT_EQ(reader.Next(), i < 39);
    ASSERT_EQ(Show(table->ReadRow(RowOf(i), {}, {.snapshot = *snapshot})), Cat("f:q@1=v", i));
  }
  ExpectFilled(table, 0, 40, "x");
}

// A change of a rule has a sequence number, which every server of the table gets. It is larger than
// those of the writes that the lost server refused, and still has in its log.
TEST_F(LostServerTest, AChangedRuleDoesNotBringBackRefusedWritesOfALostServer) {
  FaultyFileSystem faulty(file_system_.get(), {.hide_log_mappings = true});
  DatabaseOptions options = WithServers(2);
  options.file_system = &faulty;
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  Table* const table = CreateStillTable();
  Fill(table, 0, 10);
  faulty.FailCalls({{FileCall::kLogSync}, "/log/server-"}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync",
                table->Apply(RowMutation(RowOf(5)).Set("f:q", Timestamp(1), "refused"),
                             {.durability = Durability::kSync}));
  faulty.ClearFaults();
  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(3)}));
  DatabasePeer peer(database_.get());
  peer.Kill(peer.Hosts()[static_cast<size_t>(Tablets("t")[0].server)]->server());
  ExpectFilled(table, 0, 10);
  database_.reset();  // before its file system
}

TEST_F(LostServerTest, ServerTimesIncreaseAcrossServers) {
  Open(WithServers(1));
  Table* const table = CreateSplitTable("t", 1, 10);
  clock_.Set(1000);
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "1")));
  clock_.Set(500);
  DatabasePeer peer(database_.get());
  peer.Kill(peer.Servers()[0]);
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "2")));
  EXPECT_EQ(Show(table->ReadRow("a")), "f:q@1001=2 f:q@1000=1");
}

TEST_F(LostServerTest, ADeadlineEndsTheWaitForTheNextServer) {
  const std::unique_ptr<InMemoryFileSystem> memory = std::move(file_system_);
  FaultyFileSystem faulty(memory.get());
  DatabaseOptions options = WithServers(1);
  options.file_system = &faulty;
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  Table* const table = CreateSplitTable("t", 1, 10);
  Fill(table, 0, 5, "v");
  // No server can take over while no log can be created.
  faulty.FailCalls({.kinds = {FileCall::kNewLogFile}}, absl::UnavailableError("not now"));
  DatabasePeer peer(database_.get());
  peer.Kill(peer.Servers()[0]);
  RowMutation mutation(RowOf(1));
  mutation.Set("f:q", Timestamp(1), "w");
  const absl::Time soon = absl::Now() + absl::Milliseconds(20);
  EXPECT_STATUS(kDeadlineExceeded, "", table->Apply(mutation, {.deadline = soon}));
  EXPECT_STATUS(kDeadlineExceeded, "", table->ReadRow(RowOf(1), {}, {.deadline = soon}).status());
  faulty.ClearFaults();
  peer.ReplaceLostServers();
  ExpectFilled(table, 0, 5, "v");
  ASSERT_OK(database_->Close());
  database_.reset();
}

TEST_F(LostServerTest, ClosingWaitsForAServerToBeReplaced) {
  for (int i = 0; i < 20; ++i) {
    Open(WithServers(2));
    if (i == 0) CreateSplitTable("t", 4, 5);
    Fill(OpenTable("t"), 0, 20, Cat("r", i, "-"));
    DatabasePeer peer(database_.get());
    peer.Kill(peer.Servers()[0]);
    ASSERT_OK(database_->Close());
    database_.reset();
    EXPECT_TRUE(ServerFiles().empty());
  }
  Open(WithServers(1));
  ExpectFilled(OpenTable("t"), 0, 20, "r19-");
}

}  // namespace
}  // namespace bigtable
