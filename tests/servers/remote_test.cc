// Users' calls through messages, on a network that loses, repeats and delays them: streams of
// several messages, writes that take effect once, and lost servers.
#include <atomic>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "schema/mutation_format.h"
#include "support/faulty_network.h"
#include "support/random.h"
#include "support/remote_fixture.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

// --- Chunks ---

class RemoteChunksTest : public RemoteFixture {
 protected:
  static std::string ValueOf(int i) { return Random(static_cast<uint64_t>(i)).Bytes(20 << 10); }
  // Writes several chunks, in several tablets.
  static void FillChunks(Table* table, int rows) {
    for (int i = 0; i < rows; ++i) {
      ASSERT_OK(table->Apply(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), ValueOf(i))));
    }
  }
};

TEST_F(RemoteChunksTest, RowsAreReadTogetherFromSeveralTablets) {
  OpenRemotely(3, FaultyNetwork::Everything());
  Table* const table = CreateSplitTable("t", 3, 20);
  Fill(table, 0, 60);
  ASSERT_OK(database_->Flush("t"));
  const std::vector<std::string> names = {RowOf(50), RowOf(3), RowOf(70), "", RowOf(25), RowOf(3)};
  const std::vector<std::string_view> rows(names.begin(), names.end());
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const std::vector<absl::StatusOr<Row>> found = table->GetRows(rows);
    ASSERT_EQ(found.size(), rows.size());
    for (const size_t present : {0, 1, 4, 5}) {
      ASSERT_OK(found[present]);
      EXPECT_EQ(found[present]->key(), rows[present]);
      EXPECT_EQ(Show(found[present]), absl::StrCat("f:q@1=v", std::stoi(names[present].substr(3))));
    }
    EXPECT_EQ(Show(found[2]), "");
    EXPECT_STATUS(kInvalidArgument, "row key", found[3]);
    ASSERT_OK(database_->MoveTablet("t", RowOf(25), i));
    if (i == 1) {
      ASSERT_OK(database_->SplitTablet("t", RowOf(50)));
    }
  }
}

TEST_F(RemoteChunksTest, AStreamSeesOneSnapshotWhileItsTabletsChange) {
  constexpr int kRows = 150;
  for (const bool reverse : {false, true}) {
    SCOPED_TRACE(reverse);
    file_system_ = std::make_unique<InMemoryFileSystem>();
    OpenRemotely(3, FaultyNetwork::Everything());
    Table* const table = CreateSplitTable("t", 3, 50);
    FillChunks(table, kRows);
    RowReader reader = table->ReadRows(RowRange::All(), Filter(), {.reverse = reverse});
    Random random(5);
    std::vector<Row> kept;
    int changes = 0;
    for (int n = 0; n < kRows; ++n) {
      const int i = reverse ? kRows - 1 - n : n;
      ASSERT_TRUE(reader.Next()) << reader.status();
      ASSERT_EQ(reader.row().key(), RowOf(i));
      ASSERT_EQ(reader.row().cells().size(), 1u);
      ASSERT_EQ(reader.row().cells()[0].value, ValueOf(i));
      if (n % 10 == 0) kept.push_back(reader.TakeRow());
      const std::string row = RowOf(static_cast<int>(random.Below(kRows)));
      ASSERT_OK(table->Apply(RowMutation(row).Set("f:q", Timestamp(1), "changed")));
      absl::Status status;
      switch (random.Below(6)) {
        case 0:
          status = database_->SplitTablet("t", row);
          break;
        case 1:
          status = database_->MoveTablet("t", row, static_cast<int>(random.Below(3)));
          break;
        case 2: {
          ASSERT_OK_AND_ASSIGN(const auto tablets, database_->ListTablets("t"));
          if (tablets.size() < 2) break;
          const size_t merged = 1 + random.Below(tablets.size() - 1);
          status = database_->MergeTablets("t", tablets[merged].rows.begin());
          break;
        }
        default:
          continue;
      }
      ASSERT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
      changes += status.ok() ? 1 : 0;
    }
    EXPECT_FALSE(reader.Next());
    EXPECT_OK(reader.status());
    std::cout << changes << " changes of tablets\n";
    ASSERT_OK(database_->Close());
    for (size_t n = 0; n < kept.size(); ++n) {
      const int i = reverse ? kRows - 1 - static_cast<int>(n) * 10 : static_cast<int>(n) * 10;
      EXPECT_EQ(kept[n].cells()[0].value, ValueOf(i));
    }
  }
}

