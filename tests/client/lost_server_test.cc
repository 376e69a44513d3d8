// Tablet servers die or lose their sessions, and others take their tablets.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "filesystem/faulty_file_system.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

std::string RowOf(int i) { return absl::StrFormat("row%05d", i); }

class LostServerTest : public DatabaseFixture {
 protected:
  DatabaseOptions WithServers(int servers) {
    DatabaseOptions options = Options();
    options.tablet_servers = servers;
    return options;
  }
  // With tablets that begin at rows 0, `each`, 2 * `each`, ...
  Table* CreateSplitTable(int tablets, int each) {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = 0;
    CreateTableOptions options;
    for (int i = 1; i < tablets; ++i) options.split_rows.push_back(RowOf(i * each));
    EXPECT_OK(database_->CreateTable("t", schema, options));
    return OpenTable("t");
  }
  static void Fill(Table* table, int begin, int end, std::string_view value) {
    for (int i = begin; i < end; ++i) Set(table, RowOf(i), "f:q", 1, Cat(value, i));
  }
  static void ExpectFilled(Table* table, int begin, int end, std::string_view value) {
    int i = begin;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      ASSERT_EQ(row.key(), RowOf(i));
      ASSERT_EQ(Show(row), Cat("f:q@1=", value, i));
      ASSERT_EQ(Show(table->ReadRow(row.key())), Cat("f:q@1=", value, i));
      ++i;
    }
    EXPECT_OK(reader.status());
    EXPECT_EQ(i, end);
  }
  std::vector<std::string> ServerFiles() {
    auto names = file_system_->ListDirectory(absl::StrCat(kPath, "/lockservice/servers"));
    EXPECT_OK(names);
    std::erase_if(*names, [](const std::string& name) { return !name.starts_with("server-"); });
    return *names;
  }
};

TEST_F(LostServerTest, TheTabletsOfADeadServerAreServedByOthers) {
  Open(WithServers(3));
  Table* const table = CreateSplitTable(6, 10);
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
  EXPECT_FALSE(dead->serving());
  peer.ReplaceLostServers();  // has the files removed when this returns
  const std::vector<std::string> after = ServerFiles();
  EXPECT_EQ(std::count(after.begin(), after.end(), dead->name()), 0);
  EXPECT_FALSE(file_system_->FileExists(Cat(kPath, "/log/", dead->name())));
  Kill();
  Open(WithServers(2));
  ExpectFilled(OpenTable("t"), 0, 60, "x");
}

TEST_F(LostServerTest, AllServersMayDieOneAfterTheOther) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable(4, 10);
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

TEST_F(LostServerTest, AServerThatGetsItsLockBackGoesOn) {
  Open(WithServers(1));
  Table* const table = CreateSplitTable(2, 10);
  Fill(table, 0, 20, "v");
  DatabasePeer peer(database_.get());
  int kept = 0;
  for (int round = 0; round < 20; ++round) {
    TabletServer* const server = peer.Servers()[0];
    peer.Expire(server);
    EXPECT_FALSE(server->serving());
    Fill(table, 0, 20, Cat("r", round, "-"));
    ExpectFilled(table, 0, 20, Cat("r", round, "-"));
    kept += server->serving() ? 1 : 0;
  }
  std::cout << kept << " of 20 times the server had its lock again\n";
  EXPECT_GT(kept, 0);
}

// Nobody replaces the server before the database is closed.
TEST_F(LostServerTest, WhoWaitsForATabletPilesUpNothingAndDoesNotKeepTheDatabaseOpen) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable(4, 10);
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

TEST_F(LostServerTest, AServerWhoseFileIsSealedEnds) {
  Open(WithServers(1));
  Table* const table = CreateSplitTable(2, 10);
  Fill(table, 0, 20, "v");
  DatabasePeer peer(database_.get());
  TabletServer* const server = peer.Servers()[0];
  peer.Kill(server);
  peer.ReplaceLostServers();
  EXPECT_EQ(server->RenewLock(), ServerLock::State::kLost);
  EXPECT_FALSE(server->serving());
  ExpectFilled(table, 0, 20, "v");
}

