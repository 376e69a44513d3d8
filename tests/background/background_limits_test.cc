// What calls of background work wait for, how the limits of a call end each of these waits, and
// that an error of one step of a call is the error of the call.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/compaction_policy.h"

#include "background/work_speed.h"
#include "compaction/policies.h"
#include "support/expect_status.h"
#include "support/limited_store.h"
#include "support/random.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

// Without the threads of background work.
class BackgroundLimitsTest : public StartedServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartedServerFixture::SetUp());
    background_.SetServers({server_.get()});
  }
  void TearDown() override { faulty_.ReleaseCalls(); }
  static CallLimits Soon() { return {.deadline = Deadline::In(absl::Milliseconds(30))}; }
  static CallLimits Over() { return {.deadline = Deadline::In(-absl::Seconds(1))}; }
  void MakeRuns(int runs) {
    for (int i = 0; i < runs; ++i) {
      ASSERT_OK(Write("row"));
      server_->rotation().RotateAll(tablet_.get());
      ASSERT_OK(background_.FlushNow(server_.get()));
    }
  }
  void Rotate() {
    ASSERT_OK(Write("row"));
    server_->rotation().RotateAll(tablet_.get());
  }
  size_t Runs() const { return tablet_->Version()->groups()[0].runs.size(); }
  // Calls `call` while another thread has the turn of the server's writes.
  void InTheTurnOfAnother(const std::function<void()>& call) {
    absl::Notification begun, done;
    std::thread other([&] {
      server_->writer().queue()->RunExclusive([&] {
        begun.Notify();
        done.WaitForNotificationWithTimeout(absl::Seconds(5));
      });
    });
    begun.WaitForNotification();
    call();
    done.Notify();
    other.join();
  }
  // Calls `call` while `work` of another thread waits for a new SSTable.
  void BesideStalled(const std::function<absl::Status()>& work, const std::function<void()>& call) {
    faulty_.StallCalls({{FileCall::kNewWritableFile}, ".sst"});
    std::thread other([&] { EXPECT_OK(work()); });
    EXPECT_TRUE(faulty_.WaitUntilStalled(1));
    call();
    faulty_.ReleaseCalls();
    other.join();
  }
};

TEST_F(BackgroundLimitsTest, AFlushThatNobodyMakesEndsAtItsDeadline) {
  ASSERT_OK(Write("row"));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushTablet(server_.get(), tablet_, Soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushServer(server_.get(), Soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.CompactTablet(server_.get(), tablet_, Soon()));
  EXPECT_EQ(server_->Statistics().merging.finished, 0u);
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_OK(background_.FlushTablet(server_.get(), tablet_, Soon()));
  EXPECT_OK(background_.FlushServer(server_.get(), Soon()));
}

TEST_F(BackgroundLimitsTest, ACallWhoseDeadlineHasPassedDoesNothing) {
  ASSERT_OK(Write("row"));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushTablet(server_.get(), tablet_, Over()));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushServer(server_.get(), Over()));
  EXPECT_FALSE(tablet_->HasImmutable(0));  // nothing was rotated
  server_->rotation().RotateAll(tablet_.get());
  EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushNow(server_.get(), Over()));
  EXPECT_TRUE(tablet_->HasImmutable(0));
}

