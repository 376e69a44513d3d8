// What LocalLockService guarantees beyond the contract: calls that need no disk do not access it,
// leases end without any call, and old and damaged files.
#include "lockservice/local_lock_service.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/strings.h"
#include "lockservice/small_files.h"
#include "support/expect_status.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = LockEventKind;

class LocalLockServiceTest : public testing::Test {
 protected:
  absl::Status OpenService(Clock* clock) {
    service_.reset();
    absl::StatusOr<std::unique_ptr<LocalLockService>> opened =
        LocalLockService::Open(&faulty_, "/ls", clock);
    if (opened.ok()) service_ = *std::move(opened);
    return opened.status();
  }
  std::unique_ptr<LockSession> Open(std::string owner = "test",
                                    absl::Duration lease = absl::Seconds(10)) {
    auto session = service_->OpenSession({.owner = std::move(owner), .lease = lease});
    EXPECT_OK(session);
    return *std::move(session);
  }
  void SetUp() override { ASSERT_OK(OpenService(&clock_)); }

  TestClock clock_{1'000'000};
  InMemoryFileSystem file_system_;
  FaultyFileSystem faulty_{&file_system_};
  std::unique_ptr<LocalLockService> service_;
};

TEST_F(LocalLockServiceTest, NothingIsCreatedBeforeTheFirstWrite) {
  const auto session = Open();
  EXPECT_STATUS(kNotFound, "f", session->Read("f"));
  EXPECT_STATUS(kNotFound, "f", session->TryLock("f", LockMode::kShared));
  EXPECT_FALSE(file_system_.FileExists("/ls"));
}

TEST_F(LocalLockServiceTest, AFileIsASmallFileWithItsGeneration) {
  const auto session = Open();
  ASSERT_OK_AND_ASSIGN(const Generation generation, session->Write("schema/web", "contents"));
  ASSERT_OK_AND_ASSIGN(const SmallFile file,
                       SmallFiles(&file_system_, "/ls").ReadWithGeneration("schema/web"));
  EXPECT_EQ(file.contents, "contents");
  EXPECT_EQ(file.generation, generation);
}

TEST_F(LocalLockServiceTest, ASecondReadDoesNotUseTheFileSystem) {
  const auto session = Open();
  ASSERT_OK(session->Write("f", "x"));
  ASSERT_OK(session->Read("f"));
  ASSERT_FALSE(session->Read("none").ok());
  faulty_.CountCalls();
  for (int i = 0; i < 10; ++i) {
    EXPECT_OK(session->Read("f"));
    EXPECT_STATUS(kNotFound, "none", session->Read("none"));
  }
  EXPECT_EQ(faulty_.calls(), 0u);
  ASSERT_OK(Open()->Write("f", "y"));
  faulty_.CountCalls();
  ASSERT_OK_AND_ASSIGN(const LockServiceFile file, session->Read("f"));
  EXPECT_EQ(file.contents, "y");
  EXPECT_GT(faulty_.calls(), 0u);
}

TEST_F(LocalLockServiceTest, OnlyFilesAndAcquisitionsNeedTheFileSystem) {
  const auto holder = Open(), other = Open();
  ASSERT_OK(holder->Write("f", "x"));
  ASSERT_OK_AND_ASSIGN(const auto sequencer, holder->TryLock("f", LockMode::kExclusive));
  faulty_.CountCalls();
  EXPECT_OK(holder->KeepAlive());
  EXPECT_OK(holder->CheckLock("f"));
  EXPECT_OK(other->CheckSequencer(*sequencer));
  EXPECT_OK(other->TryLock("f", LockMode::kExclusive));   // does not get it
  EXPECT_OK(holder->TryLock("f", LockMode::kExclusive));  // has it
  EXPECT_OK(other->WatchFile("f"));
  EXPECT_OK(holder->Unlock("f"));
  other->TakeEvents();
  service_->Sessions();
  EXPECT_EQ(faulty_.calls(), 0u);
}

TEST_F(LocalLockServiceTest, CallsWithoutFilesDoNotWaitForAWriteOnAnotherThread) {
  const auto session = Open(), writer = Open();
  ASSERT_OK(writer->Write("f", ""));
  ASSERT_OK(session->Read("f"));
  ASSERT_OK(session->TryLock("f", LockMode::kExclusive));
  ASSERT_OK(writer->Write("g", ""));
  faulty_.StallCalls({{FileCall::kSync}, ""});
  std::thread thread([&] { EXPECT_OK(writer->Write("g", "x")); });
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  EXPECT_OK(session->KeepAlive());
  EXPECT_OK(session->CheckLock("f"));
  EXPECT_OK(session->Read("f"));
  EXPECT_OK(session->Unlock("f"));
  EXPECT_OK(service_->ExpireSession(session->id()));
  EXPECT_FALSE(session->TakeEvents().empty());
  faulty_.ReleaseCalls();
  thread.join();
}

