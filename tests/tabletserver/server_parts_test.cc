// The parts of a server one by one: its lock, its statistics, the lists that it keeps.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"
#include "bigtable/trace.h"

#include "admission/stall_notices.h"
#include "commit/batch_log_sync.h"
#include "commit/server_lock.h"
#include "lockservice/local_lock_service.h"
#include "recovery/server_record.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

// --- The lock ---

class ServerLockTest : public testing::Test {
 protected:
  using State = ServerLock::State;

  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(service_, LocalLockService::Open(&file_system_, "/ls", &clock_));
    ASSERT_OK_AND_ASSIGN(
        master_, service_->OpenSession({.owner = "master", .lease = absl::InfiniteDuration()}));
    ASSERT_OK_AND_ASSIGN(lock_, Create("one"));
  }
  absl::StatusOr<std::unique_ptr<ServerLock>> Create(std::string_view name) {
    return ServerLock::Create(service_.get(), name, absl::Seconds(10));
  }
  // As if the server had not renewed its lease.
  void LoseSession() {
    clock_.Advance(absl::Seconds(11));
    service_->ExpireLapsedSessions();
  }
  bool MasterTakesLock() {
    const auto taken = master_->TryLock(file_, LockMode::kExclusive);
    EXPECT_OK(taken.status());
    return taken.ok() && taken->has_value();
  }

  const std::string file_ = ServerRecord::FileOf("one");
  InMemoryFileSystem file_system_;
  TestClock clock_{1'000'000'000};
  std::unique_ptr<LocalLockService> service_;
  std::unique_ptr<LockSession> master_;
  std::unique_ptr<ServerLock> lock_;
};

TEST_F(ServerLockTest, IsHeldFromItsCreationOn) {
  EXPECT_TRUE(lock_->held());
  EXPECT_EQ(lock_->Renew(), State::kHeld);
  EXPECT_FALSE(MasterTakesLock());
  EXPECT_STATUS(kAlreadyExists, "", Create("one").status());
  EXPECT_OK(Create("two").status());
}

TEST_F(ServerLockTest, ARenewalKeepsTheLease) {
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(absl::Seconds(6));
    EXPECT_TRUE(lock_->held());
    EXPECT_EQ(lock_->Renew(), State::kHeld);
    service_->ExpireLapsedSessions();
  }
  EXPECT_TRUE(lock_->held());
}

TEST_F(ServerLockTest, ALostLockIsTakenAgainUnlessAnotherSessionHasIt) {
  LoseSession();
  EXPECT_FALSE(lock_->held());
  EXPECT_EQ(lock_->Renew(), State::kHeld);
  EXPECT_TRUE(lock_->held());
  LoseSession();
  ASSERT_TRUE(MasterTakesLock());
  EXPECT_EQ(lock_->Renew(), State::kLost);
  EXPECT_FALSE(lock_->held());
  ASSERT_OK(master_->Unlock(file_));
  EXPECT_EQ(lock_->Renew(), State::kHeld);
  EXPECT_TRUE(lock_->held());
}

TEST_F(ServerLockTest, EndsWhenItsFileIsFenced) {
  LoseSession();
  ASSERT_TRUE(MasterTakesLock());
  ASSERT_OK(master_->Write(file_, "fenced").status());
  ASSERT_OK(master_->Unlock(file_));
  EXPECT_EQ(lock_->Renew(), State::kEnded);
  EXPECT_FALSE(lock_->held());
  ASSERT_OK(master_->Write(file_, "").status());
  EXPECT_EQ(lock_->Renew(), State::kEnded);  // for ever
}

TEST_F(ServerLockTest, EndsWhenItsFileIsRemoved) {
  LoseSession();
  ASSERT_OK(master_->Remove(file_));
  EXPECT_EQ(lock_->Renew(), State::kEnded);
  EXPECT_FALSE(lock_->held());
}

TEST_F(ServerLockTest, AnAbandonedLockIsNotTakenAgain) {
  lock_->Abandon();
  EXPECT_FALSE(lock_->held());
  EXPECT_EQ(lock_->Renew(), State::kLost);
  EXPECT_TRUE(MasterTakesLock());
  lock_->Abandon();  // does no harm
}

