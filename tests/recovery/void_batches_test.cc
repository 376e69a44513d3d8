// The list of void batches is read as it was written, by the next process too.
#include "recovery/void_batches.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

}  // namespace
}  // namespace bigtable