// The write of a session that was lost during it completes, but before another session gets its
// lock.
TEST_F(LocalLockServiceTest, ALockIsNotFreeWhileTheLostHolderStillWritesOnAnotherThread) {
  const auto holder = Open(), next = Open();
  ASSERT_OK(holder->Write("f", "old"));
  ASSERT_OK(holder->TryLock("f", LockMode::kExclusive));
  faulty_.StallCalls({{FileCall::kSync}, ""});
  std::thread write([&] { EXPECT_OK(holder->Write("f", "late")); });
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  ASSERT_OK(service_->ExpireSession(holder->id()));
  std::atomic<bool> acquired{false};
  std::thread acquire([&] {
    const auto got = next->TryLock("f", LockMode::kExclusive);
    EXPECT_TRUE(got.ok() && got->has_value());
    acquired = true;
  });
  absl::SleepFor(absl::Milliseconds(30));
  EXPECT_FALSE(acquired);
  faulty_.ReleaseCalls();
  write.join();
  acquire.join();
  EXPECT_EQ(next->Read("f")->contents, "late");
  EXPECT_STATUS(kFailedPrecondition, "is lost", holder->Write("f", "too late"));
}

TEST_F(LocalLockServiceTest, SessionsAreListedWithTheirLocks) {
  const auto a = Open("server-7"), b = Open("master", absl::Seconds(3));
  ASSERT_OK(a->Write("servers/7", ""));
  ASSERT_OK(a->Write("f", ""));
  ASSERT_OK(a->TryLock("servers/7", LockMode::kExclusive));
  ASSERT_OK(a->TryLock("f", LockMode::kShared));
  const std::vector<LocalLockService::SessionInfo> sessions = service_->Sessions();
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].id, a->id());
  EXPECT_EQ(sessions[0].owner, "server-7");
  EXPECT_EQ(sessions[0].lease_end, clock_.Now() + absl::Seconds(10));
  EXPECT_THAT(sessions[0].locks, ElementsAre("f", "servers/7"));
  EXPECT_EQ(sessions[1].owner, "master");
  EXPECT_EQ(sessions[1].lease_end, clock_.Now() + absl::Seconds(3));
  EXPECT_THAT(sessions[1].locks, IsEmpty());
  clock_.Advance(absl::Seconds(3));
  EXPECT_EQ(service_->Sessions().size(), 1u);
}

TEST_F(LocalLockServiceTest, OnlyALiveSessionCanBeMadeToExpire) {
  auto session = Open();
  const uint64_t id = session->id();
  EXPECT_STATUS(kNotFound, "no session", service_->ExpireSession(id + 1));
  EXPECT_OK(service_->ExpireSession(id));
  EXPECT_STATUS(kNotFound, "no session", service_->ExpireSession(id));
  session = Open();
  const uint64_t next = session->id();
  session.reset();
  EXPECT_STATUS(kNotFound, "no session", service_->ExpireSession(next));
}

TEST_F(LocalLockServiceTest, ALostSessionNamesItsOwner) {
  const auto session = Open("server-7");
  clock_.Advance(absl::Seconds(10));
  EXPECT_STATUS(kFailedPrecondition, "\"server-7\"", session->KeepAlive());
}

// Uses the machine's clock: no thread makes a call while the waiting one sleeps. It wakes long
// before its timeout.
TEST_F(LocalLockServiceTest, ASessionThatWaitsForALockIsWokenWhenTheHoldersLeaseEnds) {
  ASSERT_OK(OpenService(Clock::System()));
  const auto waiting = Open("waiting", absl::InfiniteDuration());
  ASSERT_OK(waiting->Write("f", ""));
  const auto holder = Open("holder", absl::Milliseconds(300));
  ASSERT_OK(holder->TryLock("f", LockMode::kExclusive));
  ASSERT_OK(waiting->TryLock("f", LockMode::kExclusive));
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(waiting->WaitForEvents(absl::Seconds(60)));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(30));
  EXPECT_THAT(waiting->TakeEvents(), ElementsAre(LockEvent{Kind::kLockFree, "f"}));
}

