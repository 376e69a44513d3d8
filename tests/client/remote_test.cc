// Users' calls that go as messages, through a network that loses, repeats and delays them: the
// answers are those of a database whose tablets are in place.
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
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

std::string RowOf(int i) { return absl::StrFormat("row%03d", i); }

// All rows of a stream, with their cells.
std::string ShowRows(RowReader reader) {
  std::string text;
  for (const Row& row : reader) absl::StrAppend(&text, std::string(row.key()), "/", Show(row), " ");
  if (!reader.status().ok()) absl::StrAppend(&text, std::string(reader.status().ToString()));
  return text;
}

class RemoteTest : public DatabaseFixture {
 protected:
  void OpenRemotely(int servers, const FaultyNetwork::Faults& faults, uint64_t seed = 1) {
    DatabaseOptions options = Options();
    options.tablet_servers = servers;
    Open(options);
    network_ = std::make_unique<FaultyNetwork>(seed, faults);
    peer_.emplace(database_.get());
    peer_->UseServices([this](ServerHost* host) { return network_->To(host); });
    peer_->UseMetadataServices([this](ServerHost* host) { return network_->To(host); });
  }
  void TearDown() override {
    database_.reset();
    if (network_ != nullptr) std::cout << network_->Describe() << "\n";
  }
  static TableSchema Schema() {
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {.locality_group = "other", .gc = GcRule::MaxVersions(2)};
    schema.split.tablet_size = 0;
    return schema;
  }
  static Table* CreateSplitTable(Database* database, int tablets, int each) {
    CreateTableOptions options;
    for (int i = 1; i < tablets; ++i) options.split_rows.push_back(RowOf(i * each));
    EXPECT_OK(database->CreateTable("t", Schema(), options));
    const auto table = database->OpenTable("t");
    EXPECT_OK(table);
    return *table;
  }
  ServerHost* HostOf(const TabletServer* server) {
    for (const auto& host : peer_->Hosts()) {
      if (host->server() == server) return host.get();
    }
    return nullptr;
  }

  std::unique_ptr<FaultyNetwork> network_;
  std::optional<DatabasePeer> peer_;
};

// --- The same answers ---

// The parameter: whether the network is bad.
class RemoteAnswersTest : public RemoteTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    OpenRemotely(3, GetParam() ? FaultyNetwork::Everything() : FaultyNetwork::Faults{});
    DatabaseOptions options = Options();
    options.file_system = file_system_.get();
    ASSERT_OK_AND_ASSIGN(in_place_, Database::Open("/in_place", options));
    tables_ = {CreateSplitTable(database_.get(), 5, 12), CreateSplitTable(in_place_.get(), 5, 12)};
  }
  void TearDown() override {
    in_place_.reset();
    RemoteTest::TearDown();
  }

  // Calls `ask` for the table behind the network and the one in place: what it returns must be the
  // same.
  template <typename Ask>
  void ExpectSame(const Ask& ask) {
    const std::string expected = ask(tables_[1]);
    EXPECT_EQ(ask(tables_[0]), expected);
    answers_ += expected.size();
  }
  // Rows 0 to 59, most of them on disk, with versions, deletions and server times.
  void Fill() {
    for (int version = 1; version <= 4; ++version) {
      std::vector<RowMutation> batch;
      for (int i = 0; i < 60; ++i) {
        RowMutation mutation(RowOf(i));
        if (version == 3 && i % 5 == 0) mutation.DeleteFamily("f").DeleteCell("g:q", Timestamp(2));
        if (version == 4 && i % 13 == 0) mutation.DeleteRow();
        mutation.Set("f:q", Timestamp(version), absl::StrCat("v", version, ".", i));
        mutation.Set("f:" + std::string(1, static_cast<char>(i)), absl::StrCat("w", i));
        mutation.Set("g:q", Timestamp(version), std::string(static_cast<size_t>(i) * 7, 'x'));
        batch.push_back(mutation);
      }
      clock_.Set(1000 * version);
      ExpectSame([&](Table* table) {
        std::string statuses;
        if (version % 2 == 0) {
          for (const RowMutation& mutation : batch) statuses += table->Apply(mutation).ToString();
        } else {
          for (const absl::Status& s : table->ApplyBatch(batch)) statuses += s.ToString();
        }
        return statuses;
      });
      if (version == 2) {
        ASSERT_OK(database_->Flush("t"));
        ASSERT_OK(in_place_->Flush("t"));
      }
    }
  }
  static std::vector<Filter> Filters() {
    return {Filter(),
            Filter::BlockAll(),
            Filter::Latest(1),
            Filter::Family("g"),
            Filter::FamilyRegex("f|x"),
            Filter::ColumnPrefix("f", "q"),
            Filter::ColumnRange("f", "\x05", "q"),
            Filter::Column("g", "q"),
            Filter::ColumnRegex("[^q]"),
            Filter::TimestampRange(Timestamp(2), Timestamp(4)),
            Filter::RowKeysRegex("row0.[1-4]"),
            Filter::ValueRegex("v.*"),
            Filter::CellsRowLimit(2),
            Filter::CellsRowOffset(1),
            Filter::StripValueTransformer(),
            Filter::Chain(Filter::Family("f"), Filter::Latest(2), Filter::CellsRowOffset(1))};
  }

  std::unique_ptr<Database> in_place_;
  std::vector<Table*> tables_;
  size_t answers_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Networks, RemoteAnswersTest, testing::Bool(),
                         [](const auto& param_info) { return param_info.param ? "Bad" : "Good"; });

