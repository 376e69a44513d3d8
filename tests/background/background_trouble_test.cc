// What is known of flushes and compactions that fail, and which calls they keep waiting. Without
// the threads of background work: calls do it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "commitlog/log_format.h"
#include "support/expect_status.h"
#include "support/limited_store.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

class BackgroundTroubleTest : public StartedServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartedServerFixture::SetUp());
    background_.SetServers({server_.get()});
  }
  void MakeRuns(int runs) {
    for (int i = 0; i < runs; ++i) {
      ASSERT_OK(Write("row"));
      server_->rotation().RotateAll(tablet_.get());
      ASSERT_OK(background_.FlushNow(server_.get()));
    }
  }
  void FailNewFiles() {
    faulty_.FailCalls({{FileCall::kNewWritableFile}, ".sst"}, absl::UnavailableError("no file"));
  }
  absl::Status Compact(const CallLimits& limits = {}) {
    return background_.CompactTablet(server_.get(), tablet_, limits);
  }
  static CallLimits Soon() { return {.deadline = Deadline::In(absl::Milliseconds(30))}; }
  size_t Runs() const { return tablet_->Version()->groups()[0].runs.size(); }
};

TEST_F(BackgroundTroubleTest, AFlushThatFailsIsListedUntilOneSucceeds) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  EXPECT_TRUE(background_.HasFlushes());
  EXPECT_TRUE(background_.Failing().empty());
  FailNewFiles();
  EXPECT_STATUS(kUnavailable, "no file", background_.FlushNow(server_.get()));
  EXPECT_TRUE(background_.IsFlushFailing(server_.get()));
  ASSERT_EQ(background_.Failing().size(), 1u);
  const FailingWork first = background_.Failing()[0];
  EXPECT_EQ(first.kind, FailingWork::Kind::kFlush);
  EXPECT_EQ(first.server, "server-1");
  EXPECT_EQ(first.table, "");
  EXPECT_EQ(first.failures, 1u);
  EXPECT_STATUS(kUnavailable, "no file", first.status);
  EXPECT_STATUS(kUnavailable, "no file", background_.FlushNow(server_.get()));
  ASSERT_EQ(background_.Failing().size(), 1u);
  EXPECT_EQ(background_.Failing()[0].failures, 2u);
  EXPECT_EQ(background_.Failing()[0].since, first.since);
  EXPECT_OK(background_.StuckFlush());  // not for five seconds yet
  EXPECT_STATUS(kUnavailable, "no file", background_.WaitUntilQuiet(Soon()));
  EXPECT_EQ(server_->Statistics().minor.failed, 2u);
  faulty_.ClearFaults();
  EXPECT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(background_.IsFlushFailing(server_.get()));
  EXPECT_TRUE(background_.Failing().empty());
  EXPECT_FALSE(background_.HasFlushes());
  EXPECT_EQ(server_->Statistics().minor.finished, 1u);
  EXPECT_EQ(background_.meter().counters().minor_compactions, 1u);
  EXPECT_EQ(background_.meter().counters().minor_bytes_written,
            server_->Statistics().minor.bytes_written);
}

TEST_F(BackgroundTroubleTest, TheTroubleOfAServerThatIsReplacedIsForgotten) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  FailNewFiles();
  EXPECT_STATUS(kUnavailable, "no file", background_.FlushNow(server_.get()));
  const std::unique_ptr<TabletServer> other = MakeServer();
  background_.SetServers({server_.get(), other.get()});
  EXPECT_TRUE(background_.IsFlushFailing(server_.get()));
  background_.SetServers({other.get()});
  EXPECT_FALSE(background_.IsFlushFailing(server_.get()));
  EXPECT_FALSE(background_.HasFlushes());
  background_.SetServers({server_.get()});  // the other one ends before the threads do
}

// The server stops instead.
TEST_F(BackgroundTroubleTest, AFlushInDoubtIsNotRetried) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  LimitedStore store(&root_, 1);
  store.status = absl::UnavailableError("no METADATA");
  server_->mutable_environment()->store = &store;
  EXPECT_STATUS(kUnavailable, "no METADATA", background_.FlushNow(server_.get()));
  EXPECT_FALSE(background_.IsFlushFailing(server_.get()));
  store.is_in_doubt = false;
  EXPECT_STATUS(kUnavailable, "no METADATA", background_.FlushNow(server_.get()));
  EXPECT_TRUE(background_.IsFlushFailing(server_.get()));
}