TEST_F(RemoteChunksTest, ARowLargerThanAChunkIsReturnedWhole) {
  OpenRemotely(2, FaultyNetwork::Everything());
  Table* const table = CreateSplitTable("t", 2, 2);
  for (int i = 0; i < 4; ++i) {
    RowMutation mutation(RowOf(i));
    for (int column = 0; column < 50; ++column) {
      mutation.Set(absl::StrCat("f:", column + 100), Timestamp(1), ValueOf(column));
    }
    ASSERT_OK(table->Apply(mutation));
  }
  ASSERT_OK_AND_ASSIGN(const Row row, table->ReadRow(RowOf(1)));
  EXPECT_EQ(row.cells().size(), 50u);
  for (const bool reverse : {false, true}) {
    int rows = 0;
    RowReader reader = table->ReadRows(RowRange::All(), Filter(), {.reverse = reverse});
    for (const Row& read : reader) {
      ASSERT_EQ(read.cells().size(), 50u);
      for (int column = 0; column < 50; ++column) {
        ASSERT_EQ(read.cells()[static_cast<size_t>(column)].value, ValueOf(column));
      }
      ++rows;
    }
    EXPECT_OK(reader.status());
    EXPECT_EQ(rows, 4);
  }
}

// --- Writes take effect once ---

class RemoteTest : public RemoteFixture {};

// Every write takes the server's time, so a write that took effect twice would be seen twice.
TEST_F(RemoteTest, WritesTakeEffectOnceConcurrentlyRandom) {
  ForEachSeed(kSlow ? 2 : 4, [&](uint64_t seed) {
    Tally("cases");
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    OpenRemotely(3, FaultyNetwork::Everything(), seed);
    constexpr int kWriters = 3, kWrites = 400, kRows = 20;
    Table* const table = CreateSplitTable("t", 4, 5);
    std::vector<std::thread> writers;
    std::atomic<int> left{kWriters};
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([&, w] {
        Random random(seed * 10 + static_cast<uint64_t>(w));
        for (int n = 0; n < kWrites;) {
          std::vector<RowMutation> batch;
          for (uint64_t size = random.OneIn(4) ? 1 + random.Below(6) : 1; size > 0; --size, ++n) {
            RowMutation mutation(RowOf(static_cast<int>(random.Below(kRows))));
            mutation.Set("f:q", absl::StrCat(w, ".", n));
            batch.push_back(std::move(mutation));
          }
          if (batch.size() == 1) {
            ASSERT_OK(table->Apply(batch[0]));
          } else {
            for (const absl::Status& status : table->ApplyBatch(batch)) ASSERT_OK(status);
          }
        }
        --left;
      });
    }
    Random random(seed);
    while (left > 0 && !HasFailure()) {
      const std::string row = RowOf(static_cast<int>(random.Below(kRows)));
      const absl::Status status =
          random.OneIn(2) ? database_->MoveTablet("t", row, static_cast<int>(random.Below(3)))
                          : database_->SplitTablet("t", row);
      ASSERT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
    }
    for (std::thread& writer : writers) writer.join();
    std::map<std::string, int> times;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      for (const Cell& cell : row.cells()) ++times[std::string(cell.value)];
    }
    ASSERT_OK(reader.status());
    for (const auto& [value, count] : times) EXPECT_EQ(count, 1) << value;
    int written = 0;
    for (int w = 0; w < kWriters; ++w) {
      for (int n = 0; n < kWrites; ++n) written += static_cast<int>(times.count(Cat(w, ".", n)));
    }
    EXPECT_EQ(written, kWriters * kWrites);
    std::cout << times.size() << " writes; " << network_->Describe() << "\n";
  });
}

// --- Lost servers ---

class RemoteServerTest : public RemoteFixture {
 protected:
  // Sends messages of a client of its own.
  static absl::StatusOr<MutateResponse> Mutate(DataService* service, std::string_view server,
                                               uint64_t table_id, uint64_t number,
                                               const RowMutation& mutation) {
    MutateRequest request;
    request.server = server;
    request.table_id = table_id;
    request.id = {.client = 99, .slot = 0, .number = number};
    request.mutations.push_back({mutation.row(), EncodedMutation::Of(mutation).operations});
    return service->Mutate(request);
  }
  static absl::StatusOr<ScanResponse> Scan(DataService* service, std::string_view server,
                                           uint64_t table_id, const RowRange& range) {
    ScanRequest request;
    request.server = server;
    request.table_id = table_id;
    request.range = range;
    return service->Scan(request);
  }
  uint64_t TableId() {
    uint64_t table_id = 0;
    for (const auto& host : peer_->Hosts()) {
      for (const auto& tablet : host->server()->tablets().All()) table_id = tablet->table_id();
    }
    return table_id;
  }
};