TEST_F(BackgroundLimitsTest, TheTurnToRotateMemtablesIsAwaitedUntilTheDeadline) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(1));
  InTheTurnOfAnother([&] {
    EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushTablet(server_.get(), tablet_, Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushServer(server_.get(), Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", background_.CompactTablet(server_.get(), tablet_, Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", background_.EraseOldLog(server_.get(), kTableId, Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", server_->rotation().RotateLargest(Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", server_->BeginResume(Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", server_->FinishResume(Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", server_->StopTablet(tablet_.get(), Soon()));
    EXPECT_STATUS(kDeadlineExceeded, "", server_->DropMemtables(tablet_.get(), Soon()));
  });
  EXPECT_FALSE(tablet_->flags().stopped());
  EXPECT_TRUE(server_->rotation().HasLogged(kTableId));
}

TEST_F(BackgroundLimitsTest, AFlushThatAnotherThreadMakesIsAwaitedUntilTheDeadline) {
  ASSERT_NO_FATAL_FAILURE(Rotate());
  BesideStalled(
      [&] { return background_.FlushNow(server_.get()); },
      [&] {
        EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushNow(server_.get(), Soon()));
        EXPECT_STATUS(kDeadlineExceeded, "", background_.WaitForTablet(tablet_.get(), Soon()));
        EXPECT_STATUS(kDeadlineExceeded, "", background_.ClaimTablet(tablet_.get(), Soon()));
        EXPECT_STATUS(kDeadlineExceeded, "", background_.WaitUntilQuiet(Soon()));
      });
  EXPECT_OK(background_.WaitForTablet(tablet_.get(), Soon()));
  EXPECT_EQ(server_->Statistics().minor.finished, 1u);
  // It is not claimed by the call that has failed.
  ASSERT_OK(background_.ClaimTablet(tablet_.get(), Soon()));
  background_.ReleaseTablet(tablet_.get());
}

TEST_F(BackgroundLimitsTest, AClaimedTabletIsAwaitedUntilTheDeadlineOfAFlush) {
  ASSERT_NO_FATAL_FAILURE(Rotate());
  ASSERT_OK(background_.ClaimTablet(tablet_.get(), {}));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.FlushNow(server_.get(), Soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.WaitUntilQuiet(Soon()));
  ASSERT_OK(background_.FlushClaimed(server_.get(), tablet_));
  EXPECT_FALSE(tablet_->HasImmutable(0));
  background_.ReleaseTablet(tablet_.get());
}

// Only once the compaction has ended, flushes wait for the claim, too.
TEST_F(BackgroundLimitsTest, WhileAClaimWaitsForACompactionMemtablesAreFlushed) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(3));
  BesideStalled(
      [&] { return background_.CompactTablet(server_.get(), tablet_, {}); },
      [&] {
        EXPECT_STATUS(kDeadlineExceeded, "", background_.ClaimTablet(tablet_.get(), Soon()));
        EXPECT_STATUS(kDeadlineExceeded, "", background_.WaitForTablet(tablet_.get(), Soon()));
        EXPECT_STATUS(kDeadlineExceeded, "",
                      background_.CompactTablet(server_.get(), tablet_, Soon()));
        std::thread claims([&] { EXPECT_OK(background_.ClaimTablet(tablet_.get(), {})); });
        absl::SleepFor(absl::Milliseconds(20));
        ASSERT_OK(Write("row"));
        server_->rotation().RotateAll(tablet_.get());
        // A flush of this thread begins, and waits for its file: it is not held up by the claim.
        std::thread flushes([&] { EXPECT_OK(background_.FlushNow(server_.get())); });
        EXPECT_TRUE(faulty_.WaitUntilStalled(2, absl::Seconds(5)));
        faulty_.ReleaseCalls();
        claims.join();
        background_.ReleaseTablet(tablet_.get());
        flushes.join();  // it looks once more what is due
      });
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(BackgroundLimitsTest, AFailedStepOfErasingALogLeavesItToBeErased) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(1));
  const auto erase = [&] { return background_.EraseOldLog(server_.get(), kTableId, Soon()); };
  faulty_.FailCalls({{FileCall::kNewLogFile}, ""}, absl::UnavailableError("no log file"));
  EXPECT_STATUS(kUnavailable, "no log file", erase());
  EXPECT_TRUE(server_->rotation().HasLogged(kTableId));
  faulty_.ClearFaults();
  ASSERT_OK(Write("row"));
  EXPECT_STATUS(kDeadlineExceeded, "", erase());  // its memtable is not flushed
  EXPECT_TRUE(server_->rotation().HasLogged(kTableId));
  ASSERT_OK(background_.FlushNow(server_.get()));
  faulty_.FailCalls({{FileCall::kRemoveFile}, ".log"}, absl::UnavailableError("not removed"));
  EXPECT_STATUS(kUnavailable, "not removed", erase());
  EXPECT_TRUE(server_->rotation().HasLogged(kTableId));
  faulty_.ClearFaults();
  ASSERT_OK(erase());
  EXPECT_FALSE(server_->rotation().HasLogged(kTableId));
}

TEST_F(BackgroundLimitsTest, QuietNeedsNoLogSegmentToBeRemoved) {
  for (int i = 0; i < 30; ++i)
    ASSERT_OK(Write("row", std::string(10000, 'v')));  // several segments
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  faulty_.CountCalls({{FileCall::kRemoveFile}, ".log"});
  faulty_.FailCalls({{FileCall::kRemoveFile}, ".log"}, absl::UnavailableError("a fault"));
  EXPECT_OK(background_.WaitUntilQuiet({}));
  EXPECT_GT(faulty_.calls(), 0u);
}

// The next opening must not find the log as it was before the error.
TEST_F(BackgroundLimitsTest, AResumeEndsOnlyWithDurableCommits) {
  ASSERT_OK(Write("row"));
  server_->write_error().Set(absl::InternalError("an error"));
  absl::Status attested = absl::UnavailableError("not attested");
  server_->mutable_environment()->attest_commits = [&](const CallLimits&) { return attested; };
  ASSERT_OK(server_->BeginResume({}));
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_STATUS(kUnavailable, "not attested", server_->FinishResume({}));
  EXPECT_STATUS(kInternal, "an error", server_->write_error().status());
  attested = absl::OkStatus();
  ASSERT_OK(server_->FinishResume({}));
  EXPECT_OK(server_->write_error().status());
}