TEST_F(ServerLockTest, AServerThatClosesRemovesItsFile) {
  ASSERT_OK(lock_->Release());
  EXPECT_FALSE(lock_->held());
  EXPECT_EQ(lock_->Renew(), State::kEnded);
  EXPECT_STATUS(kNotFound, "", master_->Read(file_).status());
  EXPECT_OK(lock_->Release());  // it is gone already
}

// --- Stalls ---

class StallLimitsTest : public testing::Test {
 protected:
  static constexpr absl::Duration kTick = absl::Nanoseconds(1);

  // "0>1": the change that is reported, if any.
  std::string Note(StallReason reason, absl::Duration waited, absl::Duration later) {
    now_ = now_ + later;
    const auto change = notices_.Record(reason, waited, now_);
    if (!change.has_value()) return "";
    lasted_ = change->lasted;
    return std::to_string(static_cast<int>(change->before)) + ">" +
           std::to_string(static_cast<int>(change->now));
  }

  StallNotices notices_;
  SteadyTime now_ = SteadyTime::FromNanos(1'000'000'000);
  absl::Duration lasted_;
};

TEST_F(StallLimitsTest, BeginsWithTwentyMillisecondsOfWaiting) {
  constexpr StallReason kMemory = StallReason::kMemory, kNone = StallReason::kNone;
  const absl::Duration begin = StallNotices::kBegin, end = StallNotices::kEnd;
  EXPECT_EQ(Note(kMemory, begin - kTick, absl::ZeroDuration()), "");
  EXPECT_EQ(Note(kMemory, kTick, absl::ZeroDuration()), "0>1");
  EXPECT_EQ(lasted_, absl::ZeroDuration());
  EXPECT_EQ(Note(kNone, absl::ZeroDuration(), end - kTick), "");
  EXPECT_EQ(Note(kMemory, kTick, absl::ZeroDuration()), "");  // one more wait
  EXPECT_EQ(Note(kNone, absl::ZeroDuration(), end - kTick), "");
  EXPECT_EQ(Note(kNone, absl::ZeroDuration(), kTick), "1>0");
  EXPECT_EQ(lasted_, 2 * end - kTick);
  // What was collected counts no more.
  EXPECT_EQ(Note(kMemory, begin - kTick, absl::ZeroDuration()), "");
  EXPECT_EQ(Note(kMemory, kTick, absl::ZeroDuration()), "0>1");
}

TEST_F(StallLimitsTest, AFifthOfTheTimeIsSubtracted) {
  const absl::Duration begin = StallNotices::kBegin;
  EXPECT_EQ(Note(StallReason::kMemory, begin - kTick, absl::ZeroDuration()), "");
  EXPECT_EQ(Note(StallReason::kMemory, absl::ZeroDuration(), 5 * kTick), "");
  EXPECT_EQ(Note(StallReason::kMemory, kTick, absl::ZeroDuration()), "");
  EXPECT_EQ(Note(StallReason::kMemory, kTick, absl::ZeroDuration()), "0>1");
}

TEST_F(StallLimitsTest, AnotherReasonIsReportedOnceItHasLasted) {
  constexpr StallReason kMemory = StallReason::kMemory, kRuns = StallReason::kSortedRuns;
  const absl::Duration end = StallNotices::kEnd;
  EXPECT_EQ(Note(kMemory, StallNotices::kBegin, absl::ZeroDuration()), "0>1");
  EXPECT_EQ(Note(kRuns, kTick, absl::Seconds(0.1)), "");
  EXPECT_EQ(Note(kRuns, kTick, end - kTick), "");
  EXPECT_EQ(Note(kRuns, kTick, kTick), "1>2");
  EXPECT_EQ(lasted_, absl::Seconds(0.1) + end);
  // A time without a reason is no other reason.
  EXPECT_EQ(Note(StallReason::kNone, kTick, absl::Seconds(0.2)), "");
  EXPECT_EQ(Note(kRuns, kTick, end), "");
  // An earlier time by another thread's clock.
  EXPECT_EQ(Note(kRuns, absl::ZeroDuration(), -absl::Seconds(10)), "");
}

// --- Logs with parts of batches ---

class LinkedLogsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i) {
      logs_.push_back(*CommitLog::Create(&faulty_, Cat("log", i), {.segment_size = 64 << 10}));
    }
  }
  // Parts of a batch in these logs.
  void Add(const std::vector<size_t>& in) {
    std::vector<BatchLogSync::LinkedLog> parts;
    for (const size_t i : in) {
      const std::string_view part = "part";
      ASSERT_OK(logs_[i]->Append(RecordType::kBatchPart, ++sequence_, {&part, 1}, nullptr));
      ASSERT_OK(logs_[i]->Flush());
      parts.push_back({logs_[i], &state_, &error_});
    }
    sync_.Add(parts);
  }
  // The logs that are synced, as "02".
  std::string Synced() const {
    std::string text;
    for (size_t i = 0; i < logs_.size(); ++i) {
      if (logs_[i]->synced_offset() == logs_[i]->end_offset()) text += std::to_string(i);
    }
    return text;
  }

  InMemoryFileSystem disk_;
  FaultyFileSystem faulty_{&disk_};
  std::vector<std::shared_ptr<CommitLog>> logs_;
  SequenceNumber sequence_ = 0;
  ServingState state_{[] {}};
  TabletEnvironment environment_;
  InfoLog info_log_{nullptr};
  WriteError error_{&environment_, &info_log_};
  BatchLogSync sync_;
};