// The lease that ends first begins while another thread already sleeps.
TEST_F(LocalLockServiceTest, AWaitingSessionIsWokenByALeaseThatBeganLaterOnAnotherThread) {
  ASSERT_OK(OpenService(Clock::System()));
  const auto waiting = Open("waiting", absl::InfiniteDuration());
  ASSERT_OK(waiting->Write("f", ""));
  const absl::Time begin = absl::Now();
  std::thread thread([&] { EXPECT_TRUE(waiting->WaitForEvents(absl::Seconds(60))); });
  absl::SleepFor(absl::Milliseconds(20));
  const auto holder = Open("holder", absl::Milliseconds(300));
  ASSERT_OK(holder->TryLock("f", LockMode::kExclusive));
  ASSERT_OK(waiting->TryLock("f", LockMode::kExclusive));
  thread.join();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(30));
  EXPECT_THAT(waiting->TakeEvents(), ElementsAre(LockEvent{Kind::kLockFree, "f"}));
}

// Nothing else has checked the clock since: each call does so itself.
TEST_F(LocalLockServiceTest, EveryCallDetectsThatTheLeaseHasEnded) {
  const auto keeper = Open("keeper", absl::InfiniteDuration());
  ASSERT_OK(keeper->Write("f", "x"));
  const std::vector<std::function<absl::Status(LockSession*)>> calls = {
      [](LockSession* session) { return session->KeepAlive(); },
      [](LockSession* session) { return session->Read("f").status(); },  // which it has read
      [](LockSession* session) { return session->Read("g").status(); },
      [](LockSession* session) { return session->Write("f", "y").status(); },
      [](LockSession* session) { return session->Remove("f"); },
      [](LockSession* session) { return session->List("").status(); },
      [](LockSession* session) { return session->TryLock("f", LockMode::kShared).status(); },
      [](LockSession* session) { return session->Unlock("f"); },
      [](LockSession* session) { return session->CheckLock("f"); },
      [](LockSession* session) { return session->WatchFile("f"); },
      [](LockSession* session) { return session->WatchDirectory(""); },
      [](LockSession* session) { return session->Unwatch("f"); },
      [](LockSession* session) {
        return session->CheckSequencer({"f", LockMode::kShared, 1});
      },
      [](LockSession* session) {
        return session->alive() ? absl::OkStatus() : absl::FailedPreconditionError("is lost");
      },
      [](LockSession* session) {
        return session->TakeEvents().empty() ? absl::OkStatus()
                                             : absl::FailedPreconditionError("is lost");
      },
      [](LockSession* session) {
        return session->WaitForEvents(absl::ZeroDuration())
                   ? absl::FailedPreconditionError("is lost")
                   : absl::OkStatus();
      }};
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto session = Open();
    ASSERT_OK(session->Read("f"));
    ASSERT_OK(session->TryLock("f", LockMode::kShared));
    clock_.Advance(absl::Seconds(10));
    EXPECT_STATUS(kFailedPrecondition, "is lost", calls[i](session.get())) << "call " << i;
  }
  EXPECT_EQ(keeper->Read("f")->contents, "x");
}

// A lock is free as soon as its holder's lease has ended.
TEST_F(LocalLockServiceTest, ALapsedHolderBlocksNoOtherSession) {
  const auto holder = Open(), next = Open("next", absl::Seconds(60));
  ASSERT_OK(holder->Write("f", "x"));
  ASSERT_OK_AND_ASSIGN(const auto sequencer, holder->TryLock("f", LockMode::kExclusive));
  clock_.Advance(absl::Seconds(10));
  EXPECT_STATUS(kAborted, "not held", next->CheckSequencer(*sequencer));
  ASSERT_OK_AND_ASSIGN(const auto got, next->TryLock("f", LockMode::kExclusive));
  EXPECT_TRUE(got.has_value());
}

TEST_F(LocalLockServiceTest, ALostSessionStaysLostWhenTheClockJumpsBack) {
  const auto session = Open();
  clock_.Advance(absl::Seconds(10));
  EXPECT_FALSE(session->alive());
  clock_.Advance(-absl::Seconds(10));
  EXPECT_FALSE(session->alive());
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->KeepAlive());
}

