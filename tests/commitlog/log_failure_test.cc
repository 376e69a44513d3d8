// The commit log when the file system returns errors.
#include "bigtable/testing/faulty_file_system.h"

#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

using testing::HasSubstr;

class LogFailureTest : public testing::TestWithParam<bool> {
 protected:
  bool mapped() const { return GetParam(); }
  void BreakSync() {
    fs_.FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = ""},
                  absl::UnavailableError("injected"));
  }

  InMemoryFileSystem memory_;
  FaultyFileSystem fs_{&memory_, {.hide_log_mappings = !GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Ways, LogFailureTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Mapped" : "Written";
});

TEST_P(LogFailureTest, TheErrorOfAFailedSyncStaysAfterTheFaultIsCleared) {
  auto log = NewLog(&fs_);
  ASSERT_OK(Add(log.get(), 1, "x"));
  BreakSync();
  EXPECT_THAT(log->Sync().ToString(), HasSubstr("injected"));
  fs_.ClearFaults();
  EXPECT_THAT(log->Sync().ToString(), HasSubstr("injected"));
  EXPECT_THAT(Add(log.get(), 2, "y").ToString(), HasSubstr("injected"));
  EXPECT_THAT(log->Close().ToString(), HasSubstr("injected"));
  EXPECT_LT(log->synced_offset(), log->end_offset());
}

// A network file system may remove a file and report an error nevertheless.
TEST_P(LogFailureTest, AFileThatWasRemovedAlthoughThatFailedIsNotRemovedForEver) {
  auto log = NewLog(&fs_);
  for (SequenceNumber s = 1; s <= 20; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 3000)));
  log->ReleaseThrough(19);
  ASSERT_OK(log->PrepareSpare());
  fs_.FailCalls({.kinds = {FileCall::kRemoveFile}, .path_contains = ""},
                absl::UnavailableError("injected"), FaultyFileSystem::Done::kAll);
  EXPECT_THAT(log->RemoveFreeSegments().ToString(), HasSubstr("injected"));
  fs_.ClearFaults();
  EXPECT_EQ(log->PrepareSpare(), absl::OkStatus());
}

TEST_P(LogFailureTest, ACloseThatFailedFailsAgain) {
  auto log = NewLog(&fs_);
  ASSERT_OK(Add(log.get(), 1, "x"));
  ASSERT_OK(log->Sync());
  BreakSync();  // that of the end record
  EXPECT_THAT(log->Close().ToString(), HasSubstr("injected"));
  fs_.ClearFaults();
  EXPECT_THAT(log->Close().ToString(), HasSubstr("injected"));
}

TEST_P(LogFailureTest, TheLogContinuesInANewSegmentOnceEverythingIsReleased) {
  auto log = NewLog(&fs_);
  for (SequenceNumber s = 1; s <= 20; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 3000)));
  BreakSync();
  EXPECT_FALSE(log->Sync().ok());
  fs_.ClearFaults();
  log->ReleaseThrough(19);
  const absl::Status refused = log->StartNewSegment();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.ToString(), HasSubstr("20"));
  EXPECT_FALSE(Add(log.get(), 21, "y").ok());
  log->ReleaseThrough(20);
  ASSERT_OK(log->StartNewSegment());
  ASSERT_OK(Add(log.get(), 21, "y"));
  ASSERT_OK(log->Sync());
  ASSERT_OK(log->PrepareSpare());
  EXPECT_EQ(log->LiveBytes(), kSmallSegment);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto clone = memory_.CrashClone(seed);
    const Replayed read = ReplayAll(clone.get(), {.must_reach = 21});
    ASSERT_OK(read.status);
    EXPECT_EQ(read.sequences, Range(21, 21));
  }
}

// A file whose sync failed never syncs again. Upkeep continues while the log has failed, and
// releases segments.
TEST_P(LogFailureTest, AFileWhoseSyncHasFailedIsNotReused) {
  auto log = NewLog(&fs_);
  SequenceNumber last = 0;
  const auto add_segments = [&](int count) {
    for (int i = 0; i < 5 * count; ++i) {
      ASSERT_OK(Add(log.get(), last + 1, Payload(last + 1, 3000)));
      ++last;
    }
  };
  ASSERT_NO_FATAL_FAILURE(add_segments(3));
  BreakSync();
  EXPECT_FALSE(log->Sync().ok());
  fs_.ClearFaults();
  log->ReleaseThrough(last);
  ASSERT_OK(log->PrepareSpare());
  ASSERT_OK(log->PrepareSpare());
  ASSERT_OK(log->StartNewSegment());
  for (int round = 0; round < 10; ++round) {
    ASSERT_NO_FATAL_FAILURE(add_segments(1));
    ASSERT_OK(log->Sync());
    ASSERT_OK(log->PrepareSpare());
  }
}

TEST_P(LogFailureTest, ANewSegmentIsStartedOnlyWhenStateIsDurable) {
  auto log = NewLog(&fs_);
  ASSERT_OK(Add(log.get(), 1, "x"));
  BreakSync();
  EXPECT_FALSE(log->Sync().ok());
  log->ReleaseThrough(1);
  EXPECT_FALSE(log->StartNewSegment().ok());
  EXPECT_FALSE(Add(log.get(), 2, "y").ok());
  fs_.ClearFaults();
  EXPECT_OK(log->StartNewSegment());
  EXPECT_OK(log->StartNewSegment());  // nothing to do
  ASSERT_OK(Add(log.get(), 2, "y"));
  EXPECT_EQ(ReplayAll(&fs_).sequences, Range(2, 2));
}

