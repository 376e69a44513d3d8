// A call on one log file stalls, and the log continues in the other: which records are
// acknowledged, the effect of the stalled call, and the replay of both files.
#include <thread>

#include "absl/time/clock.h"

#include "commitlog/log_state.h"
#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

using testing::HasSubstr;

class LogSwitchConcurrencyTest : public testing::TestWithParam<bool> {
 protected:
  bool mapped() const { return GetParam(); }
  void SetUp() override { log_ = NewLog(&fs_); }
  void TearDown() override { fs_.ReleaseCalls(); }

  void Stall(FileCall kind, uint64_t segment) {
    fs_.StallCalls({.kinds = {kind}, .path_contains = SegmentName(segment)});
  }
  void Release(uint64_t segment) { fs_.ReleaseCalls(SegmentPath(segment)); }
  void Fill(SequenceNumber last, size_t size = 100) {
    while (appended_ < last) {
      ++appended_;
      ASSERT_OK(Add(log_.get(), appended_, Payload(appended_, size)));
    }
  }
  bool CanSwitch() const { return log_->StallTimeout(absl::Seconds(9)) <= absl::ZeroDuration(); }

  // Records 1 to 3 are synced. Records 4 to 6 are synced too, but in segment 2, because the sync of
  // segment 1, which is returned, stalls.
  std::unique_ptr<StallingSync> SwitchAndSync() {
    Fill(3);
    EXPECT_OK(log_->Sync());
    synced_ = log_->synced_offset();
    Fill(6);
    EXPECT_OK(log_->PrepareSpare());
    Stall(FileCall::kLogSync, 1);
    auto sync = std::make_unique<StallingSync>(log_.get(), &fs_);
    EXPECT_TRUE(CanSwitch());
    EXPECT_OK(log_->SwitchFile());
    EXPECT_OK(log_->Sync());
    return sync;
  }
  // Expects this after a crash of the machine now, whatever part of the unsynced data it kept.
  void ExpectAfterPowerLoss(SequenceNumber at_least) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Replayed read = ReplayAll(memory_.CrashClone(seed).get(), {.must_reach = at_least});
      ASSERT_OK(read.status);
      ASSERT_EQ(read.sequences, Range(1, read.end.last_sequence));
    }
  }
  // Expects this after a crash of the process.
  void ExpectAfterCrash(SequenceNumber last) {
    const Replayed read = ReplayAll(memory_.CrashClone(1, Unsynced::kEverything).get());
    ASSERT_OK(read.status);
    EXPECT_EQ(read.sequences, Range(1, last));
    for (SequenceNumber s = 1; s <= read.sequences.size(); ++s) {
      ASSERT_EQ(read.payloads[s - 1], Payload(s, read.payloads[s - 1].size()));
    }
  }

  InMemoryFileSystem memory_;
  FaultyFileSystem fs_{&memory_, {.hide_log_mappings = !GetParam()}};
  std::unique_ptr<CommitLog> log_;
  SequenceNumber appended_ = 0;
  uint64_t synced_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Ways, LogSwitchConcurrencyTest, testing::Bool(),
                         [](const auto& param_info) {
                           return param_info.param ? "Mapped" : "Written";
                         });

TEST_P(LogSwitchConcurrencyTest, RecordsOfAStalledSyncAreDurableInTheOtherFile) {
  auto sync = SwitchAndSync();
  EXPECT_EQ(log_->end_offset() >> kSegmentShift, 2u);
  EXPECT_EQ(log_->synced_offset(), log_->end_offset());
  ExpectAfterPowerLoss(6);
  Fill(9);
  ASSERT_OK(log_->Sync());
  ExpectAfterPowerLoss(9);
  ExpectAfterCrash(9);
  EXPECT_EQ(fs_.stalled(), 1);
  EXPECT_EQ(log_->statistics().switches, 1u);
  EXPECT_EQ(log_->statistics().records, 9u);
}

TEST_P(LogSwitchConcurrencyTest, TheStalledCallReturnsAndChangesNothing) {
  auto sync = SwitchAndSync();
  Fill(7);
  const uint64_t synced = log_->synced_offset();
  fs_.ReleaseCalls();
  EXPECT_OK(sync->Wait());  // its records are durable
  EXPECT_EQ(log_->synced_offset(), synced);
  EXPECT_EQ(log_->end_offset() >> kSegmentShift, 2u);
  // Records 4 to 6 are in both files now.
  ExpectAfterPowerLoss(6);
  ExpectAfterCrash(7);
}

