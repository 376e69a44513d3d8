// A lost server is replaced whose log has parts of batches and cannot be synced, and the machine
// loses power meanwhile.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "atomicity/batch_machine.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// Every server of three has a part of a batch that is not durable. Then one of them is lost, and
// its log cannot be synced any more.
class BatchReplacementTest : public testing::Test {
 protected:
  static constexpr size_t kBatch = 0, kSynced = 1;

  ~BatchReplacementTest() override { End(); }
  // Ends stalls and faults: the destructor of the database would wait for them.
  void End() {
    if (machine_ == nullptr) return;
    machine_->faults().ClearFaults();
    machine_->faults().ReleaseCalls();
    if (replacing_.joinable()) replacing_.join();
    peer_->OnMasterStep({});
    peer_.reset();
    machine_.reset();
  }

  void LoseServer(bool maps_logs = true) {
    End();
    machine_ = std::make_unique<BatchMachine>(std::make_unique<InMemoryFileSystem>(), maps_logs);
    ASSERT_OK(machine_->Start(3));
    peer_ = std::make_unique<DatabasePeer>(machine_->database());
    // Another place than that of the lost server.
    for (place_ = 1; machine_->server_of(place_) == machine_->server_of(0);) ++place_;
    operations_ = {{.places = {0, 1, 2, 3, 4, 5}}, {.places = {place_}}};
    ASSERT_OK(machine_->Apply(&operations_[kBatch], kBatch, Durability::kBuffered));
  }
  void LoseItsLog() {
    lost_ = peer_->Hosts()[static_cast<size_t>(machine_->server_of(0))]->server();
    machine_->faults().FailCalls(
        {.kinds = {FileCall::kLogSync}, .path_contains = machine_->log_of(0)},
        absl::UnavailableError("sync fault"));
    // What has failed once stays so.
    EXPECT_STATUS(kUnavailable, "sync fault", lost_->log().Get()->Sync());
  }
  absl::Status WriteSynced() {
    return machine_->Apply(&operations_[kSynced], kSynced, Durability::kSync);
  }
  // What is found after a loss of power: batches as a whole, and what was promised.
  std::vector<std::set<size_t>> FindAfterPowerLoss() {
    BatchMachine after(machine_->Crash(1, Unsynced::kNothing), true);
    EXPECT_OK(after.Start(3));
    std::vector<std::set<size_t>> found = after.Read();
    ExpectWhole(operations_, found);
    ExpectPrefix(operations_, found, false, [](size_t place) { return static_cast<int>(place); });
    return found;
  }

  std::unique_ptr<BatchMachine> machine_;
  std::unique_ptr<DatabasePeer> peer_;
  TabletServer* lost_ = nullptr;
  size_t place_ = 0;
  std::vector<BatchOperation> operations_;
  std::thread replacing_;
};

TEST_F(BatchReplacementTest, PowerIsLostAtEachCall) {
  int found = 0, lost = 0;
  bool is_replaced = false;
  for (uint64_t call = 1; !is_replaced; call += 7) {
    ASSERT_LT(call, 2000u);
    SCOPED_TRACE(absl::StrCat("call ", call));
    ASSERT_NO_FATAL_FAILURE(LoseServer());
    ASSERT_NO_FATAL_FAILURE(LoseItsLog());
    machine_->faults().CountCalls();
    machine_->faults().FailCall(call, absl::UnavailableError("death"),
                                FaultyFileSystem::Repeat::kFromThenOn);
    peer_->Kill(lost_);
    peer_->ReplaceLostServers();
    is_replaced =
        !machine_->disk().FileExists(absl::StrCat("/db/lockservice/servers/", lost_->name()));
    const auto after = FindAfterPowerLoss();
    ++(after[0].contains(kBatch) ? found : lost);
    if (HasFailure()) return;
  }
  EXPECT_GT(found, 1);
  EXPECT_GT(lost, 1);
}

// A server is lost while it commits a write. Its log, which has that write and a part of a batch,
// can be synced, so the servers that live go on at once.
TEST_F(BatchReplacementTest, OtherServersSyncTheLogOfAServerThatIsLostDuringAWrite) {
  ASSERT_NO_FATAL_FAILURE(LoseServer(false));
  lost_ = peer_->Hosts()[static_cast<size_t>(machine_->server_of(0))]->server();
  operations_.push_back({.places = {0}});
  machine_->faults().StallCalls(
      {.kinds = {FileCall::kLogWrite}, .path_contains = machine_->log_of(0)});
  absl::Status written;
  std::thread writer([&] { written = machine_->Apply(&operations_[2], 2, Durability::kBuffered); });
  ASSERT_TRUE(machine_->faults().WaitUntilStalled(1));
  std::atomic<bool> is_held{true};
  peer_->OnMasterStep([&] {
    while (is_held) absl::SleepFor(absl::Milliseconds(1));
  });
  peer_->Kill(lost_);
  replacing_ = std::thread([this] { peer_->ReplaceLostServers(); });
  while (!lost_->state().ended()) absl::SleepFor(absl::Milliseconds(1));
  machine_->faults().ReleaseCalls();
  // The server is not replaced yet.
  while (!lost_->write_error().any()) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_OK(WriteSynced());
  const auto found = FindAfterPowerLoss();
  EXPECT_TRUE(found[0].contains(kBatch));
  EXPECT_TRUE(found[place_].contains(kSynced));
  is_held = false;
  writer.join();
  replacing_.join();
  peer_->OnMasterStep({});
  EXPECT_STATUS(kUnavailable, "has lost its lock", written);
}

