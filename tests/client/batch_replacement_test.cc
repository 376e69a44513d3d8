// A lost server is replaced whose log has parts of batches and cannot be synced, and the machine
// loses power meanwhile.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

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