TEST_P(LogSwitchConcurrencyTest, AnErrorOfTheStalledCallHasNoEffect) {
  auto sync = SwitchAndSync();
  fs_.FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = SegmentName(1)},
                absl::UnavailableError("injected"));
  fs_.ReleaseCalls();
  EXPECT_OK(sync->Wait());
  Fill(9);
  EXPECT_OK(log_->Sync());
  ExpectAfterPowerLoss(9);
  // The file itself is not reused.
  log_->ReleaseThrough(8);
  ASSERT_OK(log_->PrepareSpare());
  EXPECT_FALSE(fs_.FileExists(SegmentPath(1)));
  Fill(400);
  EXPECT_EQ(log_->statistics().segments_reused, 0u);
}

TEST_P(LogSwitchConcurrencyTest, AFileIsNotReusedWhileACallOnItStalls) {
  auto sync = SwitchAndSync();
  log_->ReleaseThrough(6);
  ASSERT_OK(log_->PrepareSpare());
  for (SequenceNumber last = 200; last <= 1000; last += 200) {
    Fill(last);
    log_->ReleaseThrough(last - 10);
    ASSERT_OK(log_->PrepareSpare());
    EXPECT_TRUE(fs_.FileExists(SegmentPath(1)));
  }
  const uint64_t live = log_->LiveBytes();
  fs_.ReleaseCalls();
  EXPECT_OK(sync->Wait());
  EXPECT_LT(log_->LiveBytes(), live);
  EXPECT_TRUE(log_->NeedsUpkeep());
}

TEST_P(LogSwitchConcurrencyTest, IfBothFilesStallThereIsNoSwitchAndNoLoss) {
  auto sync = SwitchAndSync();
  Fill(7);
  ASSERT_OK(log_->PrepareSpare());
  Stall(FileCall::kLogSync, 2);
  StallingSync second(log_.get(), &fs_);
  EXPECT_FALSE(CanSwitch());
  std::atomic<bool> returned{false};
  std::thread third([&] {
    EXPECT_OK(log_->Sync());
    returned = true;
  });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(returned);
  Release(2);
  third.join();
  EXPECT_OK(second.Wait());
  ExpectAfterPowerLoss(7);
}

TEST_P(LogSwitchConcurrencyTest, ASwitchMayCopyRecordsOfTheSwitchBefore) {
  Fill(3);
  ASSERT_OK(log_->Sync());
  Fill(6);
  ASSERT_OK(log_->PrepareSpare());
  Stall(FileCall::kLogSync, 1);
  Stall(FileCall::kLogSync, 2);
  StallingSync first(log_.get(), &fs_);
  ASSERT_OK(log_->SwitchFile());
  ASSERT_OK(log_->PrepareSpare());
  StallingSync second(log_.get(), &fs_);
  Fill(8);
  EXPECT_FALSE(CanSwitch());
  Release(1);
  // Wait until the call has returned.
  for (int i = 0; i < 1000 && !CanSwitch(); ++i) absl::SleepFor(absl::Milliseconds(10));
  ASSERT_TRUE(CanSwitch());
  ASSERT_OK(log_->SwitchFile());
  ASSERT_OK(log_->Sync());
  EXPECT_OK(first.Wait());
  Fill(10);
  ExpectAfterPowerLoss(8);
  ExpectAfterCrash(10);
  EXPECT_EQ(log_->statistics().switches, 2u);
  // The records of segment 2 do not count.
  auto clone = memory_.CrashClone(1, Unsynced::kEverything);
  clone->SetContents(SegmentPath(2), std::string(kSmallSegment, 'x'));
  EXPECT_EQ(ReplayAll(clone.get()).sequences, Range(1, 10));
}

TEST_P(LogSwitchConcurrencyTest, ASwitchMayStartBeforeAnEndRecord) {
  Fill(3);
  ASSERT_OK(log_->Sync());
  ASSERT_OK(log_->PrepareSpare());
  while (log_->end_offset() >> kSegmentShift == 1) {
    Fill(appended_ + 1, 1000);
    if (appended_ == 12) {
      ASSERT_OK(log_->Sync());
    }
  }
  const SequenceNumber last = appended_;
  ASSERT_EQ(log_->synced_offset() >> kSegmentShift, 1u);
  ASSERT_OK(log_->PrepareSpare());
  Stall(FileCall::kLogSync, 1);
  StallingSync sync(log_.get(), &fs_);
  ASSERT_TRUE(CanSwitch());
  ASSERT_OK(log_->SwitchFile());
  ASSERT_OK(log_->Sync());
  EXPECT_EQ(log_->end_offset() >> kSegmentShift, 3u);
  ExpectAfterPowerLoss(last);
  Fill(last + 3);
  ExpectAfterCrash(last + 3);
}

