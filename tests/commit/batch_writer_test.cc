// A batch over two servers, one of which fails or ends while the batch is logged.
#include "commit/batch_writer.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "commit/batch_log_sync.h"
#include "commit/void_batches.h"
#include "lockservice/local_lock_service.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

class BatchWriterTest : public StartedServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartedServerFixture::SetUp());
    ASSERT_OK_AND_ASSIGN(service_, LocalLockService::Open(&faulty_, "/locks", &manual_));
    other_ = MakeServer();
    ASSERT_OK(other_->Start("server-2", "/other", service_.get()));
    auto layout = std::make_shared<TableLayout>(*tablet_->Layout());
    layout->table_id = kOtherTableId;
    ASSERT_OK_AND_ASSIGN(other_tablet_, Tablet::Open(other_->environment(), layout, {}));
    other_->AddTablet(other_tablet_);
    ASSERT_OK_AND_ASSIGN(session_, service_->OpenSession({}));
    // The fixture's server has no lock, and so no file.
    ASSERT_OK(session_->Write(FileOf(*server_), "").status());
    void_batches_ = std::make_unique<VoidBatches>(session_.get());
    writer_ = std::make_unique<BatchWriter>(&sequences_, void_batches_.get(), &batch_log_sync_);
  }
  void TearDown() override { faulty_.ReleaseCalls(); }
  // Writes a row of each tablet.
  absl::Status Apply() {
    std::string operations;
    AppendOperation(&operations, {.family = "f", .qualifier = "q", .value = "v"});
    const BatchMutation mutations[] = {
        {&server_->writer(), tablet_.get(), tablet_->writer()->layout(), {"row", operations}},
        {&other_->writer(),
         other_tablet_.get(),
         other_tablet_->writer()->layout(),
         {"row", operations}}};
    superseded_.reset();
    return writer_->Apply({.mutations = mutations, .durability = Durability::kSync}, &superseded_);
  }
  // The same, and `meanwhile` while the log of the other server is synced.
  absl::Status ApplyBeside(const std::function<void()>& meanwhile) {
    faulty_.StallCalls({{FileCall::kLogSync}, "/other/"});
    absl::Status status;
    std::thread applying([&] { status = Apply(); });
    EXPECT_TRUE(faulty_.WaitUntilStalled(1));
    meanwhile();
    faulty_.ReleaseCalls();
    applying.join();
    return status;
  }
  void EndOther() {
    other_->state().Abandon();  // its lock
    other_->state().MarkEnded();
  }
  static std::string FileOf(const TabletServer& server) {
    return ServerRecord::FileOf(server.environment()->server);
  }
  // The void batches in the records of both servers.
  std::string Voided() {
    std::string voided;
    for (const TabletServer* server : {server_.get(), other_.get()}) {
      const auto file = session_->Read(FileOf(*server));
      EXPECT_OK(file.status());
      voided += file->contents + ";";
    }
    return voided;
  }
  uint64_t Written() const {
    return server_->writer().rows_written() + other_->writer().rows_written();
  }

  TestClock manual_{1000};
  std::unique_ptr<LocalLockService> service_;
  std::unique_ptr<TabletServer> other_;
  std::shared_ptr<Tablet> other_tablet_;
  std::unique_ptr<LockSession> session_;
  std::unique_ptr<VoidBatches> void_batches_;
  BatchLogSync batch_log_sync_;
  std::unique_ptr<BatchWriter> writer_;
  std::optional<size_t> superseded_;
};

TEST_F(BatchWriterTest, ABatchIsAppliedAtBothServersAndVisible) {
  ASSERT_OK(Apply());
  EXPECT_EQ(superseded_, std::nullopt);
  EXPECT_EQ(Written(), 2u);
  // Which of them has the first number depends on their addresses.
  EXPECT_EQ(std::min(server_->visible(), other_->visible()), 1u);
  EXPECT_EQ(std::max(server_->visible(), other_->visible()), 2u);
  EXPECT_EQ(Voided(), ";;");
}

// Nobody will ever find it, so that it can be applied at the servers that have the tablets next.
TEST_F(BatchWriterTest, ABatchWhoseServerEndsMeanwhileIsVoidAndSuperseded) {
  ASSERT_OK(ApplyBeside([&] { EndOther(); }));
  EXPECT_EQ(superseded_, 1u);
  EXPECT_EQ(Written(), 0u);
  EXPECT_EQ(Voided(), "void 1 2;void 1 2;");
  EXPECT_OK(server_->write_error().status());
  EXPECT_OK(Write("row"));
}

TEST_F(BatchWriterTest, ABatchThatCannotBeMadeVoidFailsAtAllOfItsServers) {
  const absl::Status status = ApplyBeside([&] {
    EndOther();
    faulty_.FailCalls({{FileCall::kNewWritableFile}, "/locks"}, absl::UnavailableError("no file"));
  });
  EXPECT_STATUS(kUnavailable, "has lost its lock", status);
  EXPECT_EQ(superseded_, std::nullopt);
  EXPECT_EQ(Written(), 0u);
  EXPECT_STATUS(kUnavailable, "has lost its lock", server_->write_error().status());
  EXPECT_STATUS(kUnavailable, "has lost its lock", Write("row"));
}

TEST_F(BatchWriterTest, ABatchWhoseLogFailsIsVoidAndTheOtherServerGoesOn) {
  faulty_.FailCalls({{FileCall::kLogSync}, "/other/"}, absl::InternalError("no sync"));
  EXPECT_STATUS(kInternal, "no sync", Apply());
  EXPECT_EQ(superseded_, std::nullopt);
  EXPECT_EQ(Written(), 0u);
  EXPECT_EQ(Voided(), "void 1 2;void 1 2;");
  EXPECT_STATUS(kInternal, "no sync", other_->write_error().status());
  EXPECT_OK(server_->write_error().status());
  EXPECT_OK(Write("row"));
}

TEST_F(BatchWriterTest, ABatchForAServerThatHasEndedIsNotLogged) {
  EndOther();
  ASSERT_OK(Apply());
  EXPECT_EQ(superseded_, 1u);
  EXPECT_EQ(server_->log().statistics().records, 0u);
  EXPECT_EQ(Voided(), ";;");
}

}  // namespace
}  // namespace bigtable