TEST_P(RemoteAnswersTest, OfReads) {
  Fill();
  for (const Filter& filter : Filters()) {
    for (const int i : {0, 5, 11, 12, 13, 26, 47, 48, 59, 60}) {
      ExpectSame([&](Table* table) { return Show(table->ReadRow(RowOf(i), filter)); });
    }
    for (const bool reverse : {false, true}) {
      const ReadOptions options{.reverse = reverse};
      ExpectSame([&](Table* table) {
        return ShowRows(table->ReadRows(RowRange::All(), filter, options));
      });
      RowSet rows;
      rows.Append(RowRange::RightOpen(RowOf(7), RowOf(12)));
      rows.Append(RowOf(12));
      rows.Append(RowOf(30));
      rows.Append("nowhere");
      rows.Append(RowRange::Open(RowOf(35), RowOf(50)));
      for (const int64_t limit : {0, 1, 5, 12}) {
        ReadOptions limited = options;
        limited.row_limit = limit;
        ExpectSame([&](Table* table) { return ShowRows(table->ReadRows(rows, filter, limited)); });
      }
    }
  }
  ExpectSame([&](Table* table) { return ShowRows(table->ReadRows(RowSet())); });
  EXPECT_GT(answers_, 100000u);
}

TEST_P(RemoteAnswersTest, OfScans) {
  Fill();
  for (const bool reverse : {false, true}) {
    for (const int64_t limit : {0, 3, 20}) {
      for (const RowRange& range :
           {RowRange::All(), RowRange::Single(RowOf(12)), RowRange::Prefix("row02"),
            RowRange::LeftOpen(RowOf(11), RowOf(24)), RowRange::RightOpen("b", "a")}) {
        ExpectSame([&](Table* table) {
          ReadOptions options;
          options.reverse = reverse;
          options.row_limit = limit;
          Scanner scanner(table, options);
          scanner.SetRange(range);
          ScanStream* const f = scanner.FetchColumnFamily("f");
          f->SetReturnAllVersions();
          ScanStream* const g = scanner.FetchColumnFamily("g");
          g->SetFilter(Filter::ValueRegex("x*"));
          std::string text;
          for (int n = 0; !f->Done(); ++n) {
            absl::StrAppend(&text, Cat(f->RowName(), "/", f->ColumnName(), "@", f->MicroTimestamp(),
                                       "=", f->Value(), ",", scanner.RowName(), " "));
            n % 5 == 4 ? f->NextRow() : f->Next();
          }
          text += ShowStream(g);
          absl::StrAppend(&text, std::string(scanner.status().ToString()));
          scanner.Lookup(RowOf(3));
          text += ShowStream(g);
          return text;
        });
      }
    }
  }
  ExpectSame([&](Table* table) {
    Scanner scanner(table);
    return Cat(scanner.FetchColumnFamily("h")->Done(), ToStd(scanner.status().ToString()));
  });
  EXPECT_GT(answers_, 10000u);
}