// The tablets of the lost server are being loaded, and none is flushed yet.
TEST_F(BatchReplacementTest, OtherServersGoOnOnceTheLogIsCopied) {
  ASSERT_NO_FATAL_FAILURE(LoseServer());
  ASSERT_NO_FATAL_FAILURE(LoseItsLog());
  machine_->faults().StallCalls({.kinds = {FileCall::kNewWritableFile}, .path_contains = ".sst"});
  peer_->Kill(lost_);
  replacing_ = std::thread([this] { peer_->ReplaceLostServers(); });
  ASSERT_TRUE(machine_->faults().WaitUntilStalled(1));
  EXPECT_OK(WriteSynced());
  const auto found = FindAfterPowerLoss();
  EXPECT_TRUE(found[0].contains(kBatch));
  EXPECT_TRUE(found[place_].contains(kSynced));
}

// Tables on two servers, and a batch over both that is not durable. The second table is deleted,
// its server is lost, and its log, which nobody needs, cannot be synced.
class UnneededLogTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    DatabaseOptions options = Options();
    options.tablet_servers = 2;
    options.file_system = faulty_.get();
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    table_ = CreateTable("t", {"f"});
    Table* const deleted = CreateTable("deleted", {"f"});
    ASSERT_OK(database_->MoveTablet("t", "r", 0));
    ASSERT_OK(database_->MoveTablet("deleted", "r", 1));
    WriteBatch batch;
    batch.Apply(table_, RowMutation("r").Set("f:q", Timestamp(1), "batch"));
    batch.Apply(deleted, RowMutation("r").Set("f:q", Timestamp(1), "batch"));
    ASSERT_OK(database_->Apply(batch));
    ASSERT_OK(database_->DeleteTable("deleted"));
    peer_.emplace(database_.get());
    lost_ = peer_->Hosts()[1]->server();
    faulty_->FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = LogOfLost()},
                       absl::UnavailableError("sync fault"));
  }
  void TearDown() override {
    faulty_->ClearFaults();
    EndStall();
    database_.reset();
  }
  std::string LogOfLost() const { return absl::StrCat(kPath, "/log/", lost_->name(), "/"); }
  std::string FileOfLost() const {
    return absl::StrCat(kPath, "/lockservice/servers/", lost_->name());
  }
  // Begins to replace the lost server, up to a call that stalls.
  void ReplaceUntilStalled() {
    peer_->Kill(lost_);
    replacing_ = std::thread([this] { peer_->ReplaceLostServers(); });
    ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  }
  void EndStall() {
    faulty_->ReleaseCalls();
    if (replacing_.joinable()) replacing_.join();
  }
  absl::Status WriteSynced() {
    return table_->Apply(RowMutation("r").Set("f:q", Timestamp(2), "synced"),
                         {.durability = Durability::kSync});
  }
  // The row after a loss of power now.
  std::string ShowAfterPowerLoss() {
    const auto disk = file_system_->CrashClone(1, Unsynced::kNothing);
    DatabaseOptions options = Options();
    options.file_system = disk.get();
    const auto after = Database::Open(kPath, options);
    EXPECT_OK(after);
    if (!after.ok()) return "";
    EXPECT_FALSE(disk->FileExists(absl::StrCat(LogOfLost(), "STATE")));
    EXPECT_FALSE(disk->FileExists(FileOfLost()));
    const absl::StatusOr<Table*> table = (*after)->OpenTable("t");
    EXPECT_OK(table);
    return table.ok() ? Show((*table)->ReadRow("r")) : "";
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
  std::optional<DatabasePeer> peer_;
  Table* table_ = nullptr;
  TabletServer* lost_ = nullptr;
  std::thread replacing_;
};

// Until it is noted that the log is not needed, an opening reads it, and the batch is not whole.
TEST_F(UnneededLogTest, SyncedWritesNeedTheLogUntilTheNoteIsDurable) {
  std::atomic<bool> is_set{false};
  peer_->OnMasterStep([&] {
    // The number of its last mutation is there: the next write is the note.
    if (file_system_->Contents(FileOfLost()).find("fenced ") == std::string::npos) return;
    if (is_set.exchange(true)) return;
    faulty_->StallCalls({.kinds = {FileCall::kNewWritableFile}, .path_contains = FileOfLost()});
  });
  ASSERT_NO_FATAL_FAILURE(ReplaceUntilStalled());
  const absl::Status written = WriteSynced();
  EXPECT_STATUS(kUnavailable, "sync fault", written);
  EXPECT_EQ(ShowAfterPowerLoss(), written.ok() ? "f:q@2=synced f:q@1=batch" : "");
  peer_->OnMasterStep({});
}

// The process dies between the note and the removal of the log.
TEST_F(UnneededLogTest, AfterTheNoteNothingWaitsForTheLogAndTheNextOpeningRemovesIt) {
  faulty_->StallCalls({.kinds = {FileCall::kNewWritableFile}, .path_contains = LogOfLost()});
  ASSERT_NO_FATAL_FAILURE(ReplaceUntilStalled());
  EXPECT_TRUE(file_system_->FileExists(absl::StrCat(LogOfLost(), "STATE")));
  EXPECT_OK(WriteSynced());
  EXPECT_EQ(ShowAfterPowerLoss(), "f:q@2=synced f:q@1=batch");
}

}  // namespace
}  // namespace bigtable