TEST_F(BackgroundTroubleTest, OnAServerThatRefusesWritesNothingIsDue) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  server_->write_error().Set(absl::InternalError("a fault"));
  EXPECT_FALSE(background_.HasFlushes());
  EXPECT_STATUS(kInternal, "a fault", background_.WaitUntilQuiet({}));
  EXPECT_STATUS(kInternal, "a fault", background_.FlushTablet(server_.get(), tablet_, Soon()));
  server_->state().MarkEnded();  // it will be replaced
  EXPECT_STATUS(kDeadlineExceeded, "", background_.WaitUntilQuiet(Soon()));
}

TEST_F(BackgroundTroubleTest, ACompactionThatFailsIsListedUntilOneSucceeds) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(3));
  EXPECT_EQ(background_.meter().MostRuns(), 3u);
  FailNewFiles();
  EXPECT_STATUS(kUnavailable, "no file", Compact());
  ASSERT_EQ(background_.Failing().size(), 1u);
  const FailingWork first = background_.Failing()[0];
  EXPECT_EQ(first.kind, FailingWork::Kind::kCompaction);
  EXPECT_EQ(first.server, "server-1");
  EXPECT_EQ(first.table, "t");
  EXPECT_EQ(first.locality_group, "default");
  EXPECT_EQ(first.end_row, std::nullopt);
  EXPECT_EQ(first.failures, 1u);
  EXPECT_TRUE(tablet_->MayPickOther());
  EXPECT_EQ(background_.meter().MostRuns(), 0u);  // no writer waits for it
  EXPECT_STATUS(kUnavailable, "no file", Compact());
  EXPECT_EQ(background_.Failing()[0].failures, 2u);
  EXPECT_STATUS(kUnavailable, "no file", background_.WaitUntilQuiet({}));
  background_.PauseCompactions();
  EXPECT_OK(background_.WaitUntilQuiet({}));
  background_.ContinueCompactions();
  faulty_.ClearFaults();
  EXPECT_OK(Compact());
  EXPECT_TRUE(background_.Failing().empty());
  EXPECT_OK(background_.WaitUntilQuiet({}));
  EXPECT_EQ(Runs(), 1u);
  EXPECT_EQ(background_.meter().MostRuns(), 1u);
  const TabletServerStatistics statistics = server_->Statistics();
  EXPECT_EQ(statistics.merging.failed, 2u);
  EXPECT_EQ(statistics.merging.finished, 1u);
  EXPECT_EQ(statistics.tablets[0].merging.finished, 1u);
  EXPECT_EQ(statistics.tablets[0].merging.failed, 2u);
  EXPECT_EQ(statistics.merging_compaction.count, 1u);
  const WorkMeter::Counters counters = background_.meter().counters();
  EXPECT_EQ(counters.merging_compactions, 1u);
  EXPECT_EQ(counters.major_compactions, 1u);
  EXPECT_EQ(counters.merging_bytes_read, statistics.merging.bytes_read);
  EXPECT_EQ(counters.merging_bytes_written, statistics.merging.bytes_written);
  EXPECT_GT(counters.merging_bytes_read, counters.merging_bytes_written);
  EXPECT_EQ(counters.moved_bytes, 0u);
}

// What made it fail may be mended.
TEST_F(BackgroundTroubleTest, ACompactionThatBeganBeforeAResumeIsNotRecordedAsFailed) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(3));
  const FileCallFilter new_files = {{FileCall::kNewWritableFile}, ".sst"};
  faulty_.StallCalls(new_files);
  faulty_.FailCalls(new_files, absl::UnavailableError("no file"));
  absl::Status compacted;
  std::thread compaction([&] { compacted = Compact(); });
  EXPECT_TRUE(faulty_.WaitUntilStalled(1));
  background_.ClearError();
  tablet_->SetMayPickOther(false);
  faulty_.ReleaseCalls();
  compaction.join();
  EXPECT_STATUS(kUnavailable, "no file", compacted);
  EXPECT_TRUE(background_.Failing().empty());
  EXPECT_TRUE(tablet_->MayPickOther());  // it is tried again
  EXPECT_STATUS(kUnavailable, "no file", Compact());
  EXPECT_EQ(background_.Failing().size(), 1u);
}