TEST_P(RemoteAnswersTest, OfSnapshots) {
  Fill();
  std::vector<std::shared_ptr<const Snapshot>> snapshots;
  for (Database* database : {database_.get(), in_place_.get()}) {
    ASSERT_OK_AND_ASSIGN(snapshots.emplace_back(), database->TakeSnapshot());
  }
  Fill();
  ASSERT_OK(database_->Compact("t"));
  ExpectSame([&](Table* table) {
    ReadOptions options;
    options.snapshot = snapshots[table == tables_[0] ? 0 : 1];
    std::string text = ShowRows(table->ReadRows(RowRange::All(), options));
    for (int i = 0; i < 60; i += 7) text += Show(table->ReadRow(RowOf(i), {}, options));
    return text;
  });
  EXPECT_STATUS(kInvalidArgument, "another database",
                tables_[0]->ReadRow(RowOf(1), {}, {.snapshot = snapshots[1]}).status());
}

TEST_P(RemoteAnswersTest, OfMistakes) {
  ExpectSame([&](Table* table) {
    std::string text;
    const auto add = [&](const absl::Status& status) {
      absl::StrAppend(&text, std::string(status.ToString()), "\n");
    };
    std::vector<RowMutation> batch;
    batch.push_back(RowMutation(RowOf(1)).Set("f:q", Timestamp(1), "good"));
    batch.push_back(RowMutation(RowOf(40)).Set("nocolon", "bad"));
    batch.push_back(RowMutation(RowOf(41)).Set("h:q", "no such family"));
    batch.push_back(RowMutation(RowOf(42)));
    batch.push_back(RowMutation("").Set("f:q", "no row"));
    batch.push_back(RowMutation(RowOf(43)).Set("f:q", Timestamp(1), "good"));
    for (const absl::Status& status : table->ApplyBatch(batch)) add(status);
    for (const RowMutation& mutation : batch) add(table->Apply(mutation));
    add(table->ReadRow("").status());
    add(table->ReadRow("r", Filter::Latest(0)).status());
    add(table->ReadRow("r", Filter::ValueRegex("[")).status());
    add(table->ReadRow("r", {}, {.deadline = absl::InfinitePast()}).status());
    Cancellation cancelled;
    cancelled.Cancel();
    add(table->ReadRow("r", {}, {.cancellation = &cancelled}).status());
    add(table->Apply(batch[0], {.deadline = absl::InfinitePast()}));
    for (const Filter& filter : {Filter(), Filter::Latest(0)}) {
      for (const int64_t limit : {-1, 2}) {
        RowReader reader = table->ReadRows(RowRange::All(), filter, {.row_limit = limit});
        while (reader.Next()) {
        }
        add(reader.status());
      }
    }
    return text + ShowRows(table->ReadRows(RowRange::All()));
  });
}

TEST_P(RemoteAnswersTest, OfATableThatIsDeleted) {
  Fill();
  RowReader reader = tables_[0]->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_STATUS(kNotFound, "was deleted", tables_[0]->Apply(RowMutation(RowOf(1)).Set("f:q", "v")));
  EXPECT_STATUS(kNotFound, "was deleted", tables_[0]->ReadRow(RowOf(1)).status());
  EXPECT_THAT(ShowRows(tables_[0]->ReadRows(RowRange::All())), testing::HasSubstr("was deleted"));
}

// --- Chunks ---

class RemoteChunksTest : public RemoteTest {
 protected:
  static std::string ValueOf(int i) { return Random(static_cast<uint64_t>(i)).Bytes(20 << 10); }
  // Some chunks, in several tablets.
  void Fill(Table* table, int rows) {
    for (int i = 0; i < rows; ++i) {
      ASSERT_OK(table->Apply(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), ValueOf(i))));
    }
  }
};

