// The commands of a master to a server: which are refused, what they wait for and how long, and
// that a command that was refused has changed nothing.
#include "cluster/server_host.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/scoped_shortcuts.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class ServerHostTest : public TabletsFixture {
 protected:
  static constexpr MasterEpoch kMaster = UINT64_MAX;
  static constexpr auto kCompact = BackgroundWork::IfStopped::kCompact;

  void SetUp() override {
    DatabaseOptions options = WithServers(1);
    options.file_system = &faulty_;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    Fill(CreateSplitTable("t", 3, 5), 0, 15);
    ASSERT_OK(database_->WaitUntilQuiet());
    host_ = DatabasePeer(database_.get()).Hosts().front();
    ASSERT_OK_AND_ASSIGN(tablets_, host_->Accept(kMaster));
    ASSERT_EQ(tablets_.size(), 3u);
  }
  void TearDown() override {
    faulty_.ReleaseCalls();
    tablets_.clear();
    host_.reset();
    database_.reset();  // before its file system
  }
  static CallLimits Soon() { return {.deadline = Deadline::In(absl::Milliseconds(30))}; }
  uint64_t table_id() const { return tablets_[0]->table_id(); }

  struct Command {
    std::string_view name;
    std::function<absl::Status(MasterEpoch master, const CallLimits& limits)> run;
  };
  // On the first tablets of the table. Each can be the last that succeeds.
  std::vector<Command> Commands() {
    return {
        {"split",
         [this](MasterEpoch master, const CallLimits& limits) {
           return host_->Split(master, table_id(), RowOf(2), limits);
         }},
        {"merge",
         [this](MasterEpoch master, const CallLimits& limits) {
           return host_->Merge(master, tablets_[0]->id(), tablets_[1]->id(), kCompact, limits);
         }},
        {"empty",
         [this](MasterEpoch master, const CallLimits& limits) {
           return host_->Empty(master, tablets_[0]->id(), tablets_[0]->rows(), limits);
         }},
        {"unload",
         [this](MasterEpoch master, const CallLimits& limits) {
           return host_->Unload(master, tablets_[0]->id(), limits);
         }},
    };
  }
  void ExpectUnchanged() {
    EXPECT_EQ(ShowRanges("t"), "[,row00005) [row00005,row00010) [row00010,)");
    EXPECT_EQ(host_->server()->tablets().All(), tablets_);
    Fill(OpenTable("t"), 0, 15, "w");  // no tablet is stopped
    ExpectFilled(OpenTable("t"), 0, 15, "w");
  }
  // Calls `call` while another thread has the turn of the server's writes.
  void InTheTurnOfAnother(const std::function<void()>& call) {
    absl::Notification begun, done;
    std::thread other([&] {
      host_->server()->writer().queue()->RunExclusive([&] {
        begun.Notify();
        done.WaitForNotificationWithTimeout(absl::Seconds(5));
      });
    });
    begun.WaitForNotification();
    call();
    done.Notify();
    other.join();
  }

  FaultyFileSystem faulty_{file_system_.get()};
  std::shared_ptr<ServerHost> host_;
  std::vector<std::shared_ptr<Tablet>> tablets_;
};

TEST_F(ServerHostTest, EachCommandOfAnEarlierMasterIsRefused) {
  const std::string_view replaced = "was replaced by master";
  for (const Command& command : Commands()) {
    SCOPED_TRACE(command.name);
    EXPECT_STATUS(kUnavailable, replaced, command.run(1, {}));
  }
  EXPECT_STATUS(kUnavailable, replaced, host_->Accept(1).status());
  EXPECT_STATUS(kUnavailable, replaced, host_->Start(1));
  EXPECT_STATUS(kUnavailable, replaced,
                host_->Load(1, *tablets_[0]->Layout(), tablets_[0]->id(), {}));
  TableLayout other = *tablets_[0]->Layout();
  other.name = "other";
  EXPECT_STATUS(kUnavailable, replaced, host_->SetLayout(1, other));
  EXPECT_EQ(tablets_[0]->Layout()->name, "t");
  EXPECT_STATUS(kUnavailable, replaced, host_->Drop(1, table_id()).status());
  ExpectUnchanged();
}

