// METADATA in several tablets, the levels of its lookup, and the death of its servers.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class MetadataTest : public TabletsFixture {
 protected:
  static constexpr int kTablets = 300;

  static DatabaseOptions WithSmallTablets(DatabaseOptions options) {
    options.metadata_tablet_size = 4 << 10;
    options.tablet_servers = 2;
    return options;
  }
  // METADATA is split by its own size: its rows for many tablets and their files.
  void OpenWithMetadataSplit() {
    ASSERT_NO_FATAL_FAILURE(Open(WithSmallTablets(Options())));
    Table* const table = CreateSplitTable("t", kTablets, 1);
    Fill(table, 0, kTablets, "v");
    ASSERT_OK(database_->Flush("t"));
    ASSERT_NO_FATAL_FAILURE(Reopen(WithSmallTablets(Options())));  // METADATA is in SSTables
    Fill(OpenTable("t"), 0, kTablets, "w");
    ASSERT_OK(database_->Flush("t"));
    ASSERT_NO_FATAL_FAILURE(AwaitMetadataSplit());
  }
  void AwaitMetadataSplit() {
    for (int i = 0; i < 5000 && Peer().MetadataTablets().size() < 3; ++i) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    ASSERT_GE(Peer().MetadataTablets().size(), 3u);
  }
  // Opens on an empty file system with faults.
  void OpenFaulty(DatabaseOptions options) {
    database_.reset();
    faulty_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    ASSERT_NO_FATAL_FAILURE(OpenFaultyAgain(options));
  }
  // Opens on the current file system, with its faults.
  void OpenFaultyAgain(DatabaseOptions options) {
    options.file_system = faulty_.get();
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  }
  void TearDown() override { database_.reset(); }  // before its file system
  DatabasePeer Peer() { return DatabasePeer(database_.get()); }
  std::string NameOf(ServerRole role) {
    const std::vector<TabletServer*> servers = Peer().ServersOf(role);
    return servers.empty() ? "" : servers[0]->name();
  }
  void KillAndReplace(ServerRole role) {
    const std::string before = NameOf(role);
    ASSERT_NE(before, "");
    Peer().Kill(Peer().ServersOf(role)[0]);
    Peer().ReplaceLostServers(role);
    EXPECT_NE(NameOf(role), "");
    EXPECT_NE(NameOf(role), before);
    EXPECT_FALSE(file_system_->FileExists(Cat(kPath, "/log/", before)));
    EXPECT_FALSE(file_system_->FileExists(Cat(kPath, "/lockservice/servers/", before)));
  }
  LocationStatistics Lookups() { return database_->Statistics().locations; }
  // Makes many changes that need METADATA, in a new table.
  void ChangeTablets(const std::string& name) {
    Table* const table = CreateSplitTable(name, 5, 1);
    Fill(table, 0, 5, "v");
    ASSERT_OK(database_->Flush(name));
    ASSERT_OK(database_->SplitTablet(name, "row00002x"));
    ASSERT_OK(database_->MergeTablets(name, RowOf(1)));
    ASSERT_OK(database_->Compact(name));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, 5, "v"));
  }
  // The same, and moves tablets.
  void ChangeEverything(const std::string& name) {
    ASSERT_NO_FATAL_FAILURE(ChangeTablets(name));
    ASSERT_OK(database_->MoveTablet(name, RowOf(4), 0));
    ASSERT_OK(database_->MoveTablet(name, RowOf(4), 1));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable(name), 0, 5, "v"));
  }
  // Flushes METADATA's tablets, and so writes to its root tablet.
  absl::Status FlushMetadata() {
    Peer().ServersOf(ServerRole::kMetadata)[0]->rotation().RotateEverything();
    return database_->WaitUntilQuiet();
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
};