// Messages reach a server that has lost its lock. It repeats its earlier responses, and does
// nothing else.
TEST_F(RemoteServerTest, AServerWithoutItsLockRefuses) {
  OpenRemotely(1, {});
  Table* const table = CreateSplitTable("t", 1, 1);
  ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  TabletServer* const server = peer_->Servers()[0];
  const std::string name = server->name();
  DataService* const service = network_->To(HostOf(server));
  const uint64_t table_id = TableId();
  const RowMutation mutation = RowMutation("r").Set("f:q", Timestamp(2), "w");
  ASSERT_OK_AND_ASSIGN(const MutateResponse first, Mutate(service, name, table_id, 1, mutation));
  EXPECT_EQ(first.verdict, MutateResponse::Verdict::kDone);
  ASSERT_OK_AND_ASSIGN(const ScanResponse before, Scan(service, name, table_id, RowRange::All()));
  EXPECT_FALSE(before.superseded);
  for (const bool is_replaced : {false, true}) {
    SCOPED_TRACE(is_replaced);
    is_replaced ? peer_->ReplaceLostServers() : peer_->Kill(server);
    ASSERT_FALSE(server->state().serving());
    ASSERT_OK_AND_ASSIGN(const MutateResponse again, Mutate(service, name, table_id, 1, mutation));
    EXPECT_EQ(again, first);
    ASSERT_OK_AND_ASSIGN(const ScanResponse scan, Scan(service, name, table_id, RowRange::All()));
    EXPECT_TRUE(scan.superseded);
    EXPECT_EQ(scan.cells, "");
  }
  ASSERT_OK_AND_ASSIGN(
      const MutateResponse other,
      Mutate(service, name, table_id, 2, RowMutation("r").Set("f:q", Timestamp(3), "x")));
  EXPECT_EQ(other.verdict, MutateResponse::Verdict::kMoved);
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@2=w f:q@1=v");
}

// A batch is applied completely or not at all. Of other requests, the valid part is applied.
TEST_F(RemoteServerTest, ABatchIsAppliedCompletelyOrNotAtAll) {
  OpenRemotely(1, {});
  Table* const table = CreateSplitTable("t", 1, 1);
  ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  TabletServer* const server = peer_->Servers()[0];
  const RowMutation good = RowMutation("a").Set("f:q", Timestamp(1), "v");
  const RowMutation bad = RowMutation("b").Set("nothing:q", Timestamp(1), "v");
  for (const bool is_batch : {true, false}) {
    SCOPED_TRACE(is_batch);
    MutateRequest request;
    request.server = server->name();
    request.table_id = TableId();
    request.id = {.client = 99, .slot = 0, .number = is_batch ? 1u : 2u};
    request.is_batch = is_batch;
    for (const RowMutation* mutation : {&good, &bad}) {
      request.mutations.push_back({mutation->row(), EncodedMutation::Of(*mutation).operations});
    }
    ASSERT_OK_AND_ASSIGN(const MutateResponse response,
                         network_->To(HostOf(server))->Mutate(request));
    ASSERT_EQ(response.statuses.size(), 2);
    EXPECT_EQ(response.statuses[0].ok(), !is_batch);
    EXPECT_STATUS(kNotFound, "nothing", response.statuses[1]);
    EXPECT_EQ(Show(table->ReadRow("a")), is_batch ? "" : "f:q@1=v");
  }
}

// Its session expires repeatedly while messages keep reaching it. It applies writes only while it
// holds its lock.
TEST_F(RemoteServerTest, AServerThatKeepsExpiringWritesOnlyWithItsLock) {
  OpenRemotely(1, {});
  Table* const table = CreateSplitTable("t", 1, 1);
  ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "0")));
  const uint64_t table_id = TableId();
  int refused = 0, done = 0;
  std::string expected = "0";
  for (uint64_t round = 1; round <= 400; ++round) {
    const std::vector<TabletServer*> servers = peer_->Servers();
    if (servers.empty()) continue;
    TabletServer* const server = servers[0];
    ServerHost* const host = HostOf(server);
    if (host == nullptr) continue;
    if (round % 2 == 0) {
      peer_->Expire(server);
    } else {
      absl::SleepFor(absl::Microseconds(round));  // it has the request, and tries for its lock
    }
    const std::string value = std::to_string(round);
    RowMutation mutation("r");
    mutation.Set("f:q", Timestamp(1), value);
    ASSERT_OK_AND_ASSIGN(const MutateResponse response,
                         Mutate(network_->To(host), server->name(), table_id, round, mutation));
    if (response.verdict == MutateResponse::Verdict::kDone && response.statuses[0].ok()) {
      ++done;
      expected = value;
    } else {
      ++refused;
    }
    ASSERT_EQ(Show(table->ReadRow("r")), Cat("f:q@1=", expected));
  }
  std::cout << refused << " times refused, " << done << " times it regained its lock\n";
  EXPECT_GT(refused, 0);
  EXPECT_GT(done, 0);
}