TEST_F(LinkedLogsTest, OnlyLogsThatBatchesLinkAreSyncedTogether) {
  sync_.Add({});
  EXPECT_OK(sync_.SyncAll());
  EXPECT_OK(sync_.SyncLinked(logs_[0].get()));
  EXPECT_EQ(Synced(), "012");  // nothing was written
  Add({0, 1});
  Add({2});
  EXPECT_EQ(Synced(), "");
  ASSERT_OK(sync_.SyncLinked(logs_[2].get()));
  EXPECT_EQ(Synced(), "2");
  ASSERT_OK(sync_.SyncLinked(logs_[0].get()));
  EXPECT_EQ(Synced(), "012");
}

TEST_F(LinkedLogsTest, ABatchLinksTheLogsThatEarlierOnesHaveLinked) {
  Add({0, 1});
  Add({1, 2});
  ASSERT_OK(sync_.SyncLinked(logs_[0].get()));
  EXPECT_EQ(Synced(), "012");
  Add({0});
  Add({1});
  ASSERT_OK(sync_.SyncLinked(logs_[0].get()));  // they are linked no more
  EXPECT_EQ(Synced(), "02");
  ASSERT_OK(sync_.SyncAll());
  EXPECT_EQ(Synced(), "012");
}

TEST_F(LinkedLogsTest, WhatIsSyncedIsNotSyncedAgain) {
  Add({0, 1});
  ASSERT_OK(sync_.SyncAll());
  faulty_.CountCalls({{FileCall::kLogSync}, ""});
  ASSERT_OK(sync_.SyncAll());
  ASSERT_OK(sync_.SyncLinked(logs_[0].get()));
  EXPECT_EQ(faulty_.calls(), 0u);
  Add({0});
  ASSERT_OK(logs_[0]->Sync());  // for another reason
  faulty_.CountCalls({{FileCall::kLogSync}, ""});
  ASSERT_OK(sync_.SyncAll());
  EXPECT_EQ(faulty_.calls(), 0u);
}

TEST_F(LinkedLogsTest, ADroppedLogNeedsNoSync) {
  Add({0, 1});
  logs_[0].reset();
  logs_.erase(logs_.begin());
  EXPECT_OK(sync_.SyncAll());
  EXPECT_EQ(Synced(), "01");
  EXPECT_OK(error_.status());
}