TEST_F(MetadataTest, ItsTabletsAreSplitBySizeAndFoundAgain) {
  ASSERT_NO_FATAL_FAILURE(OpenWithMetadataSplit());
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "w"));
  ASSERT_NO_FATAL_FAILURE(ChangeEverything("u"));
  const std::vector<std::string> tablets = Peer().MetadataTablets();
  ASSERT_NO_FATAL_FAILURE(Reopen(WithSmallTablets(Options())));
  EXPECT_GE(Peer().MetadataTablets().size(), tablets.size());
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "w"));
  Kill();
  ASSERT_NO_FATAL_FAILURE(Open(WithSmallTablets(Options())));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "w"));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("u"), 0, 5, "v"));
  ASSERT_NO_FATAL_FAILURE(ChangeEverything("x"));
  DatabaseOptions read_only = WithSmallTablets(Options());
  read_only.read_only = true;
  Kill();
  ASSERT_NO_FATAL_FAILURE(Open(read_only));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "w"));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("x"), 0, 5, "v"));
}

TEST_F(MetadataTest, WithoutASizeItIsNotSplit) {
  DatabaseOptions options = Options();
  options.metadata_tablet_size = 0;
  ASSERT_NO_FATAL_FAILURE(Open(options));
  Fill(CreateSplitTable("t", kTablets, 1), 0, kTablets, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Reopen(options));
  Fill(OpenTable("t"), 0, kTablets, "w");
  ASSERT_OK(database_->Flush("t"));  // sizes are checked after a flush
  absl::SleepFor(absl::Milliseconds(100));
  EXPECT_EQ(Peer().MetadataTablets().size(), 1u);
}

TEST_F(MetadataTest, OpeningsDoNotAccumulateFiles) {
  ASSERT_NO_FATAL_FAILURE(Open(Options()));
  Set(CreateTable("t", {"f"}), "a", "f:q", 1, "v");
  for (int i = 0; i < 40; ++i) {
    ASSERT_NO_FATAL_FAILURE(Reopen(Options()));
    ASSERT_OK(database_->WaitUntilQuiet());
  }
  ASSERT_OK_AND_ASSIGN(const auto files, file_system_->ListDirectory(absl::StrCat(kPath, "/sst")));
  EXPECT_LT(files.size(), 30u);
}

// A flush of all tablets of a server needs some commits for each METADATA tablet that has their
// rows.
TEST_F(MetadataTest, AFlushIsCommittedToEachMetadataTabletSeparately) {
  ASSERT_NO_FATAL_FAILURE(OpenWithMetadataSplit());
  Table* const table = OpenTable("t");
  Fill(table, 0, kTablets, "x");
  const auto commits = [&] {
    return Peer().ServersOf(ServerRole::kMetadata)[0]->log().statistics().records;
  };
  const uint64_t before = commits();
  const DatabaseStatistics earlier = database_->Statistics();
  for (TabletServer* server : Peer().Servers()) server->rotation().RotateEverything();
  ASSERT_OK(database_->WaitUntilQuiet());
  const DatabaseStatistics now = database_->Statistics();
  EXPECT_GE(now.minor_compactions, earlier.minor_compactions + kTablets);
  const uint64_t merges = now.merging_compactions - earlier.merging_compactions;
  EXPECT_GE(commits(), before + 3);
  EXPECT_LE(commits(), before + merges + 60);
  Kill();
  ASSERT_NO_FATAL_FAILURE(Open(WithSmallTablets(Options())));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "x"));
}

TEST_F(MetadataTest, ADeletedTableIsRemovedFromAllItsTablets) {
  ASSERT_NO_FATAL_FAILURE(OpenWithMetadataSplit());
  ASSERT_OK(database_->DeleteTable("t"));
  ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> tables, Peer().TablesOfMetadata());
  EXPECT_THAT(tables, testing::IsEmpty());
  ASSERT_NO_FATAL_FAILURE(Reopen(WithSmallTablets(Options())));
  ASSERT_NO_FATAL_FAILURE(ChangeEverything("t"));
}

TEST_F(MetadataTest, SweepingKeepsFilesThatAnyOfItsTabletsNames) {
  ASSERT_NO_FATAL_FAILURE(OpenWithMetadataSplit());
  ASSERT_OK(Peer().SweepFiles());
  Kill();
  ASSERT_NO_FATAL_FAILURE(Open(WithSmallTablets(Options())));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "w"));
}