TEST_F(RemoteServerTest, AnotherServerDoesNotHaveTheTablet) {
  OpenRemotely(1, {});
  CreateSplitTable("t", 1, 1);
  TabletServer* const server = peer_->Servers()[0];
  DataService* const service = network_->To(HostOf(server));
  RowMutation mutation("r");
  mutation.Set("f:q", "v");
  ASSERT_OK_AND_ASSIGN(const auto response, Mutate(service, "server-x", TableId(), 1, mutation));
  EXPECT_EQ(response.verdict, MutateResponse::Verdict::kOtherServer);
  ASSERT_OK_AND_ASSIGN(const auto scan, Scan(service, "server-x", TableId(), RowRange::All()));
  EXPECT_TRUE(scan.superseded);
}

TEST_F(RemoteServerTest, InvalidRequestsAreRefused) {
  OpenRemotely(1, {});
  CreateSplitTable("t", 2, 10);
  TabletServer* const server = peer_->Servers()[0];
  DataService* const service = network_->To(HostOf(server));
  MutateRequest request;
  request.server = server->name();
  request.table_id = TableId();
  request.id = {.client = 99, .slot = 0, .number = 1};
  const std::string long_row(RowMutation::kMaxRowSize + 1, 'r');
  const RowMutation good = RowMutation("r").Set("f:q", "v");
  request.mutations = {{"r", "nonsense"},
                       {"", EncodedMutation::Of(good).operations},
                       {long_row, EncodedMutation::Of(good).operations},
                       {"r", ""},
                       {"r", EncodedMutation::Of(good).operations}};
  ASSERT_OK_AND_ASSIGN(const MutateResponse response, service->Mutate(request));
  ASSERT_EQ(response.statuses.size(), 5u);
  for (size_t i = 0; i < 4; ++i) EXPECT_STATUS(kInvalidArgument, "", response.statuses[i]);
  EXPECT_OK(response.statuses[4]);
  // Rows of two tablets.
  request.id.number = 2;
  request.mutations = {{"r", EncodedMutation::Of(good).operations},
                       {"z", EncodedMutation::Of(good).operations}};
  ASSERT_OK_AND_ASSIGN(const MutateResponse moved, service->Mutate(request));
  EXPECT_EQ(moved.verdict, MutateResponse::Verdict::kMoved);
  EXPECT_STATUS(kInvalidArgument, "empty",
                Scan(service, server->name(), TableId(), RowRange::RightOpen("b", "a")).status());
  ScanRequest scan;
  scan.server = server->name();
  scan.table_id = TableId();
  scan.filter = "\x63";
  EXPECT_STATUS(kInvalidArgument, "no filter", service->Scan(scan).status());
}

// The server dies and no server responds: the outcome of a write is unknown. Reads, and later
// writes, go to the server that takes over.
TEST_F(RemoteServerTest, ALostServerLeavesTheOutcomeOfItsWritesUnknown) {
  OpenRemotely(2, {});
  Table* const table = CreateSplitTable("t", 1, 1);
  ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  TabletServer* const server = peer_->Servers()[0];
  network_->Disconnect(HostOf(server));
  const absl::Time soon = absl::Now() + absl::Milliseconds(30);
  EXPECT_STATUS(kUnavailable, "is unknown",
                table->Apply(RowMutation("r").Set("f:q", Timestamp(2), "w"), {.deadline = soon}));
  EXPECT_STATUS(kDeadlineExceeded, "", table->ReadRow("r", {}, {.deadline = soon}).status());
  std::thread writer([&] {
    EXPECT_STATUS(kUnavailable, "the server was lost; whether the write was applied is unknown",
                  table->Apply(RowMutation("r").Set("f:q", Timestamp(3), "x")));
  });
  absl::SleepFor(absl::Milliseconds(20));
  peer_->Kill(server);
  writer.join();
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=v");
  EXPECT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(4), "y")));
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@4=y f:q@1=v");
}

}  // namespace
}  // namespace bigtable