TEST_P(LogSwitchConcurrencyTest, WithoutASpareSwitchFileWaitsForTheStalledCall) {
  Fill(3);
  Stall(FileCall::kLogSync, 1);
  StallingSync sync(log_.get(), &fs_);
  EXPECT_FALSE(CanSwitch());
  std::thread other([&] {
    EXPECT_OK(log_->SwitchFile());
    EXPECT_OK(log_->Sync());
  });
  absl::SleepFor(absl::Milliseconds(10));
  fs_.ReleaseCalls();
  other.join();
  EXPECT_OK(sync.Wait());
  EXPECT_EQ(log_->statistics().switches, 0u);
  ExpectAfterPowerLoss(3);
}

TEST_P(LogSwitchConcurrencyTest, MoreThanHalfASegmentIsNotCopiedForASync) {
  ASSERT_OK(log_->PrepareSpare());
  Fill(9, 1000);
  Stall(FileCall::kLogSync, 1);
  StallingSync sync(log_.get(), &fs_);
  EXPECT_FALSE(CanSwitch());
  fs_.ReleaseCalls();
  EXPECT_OK(sync.Wait());
}

TEST_P(LogSwitchConcurrencyTest, AStalledWriteIsRepeatedInTheOtherFile) {
  if (mapped()) return;
  for (const size_t size :
       {100, 1000}) {  // with the second, the unsynced records are too large to copy
    SCOPED_TRACE(size);
    InMemoryFileSystem memory;
    FaultyFileSystem fs(&memory, {.hide_log_mappings = true});
    auto log = NewLog(&fs);
    ASSERT_OK(log->PrepareSpare());
    for (SequenceNumber s = 1; s <= 9; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, size)));
    const std::string_view payload = "stalls";
    ASSERT_OK(log->Append(RecordType::kMutation, 10, {&payload, 1}, nullptr));
    EXPECT_EQ(log->last_sequence(), 9u);
    fs.StallCalls({.kinds = {FileCall::kLogWrite}, .path_contains = SegmentName(1)});
    std::thread writer([&] { EXPECT_TRUE(absl::IsAborted(log->Flush())); });
    ASSERT_TRUE(fs.WaitUntilStalled(1));
    ASSERT_LE(log->StallTimeout(absl::Seconds(9)), absl::ZeroDuration());
    ASSERT_OK(log->SwitchFile());
    EXPECT_FALSE(log->NeedsFlush());
    EXPECT_EQ(log->last_sequence(), 10u);
    ASSERT_OK(Add(log.get(), 11, "x"));
    EXPECT_EQ(ReplayAll(memory.CrashClone(1, Unsynced::kEverything).get()).sequences, Range(1, 11));
    fs.ReleaseCalls();
    writer.join();
    EXPECT_EQ(ReplayAll(memory.CrashClone(1, Unsynced::kEverything).get()).sequences, Range(1, 11));
    ASSERT_OK(log->Sync());
    for (uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_EQ(ReplayAll(memory.CrashClone(seed).get()).sequences, Range(1, 11));
    }
  }
}

TEST_P(LogSwitchConcurrencyTest, IfTheOtherFileCannotBeWrittenTheLogWaitsForTheSlowOne) {
  if (mapped()) return;
  Fill(3);
  ASSERT_OK(log_->Sync());
  Fill(6);
  ASSERT_OK(log_->PrepareSpare());
  fs_.FailCalls({.kinds = {FileCall::kLogWrite}, .path_contains = SegmentName(2)},
                absl::UnavailableError("injected"), FaultyFileSystem::Done::kAll);
  Stall(FileCall::kLogSync, 1);
  StallingSync sync(log_.get(), &fs_);
  std::thread other([&] { EXPECT_OK(log_->SwitchFile()); });
  absl::SleepFor(absl::Milliseconds(10));
  ExpectAfterCrash(6);
  fs_.ReleaseCalls();
  other.join();
  EXPECT_OK(sync.Wait());
  fs_.ClearFaults();
  // The written copies are never found, although they are valid records of segment 2.
  for (SequenceNumber last = 7; last < 300; ++last) {
    Fill(last);
    ExpectAfterCrash(last);
  }
}

