// A call on the log of a tablet server stalls, and the server is lost.
#include <iostream>
#include <memory>
#include <optional>
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

// The parameter: whether log files are mapped, so that only syncs can stall.
class LostServerStallConcurrencyTest : public TabletsFixture,
                                       public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    faulty_ = std::make_unique<FaultyFileSystem>(
        file_system_.get(), FaultyFileSystem::Options{.hide_log_mappings = !GetParam()});
    DatabaseOptions options = WithServers(1);
    options.file_system = faulty_.get();
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    table_ = CreateSplitTable("t", 1, 10);
    Fill(table_, 0, 10, "v");
    ASSERT_OK(database_->WaitUntilQuiet());  // the log's spare segment exists
    peer_.emplace(database_.get());
    server_ = peer_->Servers()[0];
  }
  void TearDown() override {
    if (faulty_ != nullptr) faulty_->ReleaseCalls();
    if (stalled_.joinable()) stalled_.join();
    database_.reset();
  }
  // A synced write whose call on the log stalls.
  void WriteAndStall(int row) {
    std::vector<FileCall> kinds = {FileCall::kLogSync};
    if (!GetParam()) kinds.push_back(FileCall::kLogWrite);
    faulty_->StallOneFile(
        {.kinds = kinds, .path_contains = absl::StrCat("/log/", server_->name(), "/0")});
    stalled_ = std::thread([this, row] {
      RowMutation mutation(RowOf(row));
      mutation.Set("f:q", Timestamp(1), absl::StrCat("v", row));
      outcome_ = table_->Apply(mutation, {.durability = Durability::kSync});
    });
    ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  }
  // Ends the stall, and returns the status of the write.
  absl::Status Return() {
    EXPECT_EQ(faulty_->stalled(), 1);
    faulty_->ReleaseCalls();
    stalled_.join();
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
  std::thread stalled_;
  absl::Status outcome_;
};
INSTANTIATE_TEST_SUITE_P(Ways, LostServerStallConcurrencyTest, testing::Bool(),
                         [](const auto& param_info) {
                           return param_info.param ? "Mapped" : "Written";
                         });

TEST_P(LostServerStallConcurrencyTest, WritesAcknowledgedByTheTakeoverAreFound) {
  ASSERT_NO_FATAL_FAILURE(WriteAndStall(10));
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

TEST_P(LostServerStallConcurrencyTest, WritesThatWereNotAcknowledgedAreNeverSeen) {
  ASSERT_NO_FATAL_FAILURE(WriteAndStall(10));
  server_->state().Abandon();
  // The thread that takes over finds the server lost, and does not acknowledge the stalled write.
  // Its own write goes to another server.
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

// The process dies after other servers may have continued without the write.
TEST_P(LostServerStallConcurrencyTest, ALaterProcessDoesNotFindThemEither) {
  ASSERT_NO_FATAL_FAILURE(WriteAndStall(10));
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

TEST_P(LostServerStallConcurrencyTest, TheServerIsReplacedWithoutOtherWrites) {
  ASSERT_NO_FATAL_FAILURE(WriteAndStall(10));
  peer_->Kill(server_);
  peer_->ReplaceLostServers();
  EXPECT_FALSE(HasLog(server_));
  ExpectFilled(table_, 0, 10, "v");
  Fill(table_, 10, 12, "v");
  EXPECT_STATUS(kUnavailable, "lost its lock", Return());
  ExpectRows(12);
}

TEST_P(LostServerStallConcurrencyTest, TheServerMayRegainItsLockBeforeTheWriteIsAcknowledged) {
  ASSERT_NO_FATAL_FAILURE(WriteAndStall(10));
  peer_->Expire(server_);
  Fill(table_, 0, 10, "w");
  const bool came_back = server_->state().serving();
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

}  // namespace
}  // namespace bigtable
