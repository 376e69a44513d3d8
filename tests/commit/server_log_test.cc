// The upkeep of a server's log: which segments are released, and what happens after its end.
#include "commit/server_log.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "recovery/log_replay.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

class ServerLogTest : public StartedServerFixture {
 protected:
  // Fills several segments of 64 KiB.
  void WriteSegments() {
    for (int i = 0; i < 30; ++i) ASSERT_OK(Write("row", std::string(10000, 'v')));
  }
};

TEST_F(ServerLogTest, SegmentsAreReleasedOnceTheirMutationsAreFlushed) {
  WriteSegments();
  const uint64_t needed = server_->log().LiveBytes();
  ASSERT_OK(server_->log().Maintain());
  EXPECT_EQ(server_->log().LiveBytes(), needed);
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->log().Maintain());
  EXPECT_LT(server_->log().LiveBytes(), needed);
}

TEST_F(ServerLogTest, SegmentsAreReleasedOnlyAfterCommitsWereAttested) {
  absl::Status attested = absl::UnavailableError("not attested");
  server_->mutable_environment()->attest_commits = [&](const CallLimits&) { return attested; };
  WriteSegments();
  const uint64_t needed = server_->log().LiveBytes();
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_STATUS(kUnavailable, "not attested", server_->log().Maintain());
  EXPECT_EQ(server_->log().LiveBytes(), needed);
  attested = absl::OkStatus();
  ASSERT_OK(server_->log().Maintain());
  EXPECT_LT(server_->log().LiveBytes(), needed);
}

// Between the two times at which Maintain looks at the log, a writer may end a segment.
TEST_F(ServerLogTest, ASegmentThatIsEndedMeanwhileIsReleasedOnlyAfterCommitsWereAttested) {
  std::atomic<int> attested{0};
  server_->mutable_environment()->attest_commits = [&](const CallLimits&) {
    ++attested;
    return absl::OkStatus();
  };
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->log().Maintain());  // prepares the next segment
  ASSERT_OK(server_->log().Get()->Sync());
  faulty_.StallCalls({{FileCall::kLogSync}, "STATE"});
  std::thread attesting([&] { EXPECT_OK(server_->log().Attest()); });
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  std::thread upkeep([&] { EXPECT_OK(server_->log().Maintain()); });
  absl::SleepFor(absl::Milliseconds(50));  // it waits for the end of Attest
  server_->writer().queue()->RunExclusive([&] { EXPECT_OK(server_->log().StartNextSegment()); });
  const uint64_t live = server_->log().LiveBytes();
  faulty_.ReleaseCalls();
  attesting.join();
  upkeep.join();
  if (attested == 0) {
    EXPECT_EQ(server_->log().LiveBytes(), live);
  }
  ASSERT_OK(server_->log().Maintain());
  EXPECT_GT(attested, 0);
  EXPECT_LT(server_->log().LiveBytes(), live);
}

// Each of them waits for another one's.
TEST_F(ServerLogTest, UpkeepKeepsTheDeadlineOfItsCall) {
  ASSERT_OK(Write("row"));
  ASSERT_OK(server_->log().Get()->Sync());
  faulty_.StallCalls({{FileCall::kLogSync}, "STATE"});
  std::thread attesting([&] { EXPECT_OK(server_->log().Attest()); });
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  const auto soon = [] { return CallLimits{.deadline = Deadline::In(absl::Milliseconds(20))}; };
  ServerLog& log = server_->log();
  EXPECT_STATUS(kDeadlineExceeded, "upkeep of the log", log.Maintain(soon()));
  EXPECT_STATUS(kDeadlineExceeded, "upkeep of the log", log.Attest(soon()));
  EXPECT_STATUS(kDeadlineExceeded, "upkeep of the log", log.PrepareFreshSpare(soon()).status());
  EXPECT_STATUS(kDeadlineExceeded, "upkeep of the log", log.Trim(soon()));
  faulty_.ReleaseCalls();
  attesting.join();
  EXPECT_OK(log.Maintain());
}

TEST_F(ServerLogTest, ALogWhoseCommitsCannotBeAttestedIsNotTrimmed) {
  ASSERT_NO_FATAL_FAILURE(WriteSegments());
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->log().Maintain());
  server_->mutable_environment()->attest_commits = [](const CallLimits&) {
    return absl::UnavailableError("not attested");
  };
  ASSERT_NO_FATAL_FAILURE(WriteSegments());
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  faulty_.CountCalls({{FileCall::kRemoveFile}, ".log"});
  EXPECT_STATUS(kUnavailable, "not attested", server_->log().Trim({}));
  EXPECT_EQ(faulty_.calls(), 0u);
  server_->mutable_environment()->attest_commits = nullptr;
  EXPECT_OK(server_->log().Trim({}));
  EXPECT_GT(faulty_.calls(), 0u);
}