// Without room for a file nothing is known of the file.
TEST_F(BackgroundTroubleTest, AFileIsQuarantinedAfterEightReadsThatFailedForAnotherReasonThanRoom) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(2));
  const auto fail_reads = [&](const absl::Status& error) {
    faulty_.ClearFaults();
    faulty_.FailCalls({{FileCall::kRead, FileCall::kPopulate}, ".sst"}, error);
  };
  fail_reads(absl::ResourceExhaustedError("no room"));
  for (int i = 0; i < 10; ++i) EXPECT_STATUS(kResourceExhausted, "no room", Compact());
  EXPECT_OK(tablet_->quarantine().Check(0));
  background_.ClearError();
  fail_reads(absl::UnavailableError("no read"));
  for (int i = 1; i <= 8; ++i) {
    EXPECT_OK(tablet_->quarantine().Check(0)) << i;
    EXPECT_STATUS(kUnavailable, "no read", Compact());
  }
  EXPECT_FALSE(tablet_->quarantine().Check(0).ok());
  EXPECT_TRUE(background_.Failing().empty());  // it is listed with the quarantined files
  EXPECT_TRUE(tablet_->MayPickOther());
}

// If METADATA may name its files, they stay.
TEST_F(BackgroundTroubleTest, ACompactionThatIsNotCommittedLeavesNoFiles) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(2));
  const auto files = [&] {
    const std::vector<std::string> all = file_system_.AllFiles();
    return std::count_if(all.begin(), all.end(),
                         [](const std::string& path) { return path.ends_with(".sst"); });
  };
  EXPECT_EQ(files(), 2);
  faulty_.FailCalls({{FileCall::kSyncDirectory}, ""}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", Compact());
  EXPECT_EQ(files(), 2);
  faulty_.ClearFaults();
  faulty_.FailCalls({{FileCall::kNewRandomAccessFile}, ".sst"}, absl::UnavailableError("no open"));
  EXPECT_STATUS(kUnavailable, "no open", Compact());
  EXPECT_EQ(files(), 2);
  faulty_.ClearFaults();
  LimitedStore store(&root_, 1);
  store.status = absl::UnavailableError("no METADATA");
  store.is_in_doubt = false;
  server_->mutable_environment()->store = &store;
  EXPECT_STATUS(kUnavailable, "no METADATA", Compact());
  EXPECT_EQ(files(), 2);
  EXPECT_OK(background_.compaction_error());
  store.is_in_doubt = true;
  EXPECT_STATUS(kUnavailable, "no METADATA", Compact());
  EXPECT_EQ(files(), 3);
  EXPECT_STATUS(kUnavailable, "no METADATA", background_.compaction_error());
}

TEST_F(BackgroundTroubleTest, ATableThatWasDeletedMeanwhileTakesNoWrites) {
  ASSERT_OK(Write("row"));
  tablet_->flags().MarkRemoved();
  EXPECT_STATUS(kNotFound, "table t was deleted", Write("row"));
  EXPECT_EQ(server_->writer().rows_written(), 1u);
}

TEST_F(BackgroundTroubleTest, TheTroubleOfATabletThatHasEndedIsForgotten) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(2));
  FailNewFiles();
  EXPECT_STATUS(kUnavailable, "no file", Compact());
  ASSERT_EQ(background_.Failing().size(), 1u);
  tablet_->flags().MarkSuperseded();
  EXPECT_TRUE(background_.Failing().empty());
}

TEST_F(BackgroundTroubleTest, ClearErrorForgetsTroublesAndQuarantines) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(2));
  FailNewFiles();
  EXPECT_STATUS(kUnavailable, "no file", Compact());
  const uint64_t number = tablet_->Version()->groups()[0].runs[0].files[0]->info().file_number;
  tablet_->Quarantine(0, number, absl::DataLossError("damaged"));
  EXPECT_STATUS(kDataLoss, "damaged", Compact());
  background_.ClearError();
  EXPECT_TRUE(background_.Failing().empty());
  EXPECT_OK(tablet_->quarantine().Check(0));
  faulty_.ClearFaults();
  EXPECT_OK(Compact());
}