TEST_F(BackgroundLimitsTest, AResumeEndsOnlyWithANewLogSegmentIfTheLogHasFailed) {
  ASSERT_OK(Write("row"));
  server_->log().appending()->Fail(absl::InternalError("an error"));
  server_->write_error().Set(absl::InternalError("an error"));
  ASSERT_OK(server_->BeginResume({}));
  ASSERT_OK(background_.FlushNow(server_.get()));
  faulty_.FailCalls({{FileCall::kLogSync}, "STATE"}, absl::UnavailableError("no segment"));
  EXPECT_STATUS(kUnavailable, "no segment", server_->FinishResume({}));
  EXPECT_STATUS(kInternal, "an error", Write("row"));
  faulty_.ClearFaults();
  ASSERT_OK(server_->FinishResume({}));
  EXPECT_OK(Write("row"));
}

// --- With the threads of background work ---

class GivenUpFlushTest : public BackgroundLimitsTest {
 protected:
  void FailFlush() {
    ASSERT_NO_FATAL_FAILURE(Rotate());
    faulty_.FailCalls({{FileCall::kNewWritableFile}, ".sst"}, absl::UnavailableError("no file"));
    EXPECT_STATUS(kUnavailable, "no file", background_.FlushNow(server_.get()));
    ASSERT_TRUE(background_.IsFlushFailing(server_.get()));
  }
  void ExpectForgotten() {
    ASSERT_OK(background_.Start({server_.get()}, 0, nullptr));
    for (int i = 0; i < 5000 && background_.IsFlushFailing(server_.get()); ++i) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    EXPECT_FALSE(background_.IsFlushFailing(server_.get()));
    background_.Stop();
  }
};

TEST_F(GivenUpFlushTest, AFlushOfATabletThatWasDeletedFailsNoMore) {
  ASSERT_NO_FATAL_FAILURE(FailFlush());
  server_->RemoveTablet(tablet_->id());
  ExpectForgotten();
}

// The error of the server is reported instead.
TEST_F(GivenUpFlushTest, AFlushOfAServerThatRefusesWritesFailsNoMore) {
  ASSERT_NO_FATAL_FAILURE(FailFlush());
  server_->write_error().Set(absl::InternalError("an error"));
  ExpectForgotten();
}

// Merges the first two runs of three.
class FirstTwoPolicy final : public CompactionPolicy {
 public:
  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    if (group.runs.size() != 3) return std::nullopt;
    return CompactionPick{.first = 0, .count = 2};
  }
};

TEST_F(BackgroundLimitsTest, OnlyWhatACompactionReadsCountsForTheSpeedWhileItStalls) {
  ASSERT_OK(RegisterCompactionPolicy(
      "first-two", [](const LocalityGroup&) { return std::make_unique<FirstTwoPolicy>(); }));
  auto layout = std::make_shared<TableLayout>(*tablet_->Layout());
  layout->groups[0].options.compaction_policy = "first-two";
  server_->SetLayout(tablet_.get(), layout);
  ASSERT_OK(Write("before the row"));
  for (int i = 0; i < 50; ++i) ASSERT_OK(Write(Cat("row", i), Random(i).Bytes(100000)));
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_NO_FATAL_FAILURE(MakeRuns(2));
  ASSERT_EQ(Runs(), 3u);
  faulty_.StallCalls({{FileCall::kNewWritableFile}, ".sst"});
  ASSERT_OK(background_.Start({server_.get()}, 1, nullptr));
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  // The two runs have less than a megabyte, the third has five.
  WorkSpeed most;
  most.Begin(1'000'000);
  absl::SleepFor(absl::Milliseconds(400));
  const double limit = most.Now();
  EXPECT_LE(background_.meter().CompactionSpeed(), limit);
  faulty_.ReleaseCalls();
  background_.Stop();
  ForgetPolicy("first-two");
}

// However often the threads are woken meanwhile.
TEST_F(BackgroundLimitsTest, UpkeepThatFailsPauses) {
  ASSERT_NO_FATAL_FAILURE(Rotate());
  faulty_.CountCalls({{FileCall::kNewLogFile}, "/log"});
  faulty_.FailCall(1, absl::UnavailableError("no log file"), FaultyFileSystem::Repeat::kFromThenOn);
  ASSERT_OK(background_.Start({server_.get()}, 0, nullptr));
  for (int i = 0; i < 100; ++i) {
    background_.Wake();
    absl::SleepFor(absl::Milliseconds(2));
  }
  EXPECT_GE(faulty_.calls(), 1u);
  EXPECT_LE(faulty_.calls(), 20u);
  faulty_.ClearFaults();
  background_.ClearError();  // ends the pause
  for (int i = 0; i < 5000 && server_->log().NeedsUpkeep(); ++i) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_FALSE(server_->log().NeedsUpkeep());
  background_.Stop();
}

}  // namespace
}  // namespace bigtable