// --- Levels ---

TEST_F(MetadataTest, ALevelIsQueriedOnlyForLocationsUnknownBelow) {
  ASSERT_NO_FATAL_FAILURE(OpenWithMetadataSplit());
  Table* const table = OpenTable("t");
  const auto read = [&] {
    for (int i = 0; i < kTablets; ++i) ASSERT_OK(table->ReadRow(RowOf(i)));
  };
  read();
  const LocationStatistics known = Lookups();
  EXPECT_GE(known.root_tablet_lookups, 1u);
  EXPECT_GE(known.root_file_lookups, 1u);
  read();
  EXPECT_EQ(Lookups().lookups, known.lookups);
  // The user tablets' locations become obsolete: METADATA's tablets are queried, for many at a
  // time.
  for (TabletServer* server : Peer().Servers()) Peer().Kill(server);
  Peer().ReplaceLostServers();
  const LocationStatistics before = Lookups();
  read();
  const LocationStatistics after = Lookups();
  EXPECT_GE(after.lookups, before.lookups + 1);
  EXPECT_LE(after.lookups, before.lookups + kTablets / 10);
  EXPECT_EQ(after.root_tablet_lookups, before.root_tablet_lookups);
  EXPECT_EQ(after.root_file_lookups, before.root_file_lookups);
  // METADATA's server was replaced: the root tablet is queried for METADATA's tablets.
  ASSERT_NO_FATAL_FAILURE(KillAndReplace(ServerRole::kMetadata));
  for (TabletServer* server : Peer().Servers()) Peer().Kill(server);
  Peer().ReplaceLostServers();
  read();
  const LocationStatistics replaced = Lookups();
  EXPECT_GE(replaced.root_tablet_lookups, after.root_tablet_lookups + 1);
  EXPECT_LE(replaced.root_tablet_lookups, after.root_tablet_lookups + 20);
  EXPECT_EQ(replaced.root_file_lookups, after.root_file_lookups);
  // The root tablet has moved: the file is queried by the next call that needs the root tablet.
  ASSERT_NO_FATAL_FAILURE(KillAndReplace(ServerRole::kRoot));
  ASSERT_NO_FATAL_FAILURE(KillAndReplace(ServerRole::kMetadata));
  read();
  EXPECT_GE(Lookups().root_file_lookups, replaced.root_file_lookups + 1);
}

// --- Its servers die ---

TEST_F(MetadataTest, ItsServersAreReplaced) {
  ASSERT_NO_FATAL_FAILURE(OpenWithMetadataSplit());
  int n = 0;
  for (const ServerRole role : {ServerRole::kRoot, ServerRole::kMetadata, ServerRole::kRoot}) {
    ASSERT_NO_FATAL_FAILURE(KillAndReplace(role));
    ASSERT_NO_FATAL_FAILURE(ChangeEverything(absl::StrCat("u", ++n)));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "w"));
  }
  Kill();
  ASSERT_NO_FATAL_FAILURE(Open(WithSmallTablets(Options())));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "w"));
  for (; n > 0; --n) {
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable(absl::StrCat("u", n)), 0, 5, "v"));
  }
}

// Servers of both METADATA roles, and of all roles, at once: no thread waits for one that waits for
// it.
TEST_F(MetadataTest, AllServersMayDieAtOnce) {
  ASSERT_NO_FATAL_FAILURE(OpenWithMetadataSplit());
  for (int round = 0; round < 5; ++round) {
    for (const ServerRole role : kServerRoles) {
      for (TabletServer* server : Peer().ServersOf(role)) Peer().Kill(server);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kTablets, "w"));
    ASSERT_NO_FATAL_FAILURE(ChangeEverything(absl::StrCat("u", round)));
  }
}

TEST_F(MetadataTest, TheyRecoverFromALostSession) {
  ASSERT_NO_FATAL_FAILURE(Open());
  int round = 0;
  for (const ServerRole role : kMetadataRoles) {
    for (int i = 0; i < 5; ++i) {
      Peer().Expire(Peer().HostsOf(role)[0]->server());
      ASSERT_NO_FATAL_FAILURE(ChangeTablets(absl::StrCat("t", round++)));
    }
  }
}