TEST_F(RemoteChunksTest, AStreamIsOneMomentWhileItsTabletsChange) {
  constexpr int kRows = 150;
  for (const bool reverse : {false, true}) {
    SCOPED_TRACE(reverse);
    file_system_ = std::make_unique<InMemoryFileSystem>();
    OpenRemotely(3, FaultyNetwork::Everything());
    Table* const table = CreateSplitTable(database_.get(), 3, 50);
    Fill(table, kRows);
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

TEST_F(RemoteChunksTest, ARowThatIsLargerThanAChunkComesWhole) {
  OpenRemotely(2, FaultyNetwork::Everything());
  Table* const table = CreateSplitTable(database_.get(), 2, 2);
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

// --- Once ---

// Every write takes the server's time, so one that is made twice is seen twice.
TEST_F(RemoteTest, WritesAreMadeOnceConcurrently) {
  ForEachSeed(kSanitized ? 2 : 4, [&](uint64_t seed) {
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    OpenRemotely(3, FaultyNetwork::Everything(), seed);
    constexpr int kWriters = 3, kWrites = 400, kRows = 20;
    Table* const table = CreateSplitTable(database_.get(), 4, 5);
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

// --- Servers that are lost ---

class RemoteServerTest : public RemoteTest {
 protected:
  // Messages of a client of its own.
  static absl::StatusOr<MutateResponse> Mutate(DataService* service, std::string_view server,
                                               uint64_t table_id, uint64_t number,
                                               const RowMutation& mutation) {
    MutateRequest request;
    request.server = server;
    request.table_id = table_id;
    request.id = {.client = 99, .slot = 0, .number = number};
    request.mutations.push_back({mutation.row(), mutation.encoded_operations()});
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
      for (const auto& tablet : host->server()->Tablets()) table_id = tablet->table_id();
    }
    return table_id;
  }
};

// Messages reach a server that has lost its lock: it answers what it has answered before, and does
// nothing else.
TEST_F(RemoteServerTest, AServerWithoutItsLockRefuses) {
  OpenRemotely(1, {});
  Table* const table = CreateSplitTable(database_.get(), 1, 1);
  ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  TabletServer* const server = peer_->Servers()[0];
  const std::string name = server->name();
  DataService* const service = network_->To(HostOf(server));
  const uint64_t table_id = TableId();
  const RowMutation mutation = RowMutation("r").Set("f:q", Timestamp(2), "w");
  ASSERT_OK_AND_ASSIGN(const MutateResponse first, Mutate(service, name, table_id, 1, mutation));
  EXPECT_EQ(first.verdict, MutateResponse::Verdict::kDone);
  ASSERT_OK_AND_ASSIGN(const ScanResponse before, Scan(service, name, table_id, RowRange::All()));
  EXPECT_FALSE(before.moved);
  for (const bool is_replaced : {false, true}) {
    SCOPED_TRACE(is_replaced);
    is_replaced ? peer_->ReplaceLostServers() : peer_->Kill(server);
    ASSERT_FALSE(server->serving());
    ASSERT_OK_AND_ASSIGN(const MutateResponse again, Mutate(service, name, table_id, 1, mutation));
    EXPECT_EQ(again, first);
    ASSERT_OK_AND_ASSIGN(const ScanResponse scan, Scan(service, name, table_id, RowRange::All()));
    EXPECT_TRUE(scan.moved);
    EXPECT_EQ(scan.cells, "");
  }
  ASSERT_OK_AND_ASSIGN(
      const MutateResponse other,
      Mutate(service, name, table_id, 2, RowMutation("r").Set("f:q", Timestamp(3), "x")));
  EXPECT_EQ(other.verdict, MutateResponse::Verdict::kMoved);
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@2=w f:q@1=v");
}

// Nothing of a batch is applied if anything of it cannot be; of other requests the rest is.
TEST_F(RemoteServerTest, ABatchIsAppliedWholeOrNotAtAll) {
  OpenRemotely(1, {});
  Table* const table = CreateSplitTable(database_.get(), 1, 1);
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
      request.mutations.push_back({mutation->row(), mutation->encoded_operations()});
    }
    ASSERT_OK_AND_ASSIGN(const MutateResponse response,
                         network_->To(HostOf(server))->Mutate(request));
    ASSERT_EQ(response.statuses.size(), 2);
    EXPECT_EQ(response.statuses[0].ok(), !is_batch);
    EXPECT_STATUS(kNotFound, "nothing", response.statuses[1]);
    EXPECT_EQ(Show(table->ReadRow("a")), is_batch ? "" : "f:q@1=v");
  }
}

// Its session expires, again and again, and messages reach it all the time: whatever it does, it
// does with its lock.
TEST_F(RemoteServerTest, AServerThatKeepsExpiringWritesOnlyWithItsLock) {
  OpenRemotely(1, {});
  Table* const table = CreateSplitTable(database_.get(), 1, 1);
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
      absl::SleepFor(absl::Microseconds(round));  // it has been asked, and tries for its lock
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
  std::cout << refused << " times refused, " << done << " times it had its lock again\n";
  EXPECT_GT(refused, 0);
  EXPECT_GT(done, 0);
}

TEST_F(RemoteServerTest, AnotherServerKnowsNothing) {
  OpenRemotely(1, {});
  CreateSplitTable(database_.get(), 1, 1);
  TabletServer* const server = peer_->Servers()[0];
  DataService* const service = network_->To(HostOf(server));
  RowMutation mutation("r");
  mutation.Set("f:q", "v");
  ASSERT_OK_AND_ASSIGN(const auto response, Mutate(service, "server-x", TableId(), 1, mutation));
  EXPECT_EQ(response.verdict, MutateResponse::Verdict::kOtherServer);
  ASSERT_OK_AND_ASSIGN(const auto scan, Scan(service, "server-x", TableId(), RowRange::All()));
  EXPECT_TRUE(scan.moved);
}

TEST_F(RemoteServerTest, WhatIsNoRequestIsRefused) {
  OpenRemotely(1, {});
  CreateSplitTable(database_.get(), 2, 10);
  TabletServer* const server = peer_->Servers()[0];
  DataService* const service = network_->To(HostOf(server));
  MutateRequest request;
  request.server = server->name();
  request.table_id = TableId();
  request.id = {.client = 99, .slot = 0, .number = 1};
  const std::string long_row(RowMutation::kMaxRowSize + 1, 'r');
  const RowMutation good = RowMutation("r").Set("f:q", "v");
  request.mutations = {{"r", "nonsense"},
                       {"", good.encoded_operations()},
                       {long_row, good.encoded_operations()},
                       {"r", ""},
                       {"r", good.encoded_operations()}};
  ASSERT_OK_AND_ASSIGN(const MutateResponse response, service->Mutate(request));
  ASSERT_EQ(response.statuses.size(), 5u);
  for (size_t i = 0; i < 4; ++i) EXPECT_STATUS(kInvalidArgument, "", response.statuses[i]);
  EXPECT_OK(response.statuses[4]);
  // Not in one tablet.
  request.id.number = 2;
  request.mutations = {{"r", good.encoded_operations()}, {"z", good.encoded_operations()}};
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

// The server dies and nobody answers: what has become of a write is not known; reads, and writes
// after that, are for the server that takes over.
TEST_F(RemoteServerTest, AServerThatIsGoneLeavesItsWritesUnknown) {
  OpenRemotely(2, {});
  Table* const table = CreateSplitTable(database_.get(), 1, 1);
  ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  TabletServer* const server = peer_->Servers()[0];
  network_->Disconnect(HostOf(server));
  const absl::Time soon = absl::Now() + absl::Milliseconds(30);
  EXPECT_STATUS(kUnavailable, "is not known",
                table->Apply(RowMutation("r").Set("f:q", Timestamp(2), "w"), {.deadline = soon}));
  EXPECT_STATUS(kDeadlineExceeded, "", table->ReadRow("r", {}, {.deadline = soon}).status());
  std::thread writer([&] {
    EXPECT_STATUS(kUnavailable, "it is gone; whether the write was made is not known",
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