TEST_F(ServerHostTest, ACommandPastItsDeadlineChangesNothing) {
  for (const Command& command : Commands()) {
    SCOPED_TRACE(command.name);
    EXPECT_STATUS(kDeadlineExceeded, "",
                  command.run(kMaster, {.deadline = Deadline::In(-absl::Seconds(1))}));
  }
  ExpectUnchanged();
}

TEST_F(ServerHostTest, AServerThatRefusesWritesRefusesCommands) {
  ASSERT_OK(database_->Flush("t"));
  host_->server()->write_error().Set(absl::InternalError("an error"));
  for (const Command& command : Commands()) {
    SCOPED_TRACE(command.name);
    EXPECT_STATUS(kInternal, "an error", command.run(kMaster, {}));
  }
  ASSERT_OK(database_->Resume());
  ExpectUnchanged();
}

TEST_F(ServerHostTest, AClaimedTabletIsAwaitedUntilTheDeadline) {
  ASSERT_OK(database_->Flush("t"));
  BackgroundWork& background = DatabasePeer(database_.get()).cluster()->environment()->background;
  ASSERT_OK(background.ClaimTablet(tablets_[0].get(), {}));
  for (const Command& command : Commands()) {
    SCOPED_TRACE(command.name);
    EXPECT_STATUS(kDeadlineExceeded, "", command.run(kMaster, Soon()));
  }
  background.ReleaseTablet(tablets_[0].get());
  ExpectUnchanged();
  for (const std::shared_ptr<Tablet>& tablet : tablets_) {  // none is claimed any more
    ASSERT_OK(background.ClaimTablet(tablet.get(), Soon()));
    background.ReleaseTablet(tablet.get());
  }
}

// Each has stopped its tablets when METADATA refuses the change.
TEST_F(ServerHostTest, TabletsTakeWritesAgainAfterACommandThatFailsAtItsEnd) {
  const std::shared_ptr<ServerHost> metadata =
      DatabasePeer(database_.get()).HostsOf(ServerRole::kMetadata).front();
  for (const Command& command : Commands()) {
    if (command.name == "unload") continue;  // changes nothing there
    SCOPED_TRACE(command.name);
    ASSERT_OK(database_->Flush("t"));
    metadata->server()->write_error().Set(absl::InternalError("no METADATA"));
    EXPECT_STATUS(kInternal, "no METADATA", command.run(kMaster, {}));
    ASSERT_OK(database_->Resume());
    ExpectUnchanged();
  }
}

TEST_F(ServerHostTest, ATabletWhoseLastMutationsCannotBeFlushedIsNotUnloaded) {
  ASSERT_OK(database_->Flush("t"));
  BackgroundWork& background = DatabasePeer(database_.get()).cluster()->environment()->background;
  ASSERT_OK(background.ClaimTablet(tablets_[0].get(), {}));
  std::thread unloads([&] {
    EXPECT_STATUS(kUnavailable, "no file", host_->Unload(kMaster, tablets_[0]->id(), {}));
  });
  absl::SleepFor(absl::Milliseconds(20));  // it has flushed, and waits for the claim
  Fill(OpenTable("t"), 0, 5, "late");
  faulty_.FailCalls({{FileCall::kNewWritableFile}, ".sst"}, absl::UnavailableError("no file"));
  background.ReleaseTablet(tablets_[0].get());
  unloads.join();
  faulty_.ClearFaults();
  ExpectUnchanged();
}

// What fails may be the write of the location.
TEST_F(ServerHostTest, ATabletIsLoadedAgainWhereItWasWithoutAWrite) {
  ASSERT_OK(database_->Flush("t"));
  for (const ServerRole role : {ServerRole::kUser, ServerRole::kMetadata, ServerRole::kRoot}) {
    host_ = DatabasePeer(database_.get()).HostsOf(role).front();
    ASSERT_OK_AND_ASSIGN(tablets_, host_->Accept(kMaster));
    const std::shared_ptr<Tablet> tablet = tablets_[0];
    ASSERT_OK(host_->Unload(kMaster, tablet->id(), {}));
    const std::string written = role == ServerRole::kUser       ? "/metadata-"
                                : role == ServerRole::kMetadata ? "/root-"
                                                                : "/lockservice/root";
    faulty_.FailCalls({{FileCall::kLogSync, FileCall::kNewWritableFile}, written},
                      absl::UnavailableError("a fault"));
    EXPECT_OK(host_->Load(kMaster, *tablet->Layout(), tablet->id(), {}));
    faulty_.ClearFaults();
  }
  ExpectFilled(OpenTable("t"), 0, 15);
}

