// The list of void batches is read as it was written, by the next process too.
#include "recovery/void_batches.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "lockservice/local_lock_service.h"
#include "support/expect_status.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

class VoidBatchesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(lock_service_, LocalLockService::Open(&file_system_, "/ls", &clock_));
    ASSERT_OK_AND_ASSIGN(session_, lock_service_->OpenSession({}));
  }

  InMemoryFileSystem file_system_;
  TestClock clock_{1000};
  std::unique_ptr<LocalLockService> lock_service_;
  std::unique_ptr<LockSession> session_;
};

TEST_F(VoidBatchesTest, AreLoadedAsTheyWereAdded) {
  VoidBatches written(session_.get());
  ASSERT_OK(written.Load());
  ASSERT_OK(written.Add({.first = 3, .last = 5}));
  ASSERT_OK(written.Add({.first = 9, .last = 9}));
  VoidBatches read(session_.get());
  ASSERT_OK(read.Load());
  ASSERT_EQ(read.All().size(), 2u);
  EXPECT_EQ(read.All()[0].first, 3u);
  EXPECT_EQ(read.All()[0].last, 5u);
  EXPECT_TRUE(read.All()[1].has(9));
  ASSERT_OK(read.Clear());
  VoidBatches after(session_.get());
  ASSERT_OK(after.Load());
  EXPECT_THAT(after.All(), testing::IsEmpty());
}

TEST_F(VoidBatchesTest, UnknownContentsAreDataLoss) {
  VoidBatches written(session_.get());
  ASSERT_OK(written.Add({.first = 3, .last = 5}));
  for (const std::string contents : {"3\n", "3 5 7\n", "x 5\n", "3 x\n", "5 3\n"}) {
    ASSERT_OK(session_->Write(std::string(VoidBatches::kFile), contents).status());
    EXPECT_STATUS(kDataLoss, "unknown contents", VoidBatches(session_.get()).Load());
  }
}

// Another write of the lock service is under way, and stalls.
TEST(VoidBatchesLimits, EndTheWaitForAnotherWrite) {
  InMemoryFileSystem memory;
  FaultyFileSystem faulty(&memory);
  TestClock clock{1000};
  ASSERT_OK_AND_ASSIGN(const auto lock_service, LocalLockService::Open(&faulty, "/ls", &clock));
  ASSERT_OK_AND_ASSIGN(const auto session, lock_service->OpenSession({}));
  VoidBatches batches(session.get());
  const FileCallFilter writes{.kinds = {FileCall::kNewWritableFile}};
  faulty.FailCalls(writes, absl::UnavailableError("no file"));
  ASSERT_FALSE(batches.Add({.first = 3, .last = 5}).ok());
  faulty.ClearFaults();
  faulty.StallCalls(writes);
  std::thread other([&] { EXPECT_OK(session->Write("other", "").status()); });
  EXPECT_TRUE(faulty.WaitUntilStalled(1));
  std::future<absl::Status> written = std::async(std::launch::async, [&] {
    return batches.WritePending({.deadline = Deadline::In(absl::Milliseconds(30))});
  });
  EXPECT_EQ(written.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  faulty.ReleaseCalls();
  EXPECT_STATUS(kDeadlineExceeded, "lock service", written.get());
  other.join();
  EXPECT_OK(batches.WritePending());
  VoidBatches read(session.get());
  ASSERT_OK(read.Load());
  EXPECT_EQ(read.All().size(), 1u);
}

}  // namespace
}  // namespace bigtable
