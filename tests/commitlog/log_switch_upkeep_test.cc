// Upkeep and erasing while the log switches to its other file. The files are not mapped, so that
// each call of a switch can be stalled.
#include <memory>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

class LogSwitchUpkeepConcurrencyTest : public testing::Test {
 protected:
  // Records 1 to 3 are synced, and 4 to 6 are not, because the sync of segment 1 stalls.
  void SetUp() override {
    log_ = NewLog(&fs_);
    Fill(3);
    ASSERT_OK(log_->Sync());
    Fill(6);
    ASSERT_OK(log_->PrepareSpare());
    fs_.StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = SegmentName(1)});
    sync_ = std::make_unique<StallingSync>(log_.get(), &fs_);
  }
  void TearDown() override {
    fs_.ReleaseCalls();
    if (switcher_.joinable()) switcher_.join();
  }

  void Fill(SequenceNumber last) {
    while (appended_ < last) {
      ++appended_;
      ASSERT_OK(Add(log_.get(), appended_, Payload(appended_, 100)));
    }
  }
  // SwitchFile on a thread of its own, until its n-th write to segment 2: the first one is that of
  // the copies, and the second one that of the switch record.
  void SwitchUntilWrite(uint64_t n) {
    fs_.StallCalls({.kinds = {FileCall::kLogWrite}, .path_contains = SegmentName(2)}, n);
    BeginSwitch();
    ASSERT_TRUE(fs_.WaitUntilStalled(2));
  }
  void BeginSwitch() {
    switcher_ = std::thread([&] { switched_ = log_->SwitchFile(); });
  }
  absl::Status EndSwitch() {
    switcher_.join();
    return switched_;
  }
  // Expects this after a crash of the machine, and of the process.
  void ExpectAfterCrash(SequenceNumber synced) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Replayed read = ReplayAll(memory_.CrashClone(seed).get(), {.must_reach = synced});
      ASSERT_OK(read.status);
      ASSERT_EQ(read.sequences, Range(1, read.end.last_sequence));
    }
    const Replayed read = ReplayAll(memory_.CrashClone(1, Unsynced::kEverything).get());
    ASSERT_OK(read.status);
    EXPECT_EQ(read.sequences, Range(1, appended_));
  }
  // Erases, as soon as no switch writes.
  absl::Status Erase() {
    for (int i = 0; i < 5000; ++i) {
      const absl::StatusOr<bool> prepared = log_->PrepareFreshSpare();
      if (!prepared.ok() || *prepared) return prepared.status();
      absl::SleepFor(absl::Milliseconds(1));
    }
    return absl::DeadlineExceededError("a switch does not end");
  }

  InMemoryFileSystem memory_;
  FaultyFileSystem fs_{&memory_, {.hide_log_mappings = true}};
  std::unique_ptr<CommitLog> log_;
  SequenceNumber appended_ = 0;
  std::unique_ptr<StallingSync> sync_;
  absl::Status switched_;
  std::thread switcher_;
};

class SwitchWriteConcurrencyTest : public LogSwitchUpkeepConcurrencyTest,
                                   public testing::WithParamInterface<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Writes, SwitchWriteConcurrencyTest, testing::Values(1, 2));

TEST_P(SwitchWriteConcurrencyTest, NoOtherSegmentGetsTheNameOfTheOneThatASwitchWrites) {
  ASSERT_NO_FATAL_FAILURE(SwitchUntilWrite(GetParam()));
  const absl::StatusOr<bool> prepared = log_->PrepareFreshSpare();
  ASSERT_OK(prepared.status());
  EXPECT_FALSE(*prepared);
  ASSERT_OK(log_->PrepareSpare());
  fs_.ReleaseCalls(SegmentPath(2));
  ASSERT_OK(EndSwitch());
  ASSERT_OK(log_->Sync());
  ExpectAfterCrash(6);
  ASSERT_OK(Erase());
  ASSERT_OK(log_->StartNextSegment());
  Fill(9);
  ASSERT_OK(log_->Sync());
  ExpectAfterCrash(9);
  fs_.ReleaseCalls();
  EXPECT_OK(sync_->Wait());
}

TEST_F(LogSwitchUpkeepConcurrencyTest, ThereIsNoSwitchWhileASegmentIsMade) {
  fs_.StallCalls({.kinds = {FileCall::kNewLogFile}, .path_contains = ""});
  std::thread eraser([&] { EXPECT_OK(Erase()); });
  ASSERT_TRUE(fs_.WaitUntilStalled(2));
  EXPECT_GT(log_->StallTimeout(absl::Seconds(9)), absl::ZeroDuration());
  BeginSwitch();
  ASSERT_OK(EndSwitch());
  EXPECT_EQ(log_->statistics().switches, 0u);
  fs_.ReleaseCalls("log/segment.tmp");
  eraser.join();
  EXPECT_LE(log_->StallTimeout(absl::Seconds(9)), absl::ZeroDuration());
  ASSERT_OK(log_->SwitchFile());
  ASSERT_OK(log_->Sync());
  ExpectAfterCrash(6);
}

// The log waits for the slow file, perhaps for long.
TEST_F(LogSwitchUpkeepConcurrencyTest, AfterASwitchThatFailedASpareIsMadeAtOnce) {
  fs_.FailCalls({.kinds = {FileCall::kLogWrite}, .path_contains = SegmentName(2)},
                absl::UnavailableError("injected"), FaultyFileSystem::Done::kAll);
  BeginSwitch();
  for (int i = 0; i < 5000 && fs_.faults() == 0; ++i) absl::SleepFor(absl::Milliseconds(1));
  ASSERT_EQ(fs_.faults(), 1u);
  ASSERT_OK(Erase());
  ASSERT_OK(log_->PrepareSpare());
  fs_.ClearFaults();
  fs_.ReleaseCalls();
  ASSERT_OK(EndSwitch());
  EXPECT_OK(sync_->Wait());
  EXPECT_EQ(log_->statistics().switches, 0u);
  ASSERT_OK(log_->StartNextSegment());
  Fill(9);
  ASSERT_OK(log_->Sync());
  ExpectAfterCrash(9);
}

// Between two calls of its own, a leader may not be scheduled for as long as another thread's sync
// stalls. Then nobody takes over, because the leader has yet to flush its records.
TEST_F(LogSwitchUpkeepConcurrencyTest, ASwitchIsDueOnlyOnceAFlushHasBegun) {
  EXPECT_LE(log_->StallTimeout(absl::Seconds(9)), absl::ZeroDuration());
  const std::string payload = Payload(7, 100);
  const std::string_view part = payload;
  ASSERT_OK(log_->Append(RecordType::kMutation, ++appended_, {&part, 1}, nullptr));
  EXPECT_GT(log_->StallTimeout(absl::Seconds(9)), absl::ZeroDuration());
  fs_.StallCalls({.kinds = {FileCall::kLogWrite}, .path_contains = SegmentName(1)});
  std::thread leader([&] { EXPECT_TRUE(absl::IsAborted(log_->Flush())); });
  ASSERT_TRUE(fs_.WaitUntilStalled(2));
  EXPECT_LE(log_->StallTimeout(absl::Seconds(9)), absl::ZeroDuration());
  ASSERT_OK(log_->SwitchFile());
  ASSERT_OK(log_->Sync());
  ExpectAfterCrash(7);
  fs_.ReleaseCalls();
  leader.join();
  EXPECT_OK(sync_->Wait());
}

}  // namespace
}  // namespace bigtable