TEST_F(LostServerTest, WhatIsHeldFromBeforeStaysAsItWas) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable(4, 10);
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

TEST_F(LostServerTest, ServerTimesIncreaseAcrossServers) {
  Open(WithServers(1));
  Table* const table = CreateSplitTable(1, 10);
  clock_.Set(1000);
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "1")));
  clock_.Set(500);
  DatabasePeer peer(database_.get());
  peer.Kill(peer.Servers()[0]);
  ASSERT_OK(table->Apply(RowMutation("a").Set("f:q", "2")));
  EXPECT_EQ(Show(table->ReadRow("a")), "f:q@1001=2 f:q@1000=1");
}

TEST_F(LostServerTest, ADeadlineEndsTheWaitForAnotherServer) {
  const std::unique_ptr<InMemoryFileSystem> memory = std::move(file_system_);
  FaultyFileSystem faulty(memory.get());
  DatabaseOptions options = WithServers(1);
  options.file_system = &faulty;
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  Table* const table = CreateSplitTable(1, 10);
  Fill(table, 0, 5, "v");
  // Nobody can take over while no log can be created.
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
    if (i == 0) CreateSplitTable(4, 5);
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

// Each call of the file system that a replacement makes fails in turn: once, and it is tried again;
// or from then on, and the power is lost, and the next opening does it.
TEST_F(LostServerTest, AReplacementMayFailAnywhere) {
  for (const bool power : {false, true}) {
    for (uint64_t call = 1, whole = 0; whole < 3 && call < 200; call += power ? 3 : 1) {
      SCOPED_TRACE(Cat(power ? "power, " : "", "call ", call));
      InMemoryFileSystem memory;
      FaultyFileSystem faulty(&memory);
      DatabaseOptions options = WithServers(2);
      options.file_system = &faulty;
      options.durability = Durability::kSync;
      ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
      Table* const table = CreateSplitTable(4, 5);
      Fill(table, 0, 20, "v");
      ASSERT_OK(database_->Flush("t"));
      Fill(table, 0, 20, "w");
      ASSERT_OK(database_->WaitUntilQuiet());
      DatabasePeer peer(database_.get());
      TabletServer* const dead = peer.Servers()[0];
      faulty.CountCalls();
      faulty.FailCall(
          call, absl::UnavailableError("a fault"),
          power ? FaultyFileSystem::Repeat::kFromThenOn : FaultyFileSystem::Repeat::kOnce);
      peer.Kill(dead);
      peer.ReplaceLostServers();
      whole += faulty.faults() == 0 ? 1 : 0;
      if (power) {
        const auto found = memory.CrashClone(call, Unsynced::kRandomPart);
        options.file_system = found.get();
        database_.reset();
        ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
        ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 20, "w"));
        ASSERT_OK(database_->Close());
        database_.reset();
        continue;
      }
      faulty.ClearFaults();
      if (!database_->Statistics().background_error.ok()) {
        ASSERT_OK(database_->Resume());
      }
      peer.ReplaceLostServers();
      ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, 20, "w"));
      Fill(table, 0, 20, "x");
      ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, 20, "x"));
      ASSERT_OK(database_->Close());
      ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
      ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 20, "x"));
      ASSERT_OK(database_->Close());
      database_.reset();
    }
  }
}

// --- A call on the log hangs, and the server is lost ---