TEST_F(ServerHostTest, TheTurnAmongWritesIsAwaitedUntilTheDeadline) {
  ASSERT_OK(database_->Flush("t"));
  InTheTurnOfAnother([&] {
    for (const Command& command : Commands()) {
      SCOPED_TRACE(command.name);
      EXPECT_STATUS(kDeadlineExceeded, "", command.run(kMaster, Soon()));
    }
    EXPECT_STATUS(kDeadlineExceeded, "", host_->AwaitTurn(Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", host_->AwaitTurn(table_id(), Soon()));
    EXPECT_OK(host_->AwaitTurn(table_id() + 1, Soon()));  // there are no tablets of it
  });
  ExpectUnchanged();
  EXPECT_OK(host_->AwaitTurn(table_id(), Soon()));
}

TEST_F(ServerHostTest, AnotherCommandIsAwaitedUntilTheDeadline) {
  ASSERT_OK(database_->Flush("t"));
  faulty_.StallCalls({{FileCall::kNewLogFile, FileCall::kLogSync}, "/metadata-"});
  std::thread other(
      [&] { EXPECT_OK(host_->Empty(kMaster, tablets_[0]->id(), tablets_[0]->rows(), {})); });
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  EXPECT_STATUS(kDeadlineExceeded, "", host_->AwaitTurn(Soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", host_->AwaitTurn(table_id(), Soon()));
  faulty_.ReleaseCalls();
  other.join();
  ExpectFilled(OpenTable("t"), 5, 15);
}

TEST_F(ServerHostTest, TabletsThatAreNotThereAreNotFound) {
  const TabletId unknown{table_id(), "nothing"};
  EXPECT_STATUS(kNotFound, "is not on server", host_->Unload(kMaster, unknown, {}));
  EXPECT_STATUS(kNotFound, "is not on server",
                host_->Merge(kMaster, unknown, tablets_[1]->id(), kCompact, {}));
  EXPECT_STATUS(kNotFound, "is not on server",
                host_->Merge(kMaster, tablets_[0]->id(), unknown, kCompact, {}));
  EXPECT_STATUS(kNotFound, "is not on server",
                host_->Empty(kMaster, unknown, tablets_[0]->rows(), {}));
  EXPECT_STATUS(kNotFound, "is not here", host_->Split(kMaster, table_id() + 1, RowOf(2), {}));
  EXPECT_STATUS(kAlreadyExists, RowOf(5), host_->Split(kMaster, table_id(), RowOf(5), {}));
  // They are no neighbours, or in another order.
  EXPECT_STATUS(kNotFound, "have changed",
                host_->Merge(kMaster, tablets_[0]->id(), tablets_[2]->id(), kCompact, {}));
  EXPECT_STATUS(kNotFound, "have changed",
                host_->Merge(kMaster, tablets_[1]->id(), tablets_[0]->id(), kCompact, {}));
  EXPECT_STATUS(kNotFound, "have changed",
                host_->Merge(kMaster, tablets_[2]->id(), tablets_[0]->id(), kCompact, {}));
  // The tablet with this id has other rows.
  EXPECT_STATUS(kNotFound, "was split or merged",
                host_->Empty(kMaster, tablets_[1]->id(), RowRange::StartingAt(RowOf(5)), {}));
  ExpectUnchanged();
}

TEST_F(ServerHostTest, ADroppedTabletIsErasedOnce) {
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kSharedFiles));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(host_->Split(kMaster, table_id(), RowOf(12), {}));  // the halves share a file
  const auto files = [&] {
    size_t count = 0;
    for (const std::string& path : file_system_->AllFiles()) count += path.ends_with(".sst");
    return count;
  };
  const size_t before = files();
  ASSERT_OK_AND_ASSIGN(const auto dropped, host_->Drop(kMaster, table_id()));
  ASSERT_EQ(dropped.size(), 4u);
  ASSERT_OK_AND_ASSIGN(const auto again, host_->Drop(kMaster, table_id()));
  EXPECT_EQ(again, dropped);
  ASSERT_OK_AND_ASSIGN(const auto others, host_->Drop(kMaster, table_id() + 1));
  EXPECT_TRUE(others.empty());
  host_->Erase(dropped[3]);
  host_->Erase(dropped[3]);
  EXPECT_EQ(files(), before);  // the other half has the file
  host_->Erase(dropped[2]);
  EXPECT_EQ(files(), before - 1);
  ASSERT_OK_AND_ASSIGN(const auto left, host_->Drop(kMaster, table_id()));
  EXPECT_EQ(left.size(), 2u);
}

TEST_F(ServerHostTest, TheLoadOfTabletsThatComeIsKnownAtOnceAndTheirBytesAfterASecond) {
  const uint64_t begin = host_->RecentLoad();
  EXPECT_EQ(begin, host_->load());
  ASSERT_OK(database_->Flush("t"));
  ASSERT_GT(host_->load(), begin);
  EXPECT_EQ(host_->RecentLoad(), begin);
  ASSERT_OK(host_->Split(kMaster, table_id(), RowOf(2), {}));
  EXPECT_EQ(host_->RecentLoad(), begin + ServerHost::kLoadOfEach);
  absl::SleepFor(absl::Milliseconds(1100));
  EXPECT_EQ(host_->RecentLoad(), host_->load());
  ASSERT_OK(host_->Merge(kMaster, host_->server()->tablets().All()[0]->id(),
                         host_->server()->tablets().All()[1]->id(), kCompact, {}));
  EXPECT_EQ(host_->RecentLoad(), host_->load());  // there are fewer
  ASSERT_OK(host_->Drop(kMaster, table_id()).status());
  EXPECT_EQ(host_->RecentLoad(), host_->load());  // their bytes have gone, too
}

// --- All servers of a database ---

TEST_F(ServerHostTest, AResumeThatReachesItsDeadlineIsOver) {
  Cluster* const cluster = DatabasePeer(database_.get()).cluster();
  host_->server()->write_error().Set(absl::InternalError("an error"));
  InTheTurnOfAnother([&] { EXPECT_STATUS(kDeadlineExceeded, "", cluster->Resume(Soon())); });
  EXPECT_FALSE(host_->server()->write_error().resuming());
  EXPECT_STATUS(kInternal, "an error", cluster->background_error());
  ASSERT_OK(cluster->Resume({}));
  EXPECT_FALSE(host_->server()->write_error().resuming());
  ExpectUnchanged();
}

TEST_F(ServerHostTest, TheServersOfMetadataAreAwaitedUntilTheDeadline) {
  const DatabasePeer peer(database_.get());
  for (const ServerRole role : kMetadataRoles) {
    host_ = peer.HostsOf(role).front();
    InTheTurnOfAnother([&] {
      EXPECT_STATUS(kDeadlineExceeded, "", peer.cluster()->servers()->AwaitMetadata(Soon()));
    });
  }
  EXPECT_OK(peer.cluster()->servers()->AwaitMetadata(Soon()));
}

TEST_F(ServerHostTest, CommitsAreAttestedByTheServersAbove) {
  const DatabasePeer peer(database_.get());
  const ServerSet& servers = *peer.cluster()->servers();
  faulty_.FailCalls({{FileCall::kLogSync}, "/metadata-"}, absl::UnavailableError("no sync"));
  EXPECT_OK(servers.AttestCommitsOf(ServerRole::kRoot));
  EXPECT_OK(servers.AttestCommitsOf(ServerRole::kMetadata));
  EXPECT_STATUS(kUnavailable, "no sync", servers.AttestCommitsOf(ServerRole::kUser));
}

}  // namespace
}  // namespace bigtable