TEST_P(LogFailureTest, AFailedWriteMakesTheLogFailAndIsNeverReplayed) {
  if (mapped()) return;  // stores do not fail
  for (const auto done : {FaultyFileSystem::Done::kNothing, FaultyFileSystem::Done::kHalf}) {
    InMemoryFileSystem memory;
    FaultyFileSystem fs(&memory, {.hide_log_mappings = true});
    auto log = NewLog(&fs);
    ASSERT_OK(Add(log.get(), 1, Payload(1, 500)));
    fs.CountCalls({.kinds = {FileCall::kLogWrite}, .path_contains = ""});
    fs.FailCall(1, absl::UnavailableError("injected"), FaultyFileSystem::Repeat::kOnce, done);
    EXPECT_FALSE(Add(log.get(), 2, Payload(2, 500)).ok());
    EXPECT_FALSE(Add(log.get(), 2, Payload(2, 500)).ok());
    EXPECT_EQ(ReplayAll(&fs).sequences, Range(1, 1));
    log->ReleaseThrough(1);
    ASSERT_OK(log->StartNewSegment());
    ASSERT_OK(Add(log.get(), 2, Payload(2, 500)));
    EXPECT_EQ(ReplayAll(&fs).sequences, Range(2, 2));
  }
}

TEST_P(LogFailureTest, WithoutANextSegmentTheLogStaysUnchanged) {
  auto log = NewLog(&fs_);
  ASSERT_OK(Add(log.get(), 1, Payload(1, 16000)));
  for (const FileCall kind :
       {FileCall::kNewLogFile, FileCall::kRenameFile, FileCall::kSyncDirectory}) {
    fs_.FailCalls({.kinds = {kind}, .path_contains = ""}, absl::ResourceExhaustedError("full"));
    EXPECT_EQ(Add(log.get(), 2, Payload(2, 16000)).code(), absl::StatusCode::kResourceExhausted);
    fs_.ClearFaults();
  }
  ASSERT_OK(Add(log.get(), 2, Payload(2, 16000)));
  ASSERT_OK(log->Sync());
  const Replayed read = ReplayAll(memory_.CrashClone(1).get());
  ASSERT_OK(read.status);
  EXPECT_EQ(read.sequences, Range(1, 2));
}

TEST_P(LogFailureTest, AnUnfinishedFileThatCannotBeRemovedIsAnError) {
  auto log = NewLog(&fs_);
  ASSERT_OK(Add(log.get(), 1, Payload(1, 16000)));
  ASSERT_OK(memory_.NewWritableFile("log/segment.tmp").status());
  fs_.FailCalls({.kinds = {FileCall::kRemoveFile}, .path_contains = "segment.tmp"},
                absl::InternalError("injected"));
  EXPECT_THAT(Add(log.get(), 2, Payload(2, 16000)).ToString(), HasSubstr("injected"));
  fs_.ClearFaults();
  EXPECT_OK(Add(log.get(), 2, Payload(2, 16000)));
}

TEST_P(LogFailureTest, ALargeRecordWithoutRoomLeavesTheSpareForOthers) {
  auto log = NewLog(&fs_);
  ASSERT_OK(Add(log.get(), 1, Payload(1, 16000)));
  ASSERT_OK(log->PrepareSpare());
  memory_.set_max_total_bytes(memory_.total_bytes());
  EXPECT_EQ(Add(log.get(), 2, Payload(2, 100000)).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_OK(Add(log.get(), 2, Payload(2, 16000)));
  EXPECT_EQ(ReplayAll(&fs_).sequences, Range(1, 2));
}

// Each call fails once; acknowledged records are found again.
TEST_P(LogFailureTest, AnyCallMayFailOnceAndNothingAcknowledgedIsLost) {
  for (uint64_t call = 1;; ++call) {
    InMemoryFileSystem memory;
    FaultyFileSystem fs(&memory, {.hide_log_mappings = !mapped()});
    auto log = NewLog(&fs);
    fs.CountCalls();
    fs.FailCall(call, absl::UnavailableError("injected"), FaultyFileSystem::Repeat::kOnce,
                call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
    SequenceNumber released = 0;
    SequenceNumber last = 0;
    for (int i = 1; i <= 30; ++i) {
      absl::Status status = Add(log.get(), last + 1, Payload(last + 1, 3000));
      if (status.ok()) ++last;
      if (status.ok() && i % 4 == 0) status = log->Sync();
      if (!status.ok()) {
        released = last;
        log->ReleaseThrough(released);  // flushed
        ASSERT_OK(log->StartNewSegment());
      } else if (i % 9 == 0) {
        released = std::max(released, last - 5);
        log->ReleaseThrough(released);
        (void)log->PrepareSpare();
      }
    }
    const bool over = fs.faults() == 0;
    fs.ClearFaults();
    const Replayed read = ReplayAll(&fs, {.must_reach = last});
    ASSERT_OK(read.status);
    const SequenceNumber first = read.sequences.empty() ? last + 1 : read.sequences.front();
    ASSERT_LE(first, released + 1) << call;
    ASSERT_EQ(read.sequences, Range(first, last)) << call;
    if (over) return;
  }
}

}  // namespace
}  // namespace bigtable
