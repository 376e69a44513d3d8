// All roles at once: tablets, METADATA, tablet servers, masters and the lock service.
#include <atomic>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/random.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

// A hundred tablets on four servers. Each writer has rows of its own, and knows their contents.
// Scanners check that each snapshot is consistent. Meanwhile servers are killed, including those of
// METADATA and its root tablet, sessions expire, tablets are split, merged and moved, and
// METADATA's tablets are split. Depending on the parameter, log files stall, or calls are messages
// through a faulty network that may or may not reach dead servers. No acknowledged write is lost,
// and no row is served twice.
struct RolesSettings {
  std::string name;
  bool stalls = false;
  bool has_network = false;
  bool dead_are_reached = true;
};

class RolesConcurrencyTest : public TabletsFixture,
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

TEST_P(RolesConcurrencyTest, ReadersAndWritersSeeNoFailure) {
  constexpr int kWriters = 3;
  constexpr int kRowsEach = 200;
  const int most_servers = stalls() ? 2 : 4;  // so that writers share a stalled log
  DatabaseOptions options = WithServers(most_servers);
  options.memory_budget = 64 << 20;
  options.memtable_size = 256 << 10;
  options.metadata_tablet_size = 32 << 10;
  OpenWithStalls(options);
  Table* const table = CreateSplitTable("t", 100, 6);
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
          // The server was lost between the log write and the acknowledgement.
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
      if (peer.SweepFiles().ok()) ++sweeps;  // fails if the master has just died
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
    TabletsFixture::Kill();
    Open(WithServers(3));
  }
}

}  // namespace
}  // namespace bigtable