// The server that takes over reads and removes the files.
TEST_F(ServerLogTest, TheLogOfAnEndedServerGetsNoFreshFile) {
  ASSERT_OK(Write("row"));
  server_->state().MarkEnded();
  server_->WaitForEnd();
  faulty_.CountCalls();
  EXPECT_OK(server_->StartFreshLogSegment({}));
  EXPECT_EQ(faulty_.calls(), 0u);
}

TEST_F(ServerLogTest, TheLogOfAnEndedServerCannotBeAttested) {
  ASSERT_OK(Write("row"));
  ASSERT_OK(server_->log().Attest());
  server_->state().MarkEnded();
  server_->WaitForEnd();
  EXPECT_STATUS(kUnavailable, "has ended", server_->log().Attest());
  EXPECT_OK(server_->log().Maintain());  // which does nothing
}

// Whether the segments were written before, and how many there are, makes no difference.
TEST_F(ServerLogTest, TheLogOfAnEndedServerThatCannotBeSyncedIsCopied) {
  ASSERT_NO_FATAL_FAILURE(WriteSegments());
  ASSERT_OK(server_->log().Get()->Sync());
  ASSERT_NO_FATAL_FAILURE(WriteSegments());
  faulty_.FailCalls({{FileCall::kLogSync}, "/log/"}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", server_->log().Get()->Sync());
  server_->state().MarkEnded();
  server_->WaitForEnd();
  faulty_.FailCalls({{FileCall::kSync}, "/log/"}, absl::UnavailableError("no copy"));
  absl::Status unsynced;
  const absl::Status failed = server_->log().MakeDurable(&unsynced);
  EXPECT_STATUS(kUnavailable, "no sync", failed);
  EXPECT_STATUS(kUnavailable, "no copy", failed);
  EXPECT_NE(server_->log().Get(), nullptr);
  faulty_.ClearFaults();
  faulty_.CountCalls({{FileCall::kNewWritableFile}, ""});
  ASSERT_OK(server_->log().MakeDurable(&unsynced));
  EXPECT_STATUS(kUnavailable, "no sync", unsynced);
  // Only the segments that may not be durable.
  EXPECT_GE(faulty_.calls(), 5u);
  EXPECT_LE(faulty_.calls(), 7u);
  EXPECT_EQ(server_->log().Get(), nullptr);
  // What its commits say may not be relied on before other servers have its tablets.
  EXPECT_STATUS(kUnavailable, "is being replaced", server_->log().Attest());
  const auto after = file_system_.CrashClone(1, Unsynced::kNothing);
  const auto ignore = [](RecordType, SequenceNumber, std::string_view) { return absl::OkStatus(); };
  ASSERT_OK_AND_ASSIGN(const LogEnd end, ReplayLog(after.get(), "/log", {}, ignore));
  EXPECT_EQ(end.records, 60u);
  // The next try syncs the copies, and needs no others.
  faulty_.CountCalls({{FileCall::kNewWritableFile, FileCall::kSyncFile}, ""});
  faulty_.FailCall(1, absl::UnavailableError("not yet"));
  EXPECT_STATUS(kUnavailable, "not yet", server_->log().MakeDurable(&unsynced));
  ASSERT_OK(server_->log().MakeDurable(&unsynced));
  server_->log().Drop();
  EXPECT_OK(server_->log().Attest());
}

TEST_F(ServerLogTest, TheLogOfAnEndedServerIsSyncedThroughTheFilesThatItHasOpen) {
  ASSERT_OK(Write("row"));
  server_->state().MarkEnded();
  server_->WaitForEnd();
  faulty_.CountCalls({{FileCall::kNewWritableFile, FileCall::kSyncFile}, ""});
  absl::Status unsynced;
  ASSERT_OK(server_->log().MakeDurable(&unsynced));
  EXPECT_OK(unsynced);
  EXPECT_EQ(faulty_.calls(), 0u);
  EXPECT_EQ(server_->log().Get()->synced_offset(), server_->log().Get()->end_offset());
}

TEST_F(ServerLogTest, ADroppedLogLeavesItsStatistics) {
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row"));
  server_->state().MarkEnded();
  server_->WaitForEnd();
  server_->log().Drop();
  EXPECT_EQ(server_->log().Get(), nullptr);
  EXPECT_EQ(server_->log().LiveBytes(), 0u);
  EXPECT_EQ(server_->log().statistics().records, 2u);
}

}  // namespace
}  // namespace bigtable