// A change that is under way when METADATA's server is lost is still made.
TEST_F(MetadataTest, AChangeContinuesWithTheNextServer) {
  for (const ServerRole role : kMetadataRoles) {
    ASSERT_NO_FATAL_FAILURE(OpenFaulty(Options()));
    CreateSplitTable("t", 3, 1);
    Fill(OpenTable("t"), 0, 3, "v");
    ASSERT_OK(database_->WaitUntilQuiet());
    // In the log, and not acknowledged.
    faulty_->StallCalls({{FileCall::kLogSync}, Cat("/log/", NameOf(role))});
    absl::Status change;
    std::thread changer([&] {
      change = role == ServerRole::kMetadata ? database_->SplitTablet("t", "row00001x")
                                             : FlushMetadata();
    });
    ASSERT_TRUE(faulty_->WaitUntilStalled(1));
    Peer().Kill(Peer().ServersOf(role)[0]);
    absl::SleepFor(absl::Milliseconds(20));
    faulty_->ReleaseCalls();
    changer.join();
    EXPECT_OK(change);
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 3, "v"));
    ASSERT_NO_FATAL_FAILURE(ChangeTablets("u"));
    ASSERT_OK(database_->Close());
    database_.reset();
    ASSERT_NO_FATAL_FAILURE(OpenFaultyAgain(Options()));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 3, "v"));
    database_.reset();
  }
}

TEST_F(MetadataTest, ALogThatFailsIsResumed) {
  for (const ServerRole role : kMetadataRoles) {
    ASSERT_NO_FATAL_FAILURE(OpenFaulty(Options()));
    CreateSplitTable("t", 3, 1);
    Fill(OpenTable("t"), 0, 3, "v");
    ASSERT_OK(database_->WaitUntilQuiet());
    faulty_->FailCalls({{FileCall::kLogSync}, Cat("/log/", NameOf(role))},
                       absl::UnavailableError("no sync"));
    const absl::Status changed =
        role == ServerRole::kMetadata ? database_->SplitTablet("t", "row00001x") : FlushMetadata();
    EXPECT_STATUS(kUnavailable, "no sync", changed);
    faulty_->ClearFaults();
    ASSERT_OK(database_->Resume());
    ASSERT_NO_FATAL_FAILURE(ChangeTablets("u"));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 3, "v"));
    ASSERT_OK(database_->Close());
    ASSERT_NO_FATAL_FAILURE(OpenFaultyAgain(Options()));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 3, "v"));
    ASSERT_OK(database_->Close());
    database_.reset();
  }
}

// A METADATA server names files in a mutation that it cannot sync. The files are swept once the
// server is replaced. A later process must not find the mutation in the old log.
TEST_F(MetadataTest, RefusedMutationsOfALostServerAreNeverFound) {
  ASSERT_NO_FATAL_FAILURE(OpenFaulty(Options()));
  CreateSplitTable("t", 3, 1);
  Fill(OpenTable("t"), 0, 3, "v");
  ASSERT_OK(database_->WaitUntilQuiet());
  faulty_->FailCalls({{FileCall::kLogSync}, "/log/metadata-"}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", database_->Flush("t"));
  faulty_->ClearFaults();
  faulty_->FailCalls({{FileCall::kRemoveFile}, "/log/metadata-"},
                     absl::UnavailableError("not now"));
  Peer().Kill(Peer().ServersOf(ServerRole::kMetadata)[0]);
  Peer().ReplaceLostServers(ServerRole::kMetadata);  // but its log is kept
  ASSERT_EQ(Peer().MetadataTablets().size(), 1u);
  ASSERT_OK(Peer().SweepFiles());
  const auto later = file_system_->CrashClone(1, Unsynced::kEverything);
  database_.reset();
  DatabaseOptions options = Options();
  options.file_system = later.get();
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 3, "v"));
  ASSERT_OK(database_->Close());
  database_.reset();
}