TEST_P(LogSwitchConcurrencyTest, AnErrorInWritingTheSwitchRecordMakesTheLogFail) {
  if (mapped()) return;
  for (const auto done : {FaultyFileSystem::Done::kNothing, FaultyFileSystem::Done::kHalf,
                          FaultyFileSystem::Done::kAll}) {
    InMemoryFileSystem memory;
    FaultyFileSystem fs(&memory, {.hide_log_mappings = true});
    auto log = NewLog(&fs);
    for (SequenceNumber s = 1; s <= 6; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 100)));
    ASSERT_OK(log->PrepareSpare());
    fs.StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = SegmentName(1)});
    StallingSync sync(log.get(), &fs);
    fs.CountCalls({.kinds = {FileCall::kLogWrite}, .path_contains = ""});
    fs.FailCall(2, absl::UnavailableError("injected"), FaultyFileSystem::Repeat::kOnce, done);
    EXPECT_THAT(log->SwitchFile().ToString(), HasSubstr("injected"));
    EXPECT_FALSE(Add(log.get(), 7, "x").ok());
    fs.ReleaseCalls();
    EXPECT_FALSE(sync.Wait().ok());
    EXPECT_EQ(ReplayAll(&fs).sequences, Range(1, 6));
    log->ReleaseThrough(6);
    ASSERT_OK(log->StartNewSegment());
    for (SequenceNumber s = 7; s <= 20; ++s) {
      ASSERT_OK(Add(log.get(), s, Payload(s, 100)));
      EXPECT_EQ(ReplayAll(&fs).sequences, Range(7, s));
    }
  }
}

TEST_P(LogSwitchConcurrencyTest, ASlowDiskIsNotTakenForAStalledFile) {
  Fill(1);
  ASSERT_OK(log_->Sync());
  EXPECT_LE(log_->StallTimeout(absl::ZeroDuration()), absl::Milliseconds(20));
  fs_.DelayCalls({.kinds = {FileCall::kLogSync}, .path_contains = ""}, absl::Milliseconds(30));
  for (SequenceNumber last = 2; last < 30; ++last) {
    Fill(last);
    ASSERT_OK(log_->Sync());
  }
  EXPECT_GT(log_->StallTimeout(absl::ZeroDuration()), absl::Milliseconds(100));
  EXPECT_EQ(log_->statistics().stalls, 28u);
}

// --- Replay of the files ---

TEST_P(LogSwitchConcurrencyTest, BytesOfTheSlowFileAfterTheSwitchAreIgnored) {
  auto sync = SwitchAndSync();
  Fill(9);
  fs_.ReleaseCalls();
  ASSERT_OK(sync->Wait());
  const std::string sound = memory_.Contents(SegmentPath(1));
  const size_t from = synced_ - LogOffset(1, 0);
  for (size_t torn = from; torn < from + 3 * RecordSize(100); ++torn) {
    for (const char rest : {'\0', 'x'}) {
      memory_.SetContents(SegmentPath(1),
                          sound.substr(0, torn) + std::string(sound.size() - torn, rest));
      ExpectAfterCrash(9);
    }
    memory_.SetContents(SegmentPath(1), sound.substr(0, torn));
    ExpectAfterCrash(9);
  }
}

TEST_P(LogSwitchConcurrencyTest, FlippedBitsInSyncedRecordsAreDataLoss) {
  auto sync = SwitchAndSync();
  Fill(7);  // its synced offset includes the copies of the switch
  fs_.ReleaseCalls();
  ASSERT_OK(sync->Wait());
  const auto flip = [&](uint64_t segment, size_t begin, size_t end) {
    const std::string sound = memory_.Contents(SegmentPath(segment));
    for (size_t i = begin; i < end; ++i) {
      if (i % RecordSize(100) == RecordSize(100) - 1) continue;
      std::string broken = sound;
      broken[i] ^= static_cast<char>(1 << i % 8);
      memory_.SetContents(SegmentPath(segment), broken);
      const Replayed read = ReplayAll(&memory_);
      ASSERT_EQ(read.status.code(), absl::StatusCode::kDataLoss) << segment << " " << i;
      ASSERT_EQ(read.sequences, Range(1, read.sequences.size()));
    }
    memory_.SetContents(SegmentPath(segment), sound);
  };
  static_assert(RecordSize(100) == 136);  // four bytes of padding
  const size_t record = kRecordHeaderSize + 100;
  for (const size_t i : {0, 1, 2}) flip(1, i * 136, i * 136 + record);
  flip(2, 0, kSwitchRecordSize);
  for (const size_t i : {0, 1, 2}) {
    flip(2, kSwitchRecordSize + i * 136, kSwitchRecordSize + i * 136 + record);
  }
  EXPECT_EQ(ReplayAll(&memory_).sequences, Range(1, 7));
}