// The parameter: whether log files are mapped, so that only syncs can hang.
class LostServerStallConcurrencyTest : public LostServerTest,
                                       public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    faulty_ = std::make_unique<FaultyFileSystem>(
        file_system_.get(), FaultyFileSystem::Options{.hide_log_mappings = !GetParam()});
    DatabaseOptions options = WithServers(1);
    options.file_system = faulty_.get();
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    table_ = CreateSplitTable(1, 10);
    Fill(table_, 0, 10, "v");
    ASSERT_OK(database_->WaitUntilQuiet());  // the log's other file is there
    peer_.emplace(database_.get());
    server_ = peer_->Servers()[0];
  }
  void TearDown() override {
    if (faulty_ != nullptr) faulty_->ReleaseCalls();
    if (hanging_.joinable()) hanging_.join();
    database_.reset();
  }
  // A synced write whose call on the log hangs.
  void WriteAndHang(int row) {
    std::vector<FileCall> kinds = {FileCall::kLogSync};
    if (!GetParam()) kinds.push_back(FileCall::kLogWrite);
    faulty_->StallOneFile(
        {.kinds = kinds, .path_contains = absl::StrCat("/log/", server_->name(), "/0")});
    hanging_ = std::thread([this, row] {
      RowMutation mutation(RowOf(row));
      mutation.Set("f:q", Timestamp(1), absl::StrCat("v", row));
      outcome_ = table_->Apply(mutation, {.durability = Durability::kSync});
    });
    ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  }
  // Lets the call go, and returns what the write comes to.
  absl::Status Return() {
    EXPECT_EQ(faulty_->stalled(), 1);
    faulty_->ReleaseCalls();
    hanging_.join();
    return outcome_;
  }
  bool HasLog(const TabletServer* server) {
    return file_system_->FileExists(Cat(kPath, "/log/", server->name()));
  }
  void ExpectRows(int end) {
    ExpectFilled(table_, 0, end, "v");
    ASSERT_OK(database_->Close());
    database_.reset();
    Open(WithServers(1));
    ExpectFilled(OpenTable("t"), 0, end, "v");
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
  std::optional<DatabasePeer> peer_;
  Table* table_ = nullptr;
  TabletServer* server_ = nullptr;
  std::thread hanging_;
  absl::Status outcome_;
};
INSTANTIATE_TEST_SUITE_P(Ways, LostServerStallConcurrencyTest, testing::Bool(),
                         [](const auto& param_info) {
                           return param_info.param ? "Mapped" : "Written";
                         });

TEST_P(LostServerStallConcurrencyTest, WhatWasAcknowledgedByWhoTookOverIsFound) {
  ASSERT_NO_FATAL_FAILURE(WriteAndHang(10));
  Fill(table_, 11, 12, "v");
  EXPECT_EQ(database_->Statistics().log_switches, 1u);
  ExpectFilled(table_, 0, 12, "v");
  peer_->Kill(server_);
  peer_->ReplaceLostServers();
  EXPECT_FALSE(HasLog(server_));
  ExpectFilled(table_, 0, 12, "v");
  Fill(table_, 12, 20, "v");
  EXPECT_OK(Return());
  ExpectRows(20);
}

TEST_P(LostServerStallConcurrencyTest, WhatWasNotAcknowledgedIsNeverSeen) {
  ASSERT_NO_FATAL_FAILURE(WriteAndHang(10));
  server_->Abandon();
  // Who takes over finds the server lost, and does not acknowledge; its own write is made
  // elsewhere.
  std::thread other([&] {
    while (database_->Statistics().log_switches == 0) absl::SleepFor(absl::Milliseconds(1));
    peer_->ReplaceLostServers();
  });
  Set(table_, RowOf(9), "f:q", 1, "v9");
  other.join();
  EXPECT_FALSE(HasLog(server_));
  ExpectFilled(table_, 0, 10, "v");
  EXPECT_STATUS(kUnavailable, "lost its lock", Return());
  ExpectRows(10);
}

