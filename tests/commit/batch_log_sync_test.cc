// The sync of the logs with parts of batches: logs of servers that have ended, and logs that cannot
// be synced.
#include "commit/batch_log_sync.h"

#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/info_log.h"
#include "commitlog/log_directory.h"
#include "support/expect_status.h"
#include "tablet/tablet_environment.h"

namespace bigtable {
namespace {

class BatchLogSyncTest : public testing::Test {
 protected:
  void SetUp() override {
    CommitLogOptions options;
    options.segment_size = 64 << 10;
    auto log = CommitLog::Create(&faulty_, "log", options);
    ASSERT_OK(log);
    log_ = *std::move(log);
    const std::string_view part = "part";
    ASSERT_OK(log_->Append(RecordType::kBatchPart, 1, {&part, 1}, nullptr));
    ASSERT_OK(log_->Flush());
    sync_.Add({{log_, &state_, &error_}});
  }

  InMemoryFileSystem disk_;
  FaultyFileSystem faulty_{&disk_};
  std::shared_ptr<CommitLog> log_;
  ServingState state_{[] {}};
  TabletEnvironment environment_;
  InfoLog info_log_{nullptr};
  WriteError error_{&environment_, &info_log_};
  BatchLogSync sync_;
};

TEST_F(BatchLogSyncTest, PartsAreSynced) {
  ASSERT_OK(sync_.SyncAll());
  EXPECT_EQ(log_->synced_offset(), log_->end_offset());
  EXPECT_OK(error_.status());
}

TEST_F(BatchLogSyncTest, ALaterPartIsSyncedAlthoughTheEarlierOneIs) {
  ASSERT_OK(log_->Sync());
  const std::string_view part = "later";
  ASSERT_OK(log_->Append(RecordType::kBatchPart, 2, {&part, 1}, nullptr));
  ASSERT_OK(log_->Flush());
  sync_.Add({{log_, &state_, &error_}});
  ASSERT_LT(log_->synced_offset(), log_->end_offset());
  ASSERT_OK(sync_.SyncLinked(log_.get()));
  EXPECT_EQ(log_->synced_offset(), log_->end_offset());
}

TEST_F(BatchLogSyncTest, TheServerOfALogThatCannotBeSyncedRefusesWrites) {
  faulty_.FailCalls({{FileCall::kLogSync}, ""}, absl::UnavailableError("injected"));
  EXPECT_STATUS(kUnavailable, "injected", sync_.SyncAll());
  EXPECT_STATUS(kUnavailable, "injected", error_.status());
}

// The system reports an error of a sync once. After that, a sync through another descriptor
// succeeds, and the data are lost.
TEST_F(BatchLogSyncTest, AnEndedServersLogThatCouldNotBeSyncedIsNotSyncedByAnotherAttempt) {
  faulty_.FailCalls({{FileCall::kLogSync}, ""}, absl::UnavailableError("injected"));
  EXPECT_STATUS(kUnavailable, "injected", log_->Sync());
  faulty_.ClearFaults();
  state_.MarkEnded();
  EXPECT_STATUS(kUnavailable, "injected", sync_.SyncAll());
  EXPECT_STATUS(kUnavailable, "injected", sync_.SyncLinked(log_.get()));
  EXPECT_OK(error_.status());  // it accepts no writes any more
  sync_.Forget(&state_);       // its log was copied
  EXPECT_OK(sync_.SyncAll());
  EXPECT_OK(sync_.SyncLinked(log_.get()));
}

TEST_F(BatchLogSyncTest, OnlyTheThreadThatResumesAServerPassesOverItsLog) {
  faulty_.FailCalls({{FileCall::kLogSync}, ""}, absl::UnavailableError("injected"));
  bool is_durable = true;
  EXPECT_STATUS(kUnavailable, "injected", sync_.SyncLinked(log_.get(), &is_durable));
  EXPECT_TRUE(is_durable);
  error_.BeginResume();
  EXPECT_OK(sync_.SyncLinked(log_.get(), &is_durable));
  EXPECT_FALSE(is_durable);
  EXPECT_OK(sync_.SyncLinked(log_.get()));
  std::thread([&] {
    EXPECT_STATUS(kUnavailable, "injected", sync_.SyncLinked(log_.get()));
    EXPECT_STATUS(kUnavailable, "injected", sync_.SyncAll());
  }).join();
  error_.EndResume();
  EXPECT_STATUS(kUnavailable, "injected", sync_.SyncLinked(log_.get()));  // it is still linked
}

TEST_F(BatchLogSyncTest, TheFilesOfAnEndedServersLogMayBeRemovedMeanwhile) {
  state_.MarkEnded();
  // As if the files were removed after they were found.
  faulty_.FailCalls({{FileCall::kSyncFile, FileCall::kSyncDirectory}, ""},
                    absl::NotFoundError("removed"));
  ASSERT_OK(RemoveLog(&disk_, "log"));
  EXPECT_OK(sync_.SyncAll());
  EXPECT_OK(error_.status());
}

}  // namespace
}  // namespace bigtable
