// Table::ApplyBatch: messages, what may be under way, and answers about entries.
#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "remote/fake_fixture.h"

namespace bigtable::remote {
namespace {

using testing::ElementsAre;

class BatchesTest : public FakeTest {
 protected:
  static void SayDone(const v2::MutateRowsRequest& request, v2::MutateRowsResponse* response) {
    for (int i = 0; i < request.entries_size(); ++i) response->add_entries()->set_index(i);
  }
  absl::Status ApplyOne(const std::string& row, size_t bytes, const WriteOptions& options = {}) {
    return table_->ApplyBatch(
        std::vector<RowMutation>{RowMutation(row).Set("f:q", std::string(bytes, 'v'))}, options)[0];
  }
};

TEST_F(BatchesTest, EntriesThatTheServerDoesNotReportAreErrors) {
  fake_.mutate_rows = [](int, const auto&, v2::MutateRowsResponse* response) {
    response->add_entries()->set_index(1);
    response->add_entries()->set_index(-1);
    response->add_entries()->set_index(3);
    return grpc::Status::OK;
  };
  const std::vector<absl::Status> statuses = table_->ApplyBatch(std::vector<RowMutation>{
      RowMutation("a").DeleteRow(), RowMutation("b").DeleteRow(), RowMutation("c").DeleteRow()});
  EXPECT_TRUE(absl::IsInternal(statuses[0])) << statuses[0];
  EXPECT_TRUE(statuses[1].ok()) << statuses[1];
  EXPECT_TRUE(absl::IsInternal(statuses[2])) << statuses[2];
}

TEST_F(BatchesTest, AMessageHasAtMostAHundredThousandOperations) {
  fake_.mutate_rows = [](int, const v2::MutateRowsRequest& request, auto* response) {
    SayDone(request, response);
    return grpc::Status::OK;
  };
  std::vector<RowMutation> mutations;
  for (const char* row : {"a", "b", "c"}) {
    RowMutation& mutation = mutations.emplace_back(row);
    for (int i = 0; i < 50'000; ++i) mutation.DeleteFamily("f");
  }
  for (const absl::Status& status : table_->ApplyBatch(mutations)) EXPECT_TRUE(status.ok());
  std::vector<int> entries;
  for (const v2::MutateRowsRequest& batch : fake_.batches())
    entries.push_back(batch.entries_size());
  EXPECT_THAT(entries, ElementsAre(2, 1));
}

TEST_F(BatchesTest, WhatIsUnderWayIsBounded) {
  std::atomic<int> under_way = 0;
  std::atomic<int> most = 0;
  fake_.mutate_rows = [&](int, const v2::MutateRowsRequest& request, auto* response) {
    most = std::max<int>(most, ++under_way);
    absl::SleepFor(absl::Milliseconds(50));
    --under_way;
    SayDone(request, response);
    return grpc::Status::OK;
  };
  Connect({.max_outstanding_bytes = 1 << 20});
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] { EXPECT_TRUE(ApplyOne(std::to_string(i), 400 << 10).ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 2);
}

TEST_F(BatchesTest, WaitingForOthersEndsWithTheCallAndTheDatabase) {
  // The server's thread may outlive the call.
  const auto answer = std::make_shared<absl::Notification>();
  const auto asked = std::make_shared<absl::Notification>();
  fake_.mutate_rows = [=](int, const v2::MutateRowsRequest& request, auto* response) {
    asked->Notify();
    answer->WaitForNotification();
    SayDone(request, response);
    return grpc::Status::OK;
  };
  Connect({.max_outstanding_bytes = 1 << 20});
  std::thread first([&] { (void)ApplyOne("first", 900 << 10); });
  asked->WaitForNotification();
  const absl::Status late =
      ApplyOne("late", 900 << 10, {.deadline = absl::Now() + absl::Milliseconds(50)});
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  std::thread closer([&] {
    absl::SleepFor(absl::Milliseconds(50));
    EXPECT_TRUE(database_->Close().ok());
  });
  // Longer than the test should take, so that it ends if Close is not noticed.
  const absl::Status closed =
      ApplyOne("closed", 900 << 10, {.deadline = absl::Now() + absl::Seconds(5)});
  EXPECT_TRUE(absl::IsFailedPrecondition(closed)) << closed;
  closer.join();
  answer->Notify();
  first.join();
  EXPECT_EQ(fake_.calls(), 1);
}

TEST_F(BatchesTest, EntriesThatWaitForTheNextTryEndWithTheCall) {
  fake_.mutate_rows = [](int, const v2::MutateRowsRequest& request,
                         v2::MutateRowsResponse* response) {
    for (int i = 0; i < request.entries_size(); ++i) {
      auto* const entry = response->add_entries();
      entry->set_index(i);
      if (request.entries(i).row_key() != "done") entry->mutable_status()->set_code(14);
    }
    return grpc::Status::OK;
  };
  Cancellation cancellation;
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(100));
    cancellation.Cancel();
  });
  const std::vector<absl::Status> statuses = table_->ApplyBatch(
      std::vector<RowMutation>{RowMutation("a").DeleteRow(), RowMutation("done").DeleteRow(),
                               RowMutation("b").DeleteRow()},
      {.cancellation = &cancellation});
  canceller.join();
  EXPECT_TRUE(absl::IsCancelled(statuses[0])) << statuses[0];
  EXPECT_TRUE(statuses[1].ok()) << statuses[1];
  EXPECT_TRUE(absl::IsCancelled(statuses[2])) << statuses[2];
}

// While others wait, it may start alone.
TEST_F(BatchesTest, AMutationThatIsLargerThanAllThatMayBeUnderWayIsSent) {
  fake_.mutate_rows = [](int, const v2::MutateRowsRequest& request, auto* response) {
    SayDone(request, response);
    return grpc::Status::OK;
  };
  Connect({.max_outstanding_bytes = 1 << 20});
  for (int i = 0; i < 2; ++i) {
    const absl::Status status =
        ApplyOne("large", 2 << 20, {.deadline = absl::Now() + absl::Seconds(10)});
    EXPECT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace bigtable::remote