TEST_P(LogSwitchConcurrencyTest, TheSwitchRecordShowsWhatWasSyncedBefore) {
  auto sync = SwitchAndSync();
  std::string broken = memory_.Contents(SegmentPath(1));
  broken[synced_ - LogOffset(1, 0) - 50] ^= 1;  // the last of the synced records
  memory_.SetContents(SegmentPath(1), broken);
  const Replayed read = ReplayAll(&memory_);
  EXPECT_EQ(read.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(read.status.ToString(), HasSubstr(SegmentName(1)));
  EXPECT_EQ(read.sequences, Range(1, 2));
}

TEST_P(LogSwitchConcurrencyTest, AMissingOtherFileIsDataLoss) {
  auto sync = SwitchAndSync();
  ASSERT_OK(log_->PrepareSpare());
  ASSERT_OK(memory_.RemoveFile(SegmentPath(2)));
  const Replayed read = ReplayAll(&memory_);
  EXPECT_EQ(read.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(read.status.ToString(), HasSubstr(SegmentName(2)));
}

TEST_P(LogSwitchConcurrencyTest, TheSlowFileMayBeReleasedAndTheSwitchStays) {
  auto sync = SwitchAndSync();
  Fill(9);
  log_->ReleaseThrough(6);
  ASSERT_OK(log_->PrepareSpare());
  const Replayed read = ReplayAll(&memory_, {.must_reach = 9});
  ASSERT_OK(read.status);
  EXPECT_EQ(read.sequences, Range(4, 9));
  EXPECT_EQ(log_->OldestNeeded(), 4u);
}

// The times between two stores, after each of which the process may die: the copies are stored
// first, from the first to the last, and then the switch record.
TEST_P(LogSwitchConcurrencyTest, EveryStoreOfASwitchMayBeTheLast) {
  auto sync = SwitchAndSync();
  const std::string after = memory_.Contents(SegmentPath(2));
  const size_t end = kSwitchRecordSize + 3 * RecordSize(100);
  const std::string nothing(after.size(), '\0');
  const auto expect_all = [&](const std::string& bytes) {
    memory_.SetContents(SegmentPath(2), bytes);
    const Replayed read = ReplayAll(&memory_);
    ASSERT_OK(read.status);
    ASSERT_EQ(read.sequences, Range(1, 6));
  };
  std::string bytes = nothing;
  for (size_t i = kSwitchRecordSize; i < end; ++i) {
    bytes[i] = after[i];
    ASSERT_NO_FATAL_FAILURE(expect_all(bytes)) << i;
  }
  for (size_t i = kSwitchRecordSize; i-- > 0;) {
    bytes[i] = after[i];
    ASSERT_NO_FATAL_FAILURE(expect_all(bytes)) << i;
  }
  // The machine may have crashed before the sync, and kept any part of it.
  for (size_t torn = kSwitchRecordSize; torn < end; ++torn) {
    memory_.SetContents(SegmentPath(2), after.substr(0, torn) + nothing.substr(torn));
    const Replayed read = ReplayAll(&memory_);
    ASSERT_OK(read.status);
    ASSERT_EQ(read.sequences, Range(1, read.sequences.size()));
    ASSERT_GE(read.sequences.size(), 3u);
  }
}

TEST_P(LogSwitchConcurrencyTest, ASwitchRecordWithAnInvalidOffsetIsDataLoss) {
  auto sync = SwitchAndSync();
  auto state = ReadLogState(&memory_, "log");
  ASSERT_OK(state.status());
  std::string bytes = memory_.Contents(SegmentPath(2));
  for (const uint64_t wrong : {LogOffset(2, 0), LogOffset(1, 8)}) {
    StoreFixed64(bytes.data() + kRecordHeaderSize, wrong);
    FinishRecord(bytes.data(), {.payload_size = 8, .type = 17, .sequence = 6},
                 RecordSeed(SegmentSalt(state->secret, 2), 0));
    memory_.SetContents(SegmentPath(2), bytes);
    EXPECT_EQ(ReplayAll(&memory_).status.code(), absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace bigtable