// The process dies when others may have gone on without it.
TEST_P(LostServerStallConcurrencyTest, NorIsItFoundByALaterProcess) {
  ASSERT_NO_FATAL_FAILURE(WriteAndHang(10));
  faulty_->FailCalls({.kinds = {FileCall::kNewLogFile}}, absl::UnavailableError("not now"));
  peer_->Kill(server_);
  peer_->ReplaceLostServers();
  EXPECT_TRUE(HasLog(server_));
  std::unique_ptr<InMemoryFileSystem> later = file_system_->CrashClone(1, Unsynced::kEverything);
  faulty_->ClearFaults();
  EXPECT_STATUS(kUnavailable, "lost its lock", Return());
  database_.reset();
  faulty_.reset();
  file_system_ = std::move(later);
  Open(WithServers(1));
  ExpectFilled(OpenTable("t"), 0, 10, "v");
}

TEST_P(LostServerStallConcurrencyTest, ItIsReplacedThoughNobodyElseWrites) {
  ASSERT_NO_FATAL_FAILURE(WriteAndHang(10));
  peer_->Kill(server_);
  peer_->ReplaceLostServers();
  EXPECT_FALSE(HasLog(server_));
  ExpectFilled(table_, 0, 10, "v");
  Fill(table_, 10, 12, "v");
  EXPECT_STATUS(kUnavailable, "lost its lock", Return());
  ExpectRows(12);
}

TEST_P(LostServerStallConcurrencyTest, TheLockMayComeBackBeforeItIsAcknowledged) {
  ASSERT_NO_FATAL_FAILURE(WriteAndHang(10));
  peer_->Expire(server_);
  Fill(table_, 0, 10, "w");
  const bool came_back = server_->serving();
  std::cout << (came_back ? "it came back\n" : "it was replaced\n");
  const std::string expected = came_back ? "f:q@1=v10" : "";
  EXPECT_EQ(Show(table_->ReadRow(RowOf(10))), expected);
  EXPECT_EQ(Return().ok(), came_back);
  EXPECT_EQ(Show(table_->ReadRow(RowOf(10))), expected);
  ASSERT_OK(database_->Close());
  database_.reset();
  Open(WithServers(1));
  EXPECT_EQ(Show(OpenTable("t")->ReadRow(RowOf(10))), expected);
}

// --- Everything at once ---

// A hundred tablets on four servers. Each writer has rows of its own, and knows what is in them;
// scanners see moments that are whole; meanwhile servers are killed, those of METADATA and of its
// root tablet among them, sessions expire, and tablets are split, merged and moved, METADATA's are
// split, and, if the parameter says so, log files stall, or calls go as
// messages through a bad network, which reaches dead servers or not. Nothing that was acknowledged
// is lost, and no row is served twice.
struct RolesSettings {
  std::string name;
  bool stalls = false;
  bool has_network = false;
  bool dead_are_reached = true;
};