TEST_F(LocalLockServiceTest, FilesWithoutGenerationsAreReadAndReplaced) {
  std::string bytes("BTSMALLF\x01\0\0\0", 12);
  AppendFixed64(&bytes, Checksum(std::string("schema/web\0contents", 19)));
  bytes += "contents";
  file_system_.SetContents("/ls/schema/web", bytes);
  ASSERT_OK(SmallFiles(&file_system_, "/ls").Write("schema/a", "by hand"));

  const auto session = Open();
  for (const std::string name : {"schema/web", "schema/a"}) {
    ASSERT_OK_AND_ASSIGN(const LockServiceFile file, session->Read(name));
    EXPECT_EQ(file.generation, SmallFiles::kUnknownGeneration);
    EXPECT_STATUS(kAborted, name, session->Write(name, "x", SmallFiles::kUnknownGeneration + 1));
    ASSERT_OK_AND_ASSIGN(const Generation next, session->Write(name, "x", file.generation));
    EXPECT_GT(next, file.generation);
    EXPECT_STATUS(kAborted, name, session->Write(name, "y", file.generation));
  }
}

TEST_F(LocalLockServiceTest, ADamagedFileIsDataLossUntilItIsReplacedOrRemoved) {
  const auto session = Open();
  for (const std::string name : {"f", "g"}) {
    ASSERT_OK_AND_ASSIGN(const Generation generation, session->Write(name, "x"));
    file_system_.SetContents("/ls/" + name, "garbage");
    EXPECT_STATUS(kDataLoss, "/ls/" + name, session->Read(name));
    EXPECT_STATUS(kDataLoss, "/ls/" + name, session->Write(name, "y", generation));
    EXPECT_STATUS(kDataLoss, "/ls/" + name, session->Write(name, "y", kNoFile));
    EXPECT_STATUS(kDataLoss, "/ls/" + name, session->Remove(name, generation));
    EXPECT_STATUS(kDataLoss, "/ls/" + name, session->TryLock(name, LockMode::kShared));
  }
  EXPECT_OK(session->Write("f", "y"));
  EXPECT_OK(session->Read("f"));
  EXPECT_OK(session->Remove("g"));
  EXPECT_STATUS(kNotFound, "g", session->Read("g"));
}

TEST_F(LocalLockServiceTest, ALaterFormatIsRefusedAndNotReplaced) {
  const auto session = Open();
  ASSERT_OK(session->Write("f", "x"));
  std::string later = file_system_.Contents("/ls/f");
  StoreFixed32(later.data() + 8, 9);
  file_system_.SetContents("/ls/f", later);
  const auto other = Open();
  EXPECT_STATUS(kFailedPrecondition, "version 9", other->Read("f"));
  EXPECT_STATUS(kFailedPrecondition, "version 9", other->Write("f", "y"));
  EXPECT_TRUE(other->alive());
  EXPECT_EQ(file_system_.Contents("/ls/f"), later);
}

// ---- The generation counter.

TEST_F(LocalLockServiceTest, TheCounterOnDiskIsAThousandAhead) {
  const auto session = Open();
  faulty_.CountCalls({{FileCall::kRenameFile}, ".generation"});
  Generation last = 0;
  for (int i = 0; i < 2500; ++i) {
    ASSERT_OK_AND_ASSIGN(last, session->Write("f", ""));
  }
  EXPECT_EQ(faulty_.calls(), 3u);
  ASSERT_OK_AND_ASSIGN(const SmallFile bound,
                       SmallFiles(&file_system_, "/ls").ReadWithGeneration(".generation"));
  EXPECT_GE(bound.generation, last);
  EXPECT_LT(bound.generation, last + 1000);
  EXPECT_EQ(bound.contents, "");
}

TEST_F(LocalLockServiceTest, TheCounterIsNotAFileOfTheUsers) {
  const auto session = Open();
  ASSERT_OK(session->Write("f", ""));
  ASSERT_OK_AND_ASSIGN(const auto names, session->List(""));
  EXPECT_THAT(names, ElementsAre("f"));
  EXPECT_STATUS(kInvalidArgument, "begins with '.'", session->Read(".generation"));
  EXPECT_STATUS(kInvalidArgument, "begins with '.'", session->Remove(".generation"));
}

TEST_F(LocalLockServiceTest, TheServiceDoesNotOpenWithADamagedCounter) {
  ASSERT_OK(Open()->Write("f", ""));
  file_system_.SetContents("/ls/.generation", "garbage");
  EXPECT_STATUS(kDataLoss, "/ls/.generation", OpenService(&clock_));
}

TEST_F(LocalLockServiceTest, AMissingCounterIsDetectedWhenAFileIsRead) {
  ASSERT_OK(Open()->Write("f", ""));
  ASSERT_OK(file_system_.RemoveFile("/ls/.generation"));
  ASSERT_OK(OpenService(&clock_));
  EXPECT_STATUS(kDataLoss, "/ls/.generation", Open()->Read("f"));
}

}  // namespace
}  // namespace bigtable