TEST_F(LinkedLogsTest, OfLogsThatCannotBeSyncedTheFirstErrorIsReturned) {
  Add({0, 1});
  faulty_.FailCalls({{FileCall::kLogSync}, "log1"}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", sync_.SyncLinked(logs_[0].get()));
  EXPECT_EQ(Synced(), "02");
  EXPECT_STATUS(kUnavailable, "no sync", sync_.SyncLinked(logs_[0].get()));  // still linked
  EXPECT_STATUS(kUnavailable, "no sync", error_.status());
}

// --- Statistics ---

class ServerStatisticsTest : public StartedServerFixture {};

TEST_F(ServerStatisticsTest, EachOfThemIsOfWhatItSays) {
  std::string set;
  AppendOperation(&set, {.family = "f", .qualifier = "q", .value = std::string(50'000, 'v')});
  ASSERT_OK(Apply(kTableId, {{"a", set}}));
  ASSERT_OK(Apply(kTableId, {{"b", set}}, Durability::kSync));
  ASSERT_OK(Apply(kTableId, {{"c", set}, {"d", set}}));
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(Write("x"));
  const TabletServerStatistics statistics = server_->Statistics();
  EXPECT_EQ(statistics.rows_written, 5u);
  EXPECT_EQ(statistics.writes, 4u);
  EXPECT_EQ(statistics.write_groups, 4u);
  EXPECT_EQ(statistics.log_records, 4u);
  EXPECT_GT(statistics.log_bytes_written, 200'000u);
  EXPECT_LT(statistics.log_bytes_written, 201'000u);
  EXPECT_EQ(statistics.log_syncs, 1u);
  EXPECT_EQ(statistics.log_stalls, 0u);
  EXPECT_EQ(statistics.log_switches, 0u);
  EXPECT_GE(statistics.log_segments_created, 3u);
  EXPECT_EQ(statistics.log_bytes_live, server_->log().LiveBytes());
  EXPECT_GT(statistics.log_bytes_live, 0u);
  EXPECT_EQ(statistics.queue_wait.count, 4u);
  EXPECT_EQ(statistics.log_append.count, 4u);
  EXPECT_EQ(statistics.memtable_apply.count, 4u);
  EXPECT_EQ(statistics.log_sync.count, 1u);
  EXPECT_EQ(statistics.minor.finished, 1u);
  EXPECT_EQ(statistics.minor.failed, 0u);
  EXPECT_EQ(statistics.minor_compaction.count, 1u);
  EXPECT_EQ(statistics.merging.finished, 0u);
  EXPECT_EQ(statistics.merging_compaction.count, 0u);
  ASSERT_EQ(statistics.tablets.size(), 1u);
  EXPECT_EQ(statistics.tablets[0].table, "t");
  EXPECT_EQ(statistics.tablets[0].rows.begin(), "");
  EXPECT_EQ(statistics.tablets[0].rows.end(), std::nullopt);
  EXPECT_EQ(statistics.tablets[0].rows_written, 5u);
  EXPECT_EQ(statistics.tablets[0].size.files, 1u);
  EXPECT_EQ(statistics.tablets[0].minor.finished, 1u);
  server_->SplitTablet(tablet_, "c", [](const Tablet::Halves&) {});
  const TabletServerStatistics after = server_->Statistics();
  ASSERT_EQ(after.tablets.size(), 2u);
  EXPECT_EQ(after.tablets[0].rows.end(), "c");
  EXPECT_EQ(after.tablets[1].rows.begin(), "c");
  EXPECT_EQ(after.tablets[0].rows_written, 5u);  // the left half continues
  EXPECT_EQ(after.tablets[1].rows_written, 0u);
}

TEST_F(ServerStatisticsTest, ATraceHasTheTimesOfItsGroup) {
  std::string set;
  AppendOperation(&set, {.family = "f", .qualifier = "q", .value = "v"});
  const EncodedMutation mutation{"a", set};
  absl::Status status;
  RequestTrace trace;
  const CallSample sample{.weight = 3, .trace = &trace};
  const DataPath path(server_.get(), nullptr, nullptr, nullptr, DataPath::Writes::kLogged);
  WriteRequest write{.tablet = tablet_.get(),
                     .mutations = {&mutation, 1},
                     .statuses = {&status, 1},
                     .durability = Durability::kSync,
                     .sample = &sample};
  ASSERT_TRUE(path.Apply(&write));
  ASSERT_OK(status);
  EXPECT_EQ(trace.group_size, 1u);
  for (const absl::Duration time : {trace.queue, trace.log, trace.sync, trace.memtable}) {
    EXPECT_GT(time, absl::ZeroDuration());
    EXPECT_LT(time, absl::Seconds(60));
  }
  EXPECT_EQ(server_->Statistics().queue_wait.count, 3u);
  // A write that is not measured leaves no times.
  write.sample = nullptr;
  ASSERT_TRUE(path.Apply(&write));
  EXPECT_EQ(server_->Statistics().queue_wait.count, 3u);
  EXPECT_EQ(trace.group_size, 1u);
}

}  // namespace
}  // namespace bigtable