class RolesConcurrencyTest : public LostServerTest,
                             public testing::WithParamInterface<RolesSettings> {
 protected:
  bool stalls() const { return GetParam().stalls; }
  void TearDown() override {
    faulty_->ReleaseCalls();
    database_.reset();
  }
  void OpenWithStalls(DatabaseOptions options) {
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    options.file_system = faulty_.get();
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    if (!GetParam().has_network) return;
    DatabasePeer peer(database_.get());
    peer.UseServices([this](ServerHost* host) { return network_.To(host); });
    peer.UseMetadataServices([this](ServerHost* host) { return network_.To(host); });
  }
  void Kill(DatabasePeer* peer, TabletServer* server) {
    if (!GetParam().dead_are_reached) {
      for (const ServerRole role : kServerRoles) {
        for (const auto& host : peer->HostsOf(role)) {
          if (host->server() == server) network_.Disconnect(host.get());
        }
      }
    }
    peer->Kill(server);
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
  FaultyNetwork network_{1, FaultyNetwork::Everything()};
};
INSTANTIATE_TEST_SUITE_P(
    Files, RolesConcurrencyTest,
    testing::Values(RolesSettings{.name = "DoNotStall"},
                    RolesSettings{.name = "Stall", .stalls = true},
                    RolesSettings{.name = "Messages", .has_network = true},
                    RolesSettings{.name = "MessagesAndStall", .stalls = true, .has_network = true},
                    RolesSettings{.name = "MessagesNotToTheDead",
                                  .has_network = true,
                                  .dead_are_reached = false}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(RolesConcurrencyTest, NobodyNotices) {
  constexpr int kWriters = 3;
  constexpr int kRowsEach = 200;
  const int most_servers = stalls() ? 2 : 4;  // so that writers meet where a log stalls
  DatabaseOptions options = WithServers(most_servers);
  options.memory_budget = 64 << 20;
  options.memtable_size = 256 << 10;
  options.metadata_tablet_size = 32 << 10;
  OpenWithStalls(options);
  Table* const table = CreateSplitTable(100, 6);
  DatabasePeer peer(database_.get());
  std::atomic<bool> done{false};
  std::atomic<int64_t> writes{0}, unknown{0}, scans{0}, checks{0}, sweeps{0};
  std::vector<std::vector<int>> acknowledged(kWriters, std::vector<int>(kRowsEach, 0));
  std::vector<std::vector<int>> tried = acknowledged;
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      Random random(static_cast<uint64_t>(w) + 1);
      for (int n = 1; !done && !HasFailure(); ++n) {
        const int r = static_cast<int>(random.Below(kRowsEach));
        const std::string row = RowOf(r * kWriters + w);
        RowMutation mutation(row);
        mutation.Set("f:a", Timestamp(n), std::to_string(n));
        mutation.Set("f:b", Timestamp(n), std::to_string(n));
        tried[w][r] = n;
        const bool sync = stalls() && n % 4 == 0;
        const absl::Status status = table->Apply(
            mutation, {.durability = sync ? Durability::kSync : Durability::kBuffered});
        if (status.ok()) {
          acknowledged[w][r] = n;
          ++writes;
        } else {
          // The server was lost between the log and the acknowledgement.
          ASSERT_TRUE(absl::IsUnavailable(status)) << status;
          ++unknown;
        }
        const auto read = table->ReadRow(row, Filter::Latest(1));
        ASSERT_OK(read);
        if (read->empty()) {
          ASSERT_EQ(acknowledged[w][r], 0);
          continue;
        }
        ASSERT_EQ(read->cells().size(), 2u) << Show(*read);
        ASSERT_EQ(read->cells()[0].value, read->cells()[1].value) << Show(*read);
        const int found = std::stoi(std::string(read->cells()[0].value));
        ASSERT_GE(found, acknowledged[w][r]);
        ASSERT_LE(found, n);
      }
    });
  }
  threads.emplace_back([&] {
    std::map<std::string, int> last;
    while (!done && !HasFailure()) {
      RowReader reader = table->ReadRows(RowRange::All(), Filter::Latest(1));
      size_t seen = 0;
      for (const Row& row : reader) {
        ASSERT_EQ(row.cells().size(), 2u);
        ASSERT_EQ(row.cells()[0].value, row.cells()[1].value);
        int& before = last[std::string(row.key())];
        const int now = std::stoi(std::string(row.cells()[0].value));
        ASSERT_GE(now, before) << row.key();
        before = now;
        ++seen;
      }
      ASSERT_OK(reader.status());
      ASSERT_EQ(seen, last.size());
      ++scans;
    }
  });
  threads.emplace_back([&] {
    while (!done) {
      ASSERT_EQ(peer.ServedTwice(), "");
      ++checks;
      absl::SleepFor(absl::Milliseconds(1));
    }
  });
  threads.emplace_back([&] {
    while (!done) {
      if (peer.SweepFiles().ok()) ++sweeps;  // or the master has just died
      absl::SleepFor(absl::Milliseconds(5));
    }
  });
  if (stalls()) {
    threads.emplace_back([&] {
      while (!done) {
        faulty_->StallOneFile({.kinds = {FileCall::kLogSync}, .path_contains = "/log/server-"});
        faulty_->WaitUntilStalled(1, absl::Milliseconds(100));
        absl::SleepFor(absl::Milliseconds(60));
        faulty_->ReleaseCalls();
      }
    });
  }
  Random random(7);
  std::map<std::string, int> changes;
  std::atomic<int> steps_to_live{0}, masters{0};
  peer.OnMasterStep([&] {
    if (steps_to_live > 0 && --steps_to_live == 0) {
      peer.KillMaster();
      ++masters;
    }
  });
  const absl::Time end = absl::Now() + absl::Seconds(3);
  while (absl::Now() < end && !HasFailure()) {
    const std::string row = RowOf(static_cast<int>(random.Below(kWriters * kRowsEach)));
    const std::vector<TabletServer*> servers = peer.Servers();
    absl::Status status;
    std::string change;
    switch (random.Below(11)) {
      case 0:
      case 1:
        change = "split";
        status = database_->SplitTablet("t", row);
        break;
      case 2:
      case 3: {
        change = "merge";
        const auto tablets = database_->ListTablets("t");
        status = tablets.status();
        if (!tablets.ok()) break;
        const size_t i = 1 + random.Below(tablets->size() - 1);
        status = database_->MergeTablets("t", (*tablets)[i].rows.begin());
        break;
      }
      case 4:
      case 5:
        change = "move";
        status = database_->MoveTablet(
            "t", row, static_cast<int>(random.Below(static_cast<uint64_t>(most_servers))));
        break;
      case 6:
        change = "master";
        // Now, or at one of its next steps.
        steps_to_live = static_cast<int>(random.Below(10));
        if (steps_to_live == 0) peer.KillMaster();
        break;
      case 7:
        if (servers.empty()) break;
        change = "kill";
        Kill(&peer, random.Pick(servers));
        break;
      case 8:
        if (servers.empty()) break;
        change = "expire";
        peer.Expire(random.Pick(servers));
        if (random.OneIn(2)) peer.ReplaceLostServers();
        break;
      default: {
        const bool is_root = random.OneIn(2);
        const std::vector<TabletServer*> of_metadata =
            peer.ServersOf(is_root ? ServerRole::kRoot : ServerRole::kMetadata);
        if (of_metadata.empty()) break;
        change = is_root ? "root" : "METADATA";
        if (random.OneIn(2)) {
          Kill(&peer, of_metadata[0]);
        } else {
          peer.Expire(of_metadata[0]);
        }
        break;
      }
    }
    EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status) || absl::IsNotFound(status) ||
                absl::IsUnavailable(status))
        << change << ": " << status;
    if (status.ok() && !change.empty()) ++changes[change];
  }
  peer.OnMasterStep(nullptr);
  done = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& [change, times] : changes) std::cout << times << " times " << change << ", ";
  std::cout << writes << " writes, " << unknown << " unknown, " << scans << " scans, " << checks
            << " checks, " << sweeps << " sweeps, " << peer.ServersEver().size() << " servers, "
            << database_->Statistics().log_switches << " switches of logs, "
            << peer.MetadataTablets().size() << " tablets of METADATA\n";
  if (GetParam().has_network) std::cout << network_.Describe() << "\n";
  EXPECT_OK(database_->Statistics().background_error);
  for (int round = 0; round < 2; ++round) {
    for (int w = 0; w < kWriters; ++w) {
      for (int r = 0; r < kRowsEach; ++r) {
        const auto read = OpenTable("t")->ReadRow(RowOf(r * kWriters + w), Filter::Latest(1));
        ASSERT_OK(read);
        if (acknowledged[w][r] == 0 && read->empty()) continue;
        ASSERT_FALSE(read->empty());
        const int found = std::stoi(std::string(read->cells()[0].value));
        ASSERT_GE(found, acknowledged[w][r]);
        ASSERT_LE(found, tried[w][r]);
      }
    }
    LostServerTest::Kill();
    Open(WithServers(3));
  }
}

}  // namespace
}  // namespace bigtable