TEST_F(BackgroundTroubleTest, ACompactionIsOfATabletThatIsThere) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(2));
  ASSERT_OK(background_.ClaimTablet(tablet_.get(), {}));
  EXPECT_STATUS(kDeadlineExceeded, "", Compact(Soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.ClaimTablet(tablet_.get(), Soon()));
  background_.ReleaseTablet(tablet_.get());
  tablet_->flags().SetStopped(true);
  EXPECT_STATUS(kDeadlineExceeded, "", Compact(Soon()));
  tablet_->flags().SetStopped(false);
  EXPECT_EQ(Runs(), 2u);
  tablet_->flags().MarkSuperseded();
  EXPECT_OK(Compact());
  EXPECT_EQ(Runs(), 2u);
  tablet_->flags().MarkRemoved();
  EXPECT_STATUS(kNotFound, "the table was deleted", Compact());
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(BackgroundTroubleTest, WhileTheDatabaseClosesNothingIsClaimedOrCompacted) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(2));
  background_.BeginClosing();
  EXPECT_STATUS(kFailedPrecondition, "is closed", background_.ClaimTablet(tablet_.get(), {}));
  EXPECT_STATUS(kFailedPrecondition, "is closed", Compact());
  EXPECT_STATUS(kFailedPrecondition, "is closed", background_.WaitUntilQuiet({}));
  EXPECT_EQ(Runs(), 2u);
  EXPECT_FALSE(background_.IsStopping());
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  EXPECT_OK(background_.FlushNow(server_.get()));  // not claimed by the call that failed
  background_.Stop();
  EXPECT_TRUE(background_.IsStopping());
}

TEST_F(BackgroundTroubleTest, RunsThatCanBeMergedAreWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(8));
  EXPECT_STATUS(kDeadlineExceeded, "", background_.WaitUntilQuiet(Soon()));
  background_.PauseCompactions();
  background_.PauseCompactions();
  background_.ContinueCompactions();
  EXPECT_OK(background_.WaitUntilQuiet({}));
  background_.ContinueCompactions();
  background_.ContinueCompactions();  // one too many
  EXPECT_STATUS(kDeadlineExceeded, "", background_.WaitUntilQuiet(Soon()));
  background_.PauseCompactions();
  EXPECT_OK(background_.WaitUntilQuiet({}));
}

// Files may have grown too old, without a change that would have the tablet searched.
TEST_F(BackgroundTroubleTest, WhoWaitsHasAllTabletsSearched) {
  ASSERT_NO_FATAL_FAILURE(MakeRuns(8));
  tablet_->SetMayPickOther(false);
  EXPECT_STATUS(kDeadlineExceeded, "", background_.WaitUntilQuiet(Soon()));
}

TEST_F(BackgroundTroubleTest, AFlushOrACompactionOfNothingIsNone) {
  EXPECT_OK(Compact());
  EXPECT_OK(background_.FlushTablet(server_.get(), tablet_, {}));
  EXPECT_OK(background_.FlushServer(server_.get(), {}));
  EXPECT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->Statistics().minor.finished, 0u);
  EXPECT_EQ(server_->Statistics().merging.finished, 0u);
  EXPECT_EQ(background_.meter().counters().merging_compactions, 0u);
  EXPECT_EQ(background_.meter().counters().minor_compactions, 0u);
}

TEST_F(BackgroundTroubleTest, ALogIsErasedOnlyIfItHasMutationsOfTheTable) {
  const uint64_t begin = server_->log().Get()->end_offset();
  ASSERT_OK(background_.EraseOldLog(server_.get(), kTableId, {}));
  EXPECT_EQ(server_->log().Get()->end_offset(), begin);
  ASSERT_NO_FATAL_FAILURE(MakeRuns(1));
  EXPECT_TRUE(server_->rotation().HasLogged(kTableId));
  EXPECT_FALSE(server_->rotation().HasLogged(kOtherTableId));
  ASSERT_OK(background_.EraseOldLog(server_.get(), kTableId, {}));
  EXPECT_GT(server_->log().Get()->end_offset() >> kSegmentShift, begin >> kSegmentShift);
  EXPECT_FALSE(server_->rotation().HasLogged(kTableId));
}

}  // namespace
}  // namespace bigtable