// Nothing needs a flush, but the close is still not clean.
TEST_F(MetadataTest, CloseReportsAServerThatWasNotReplaced) {
  for (const ServerRole role : kMetadataRoles) {
    ASSERT_NO_FATAL_FAILURE(OpenFaulty(Options()));
    const std::string name = Cat("t-", NameOfRole(role));
    CreateSplitTable(name, 3, 1);
    Fill(OpenTable(name), 0, 3, "v");
    ASSERT_OK(database_->Flush(name));
    faulty_->FailCalls({.kinds = {FileCall::kNewLogFile}}, absl::UnavailableError("not now"));
    Peer().Kill(Peer().ServersOf(role)[0]);
    Peer().ReplaceLostServers(role);
    EXPECT_STATUS(kUnavailable, "", database_->Close());
    database_.reset();
    faulty_->ClearFaults();
    ASSERT_NO_FATAL_FAILURE(OpenFaultyAgain(Options()));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable(name), 0, 3, "v"));
    ASSERT_OK(database_->Close());
  }
  database_.reset();
}

// A split of METADATA, which is two mutations of its root tablet, is interrupted at each call of
// the file system. Then the power is lost.
TEST_F(MetadataTest, ItsSplitMayFailAnywhere) {
  int splits = 0;
  for (uint64_t call = 1, whole = 0; whole < 3 && call < 200; call += kSlow ? 2 : 1) {
    SCOPED_TRACE(Cat("call ", call));
    DatabaseOptions options = Options();
    options.durability = Durability::kSync;
    ASSERT_NO_FATAL_FAILURE(OpenFaulty(options));
    CreateSplitTable("t", 20, 1);
    Fill(OpenTable("t"), 0, 20, "v");
    ASSERT_OK(FlushMetadata());
    ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> tables, Peer().TablesOfMetadata());
    const std::string middle = MetadataRow({tables.at(0), RowOf(10)});
    faulty_->CountCalls();
    faulty_->FailCall(call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn);
    splits += Peer().SplitMetadata(middle).ok() ? 1 : 0;
    whole += faulty_->faults() == 0 ? 1 : 0;
    for (const Unsynced unsynced : {Unsynced::kNothing, Unsynced::kRandomPart}) {
      const auto found = file_system_->CrashClone(call, unsynced);
      DatabaseOptions after = options;
      after.file_system = found.get();
      for (const bool read_only : {true, false}) {
        after.read_only = read_only;
        ASSERT_OK_AND_ASSIGN(const auto opened, Database::Open(kPath, after));
        ASSERT_OK_AND_ASSIGN(Table* const table, opened->OpenTable("t"));
        ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, 20, "v"));
      }
    }
    database_.reset();
  }
  EXPECT_GE(splits, 3);
}

// A METADATA server that cannot be replaced does not keep the database from being closed. Data that
// was not flushed is in the logs.
TEST_F(MetadataTest, CloseDoesNotWaitForever) {
  ASSERT_NO_FATAL_FAILURE(OpenFaulty(Options()));
  CreateSplitTable("t", 3, 1);
  Fill(OpenTable("t"), 0, 3, "v");
  faulty_->FailCalls({.kinds = {FileCall::kNewLogFile}}, absl::UnavailableError("not now"));
  Peer().Kill(Peer().ServersOf(ServerRole::kMetadata)[0]);
  Peer().ReplaceLostServers(ServerRole::kMetadata);
  // The flush waits for METADATA, and so does the flush thread.
  absl::Status flushed;
  std::thread flusher([&] { flushed = database_->Flush("t"); });
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_FALSE(database_->Close().ok());
  flusher.join();
  EXPECT_FALSE(flushed.ok());
  database_.reset();
  faulty_->ClearFaults();
  ASSERT_NO_FATAL_FAILURE(OpenFaultyAgain(Options()));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 3, "v"));
  ASSERT_OK(database_->Close());
  database_.reset();
}

}  // namespace
}  // namespace bigtable
