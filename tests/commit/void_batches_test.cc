// Void batches are noted in the records of all their servers, at once or later.
#include "commit/void_batches.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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
    batches_.reset();
    session_.reset();
    ASSERT_OK_AND_ASSIGN(service_, LocalLockService::Open(&faulty_, "/ls", &clock_));
    ASSERT_OK_AND_ASSIGN(session_, service_->OpenSession({}));
    batches_ = std::make_unique<VoidBatches>(session_.get());
    for (const std::string server : {"a", "b", "c"}) ASSERT_OK(Write(server, ""));
  }
  absl::Status Write(const std::string& server, const std::string& contents) {
    return session_->Write(ServerRecord::FileOf(server), contents).status();
  }
  // As the next process reads it.
  std::string Contents(const std::string& server) {
    const auto service = LocalLockService::Open(&disk_, "/ls", &clock_);
    const auto session = (*service)->OpenSession({});
    const auto file = (*session)->Read(ServerRecord::FileOf(server));
    return file.ok() ? file->contents : std::string(absl::StatusCodeToString(file.status().code()));
  }
  absl::Status Add(const SequenceRange& batch) { return batches_->Add(batch, {"a", "b"}); }

  InMemoryFileSystem disk_;
  FaultyFileSystem faulty_{&disk_};
  TestClock clock_{1000};
  std::unique_ptr<LocalLockService> service_;
  std::unique_ptr<LockSession> session_;
  std::unique_ptr<VoidBatches> batches_;
};

TEST_F(VoidBatchesTest, AreNotedInTheRecordsOfTheirServers) {
  ASSERT_OK(Add({.first = 9, .last = 9}));
  ASSERT_OK(Add({.first = 3, .last = 5}));
  EXPECT_EQ(Contents("a"), "void 3 5\nvoid 9 9");
  EXPECT_EQ(Contents("b"), "void 3 5\nvoid 9 9");
  EXPECT_EQ(Contents("c"), "");
}

TEST_F(VoidBatchesTest, WhatTheRecordsSaidBeforeStays) {
  ASSERT_OK(Write("a", "fenced 20 10\nvoid 1 2"));
  ASSERT_OK(Write("b", "fenced, done"));
  ASSERT_OK(Add({.first = 5, .last = 6}));
  EXPECT_EQ(Contents("a"), "fenced 20 10\nvoid 1 2\nvoid 5 6");
  EXPECT_EQ(Contents("b"), "fenced, done");
}

// Its log is removed, and nothing of it is ever read.
TEST_F(VoidBatchesTest, AServerWithoutAFileGetsNone) {
  ASSERT_OK(session_->Remove(ServerRecord::FileOf("a")));
  ASSERT_OK(Add({.first = 5, .last = 6}));
  EXPECT_EQ(Contents("a"), "NOT_FOUND");
  EXPECT_EQ(Contents("b"), "void 5 6");
}

TEST_F(VoidBatchesTest, WhatCouldNotBeWrittenIsWrittenLater) {
  for (const std::string server : {"servers/a", "servers/b"}) {
    SetUp();
    faulty_.FailCalls({{FileCall::kNewWritableFile}, server}, absl::UnavailableError("no file"));
    EXPECT_STATUS(kUnavailable, "no file", Add({.first = 3, .last = 5}));
    EXPECT_STATUS(kUnavailable, "no file", batches_->WritePending());
    faulty_.ClearFaults();
    EXPECT_NE(Contents("a") + Contents("b"), "void 3 5void 3 5");
    ASSERT_OK(batches_->WritePending());
    EXPECT_EQ(Contents("a") + Contents("b"), "void 3 5void 3 5");
    faulty_.CountCalls();
    EXPECT_OK(batches_->WritePending());  // nothing is pending any more
    EXPECT_EQ(faulty_.calls(), 0u);
  }
}

// The file may have been renamed without being durable.
TEST_F(VoidBatchesTest, AWriteThatHasFailedIsRepeatedEvenIfItsResultIsThere) {
  faulty_.FailCalls({{FileCall::kSyncDirectory}, ""}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", Add({.first = 3, .last = 5}));
  faulty_.ClearFaults();
  faulty_.CountCalls({{FileCall::kNewWritableFile}, "servers/"});
  ASSERT_OK(batches_->WritePending());
  EXPECT_EQ(faulty_.calls(), 2u);
  const auto after = disk_.CrashClone(1, Unsynced::kNothing);
  ASSERT_OK_AND_ASSIGN(const auto service, LocalLockService::Open(after.get(), "/ls", &clock_));
  ASSERT_OK_AND_ASSIGN(const auto session, service->OpenSession({}));
  for (const std::string server : {"a", "b"}) {
    ASSERT_OK_AND_ASSIGN(const ServerRecord record, ReadServerRecord(session.get(), server));
    EXPECT_TRUE(record.IsVoid(4));
  }
}

// Another write of the lock service is under way, and stalls.
TEST_F(VoidBatchesTest, LimitsEndTheWaitForAnotherWrite) {
  const FileCallFilter writes{.kinds = {FileCall::kNewWritableFile}};
  faulty_.FailCalls(writes, absl::UnavailableError("no file"));
  ASSERT_FALSE(Add({.first = 3, .last = 5}).ok());
  faulty_.ClearFaults();
  faulty_.StallCalls(writes);
  std::thread other([&] { EXPECT_OK(session_->Write("other", "").status()); });
  EXPECT_TRUE(faulty_.WaitUntilStalled(1));
  std::future<absl::Status> written = std::async(std::launch::async, [&] {
    return batches_->WritePending({.deadline = Deadline::In(absl::Milliseconds(30))});
  });
  EXPECT_EQ(written.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  faulty_.ReleaseCalls();
  EXPECT_STATUS(kDeadlineExceeded, "lock service", written.get());
  other.join();
  EXPECT_OK(batches_->WritePending());
  EXPECT_EQ(Contents("b"), "void 3 5");
}

// Another batch is being made void, which stalls.
TEST_F(VoidBatchesTest, LimitsEndTheWaitForAnotherBatch) {
  faulty_.StallCalls({.kinds = {FileCall::kNewWritableFile}});
  std::thread other([&] { EXPECT_OK(Add({.first = 3, .last = 5})); });
  EXPECT_TRUE(faulty_.WaitUntilStalled(1));
  EXPECT_STATUS(kDeadlineExceeded, "the call",
                batches_->WritePending({.deadline = Deadline::In(absl::Milliseconds(30))}));
  faulty_.ReleaseCalls();
  other.join();
}

// Masters and the leaders of groups write the same records.
TEST_F(VoidBatchesTest, ThreadsThatChangeOneRecordLoseNothing) {
  constexpr SequenceNumber kEach = 20;
  std::vector<std::thread> threads;
  for (SequenceNumber thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      VoidBatches batches(session_.get());  // without a lock in common
      for (SequenceNumber i = 0; i < kEach; ++i) {
        const SequenceNumber first = (thread * kEach + i) * 10 + 1;
        EXPECT_OK(batches.Add({.first = first, .last = first + 1}, {"a", "b"}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK_AND_ASSIGN(const ServerRecord record, ReadServerRecord(session_.get(), "a"));
  EXPECT_EQ(record.void_batches.size(), 3 * kEach);
}

}  // namespace
}  // namespace bigtable
