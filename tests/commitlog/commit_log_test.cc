#include "commitlog/commit_log.h"

#include <thread>

#include "bigtable/testing/faulty_file_system.h"

#include "commitlog/log_directory.h"
#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Both ways of writing a log, and both of reading it.
class CommitLogTest : public testing::TestWithParam<bool> {
 protected:
  bool mapped() const { return GetParam(); }
  FileSystem* fs() { return &fs_; }
  Replayed Read(SequenceNumber must_reach = 0) {
    return ReplayAll(fs(), {.must_reach = must_reach,
                            .read_mode = mapped() ? FileSystem::ReadMode::kMapped
                                                  : FileSystem::ReadMode::kPositional});
  }

  InMemoryFileSystem memory_;
  FaultyFileSystem fs_{&memory_,
                       {.hide_log_mappings = !GetParam(), .hide_file_mappings = !GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Ways, CommitLogTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Mapped" : "Written";
});

TEST_P(CommitLogTest, AppendedRecordsAreReplayedInOrder) {
  auto log = NewLog(fs());
  const std::string_view parts[] = {"ab", "", "cde"};
  ASSERT_OK(log->Append(RecordType::kMutation, 3, parts, nullptr));
  ASSERT_OK(log->Append(RecordType::kBatch, 7, {}, nullptr));
  ASSERT_OK(log->Flush());
  const Replayed read = Read();
  ASSERT_OK(read.status);
  EXPECT_THAT(read.sequences, ElementsAre(3, 7));
  EXPECT_THAT(read.payloads, ElementsAre("abcde", ""));
  EXPECT_EQ(read.end.last_sequence, 7u);
  EXPECT_EQ(read.end.offset, log->end_offset());
  EXPECT_FALSE(read.end.clean);
}

TEST_P(CommitLogTest, AClosedLogIsKnownToBeComplete) {
  auto log = NewLog(fs());
  ASSERT_OK(Add(log.get(), 1, "x"));
  ASSERT_OK(log->Close());
  EXPECT_EQ(log->synced_offset(), log->end_offset());
  EXPECT_EQ(Add(log.get(), 2, "y").code(), absl::StatusCode::kFailedPrecondition);
  const Replayed read = Read();
  ASSERT_OK(read.status);
  EXPECT_TRUE(read.end.clean);
  EXPECT_THAT(read.sequences, ElementsAre(1));
}

TEST_P(CommitLogTest, RecordsContinueInTheNextSegment) {
  auto log = NewLog(fs());
  for (SequenceNumber s = 1; s <= 100; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 900 + s)));
  const Replayed read = Read();
  ASSERT_OK(read.status);
  EXPECT_EQ(read.sequences, Range(1, 100));
  for (SequenceNumber s = 1; s <= 100; ++s) EXPECT_EQ(read.payloads[s - 1], Payload(s, 900 + s));
  EXPECT_GT(read.end.segments, 5u);
  EXPECT_EQ(log->statistics().records, 100u);
}

TEST_P(CommitLogTest, ARecordLargerThanASegmentGetsItsOwnSegment) {
  auto log = NewLog(fs());
  ASSERT_OK(log->PrepareSpare());  // of the usual size: it must be replaced
  ASSERT_OK(Add(log.get(), 1, "small"));
  const uint64_t live = log->LiveBytes();
  ASSERT_OK(Add(log.get(), 2, Payload(2, 100000)));
  EXPECT_GT(log->LiveBytes(), live + 100000);
  ASSERT_OK(Add(log.get(), 3, Payload(3, 16000)));
  const Replayed read = Read();
  ASSERT_OK(read.status);
  ASSERT_EQ(read.sequences, Range(1, 3));
  EXPECT_EQ(read.payloads[1], Payload(2, 100000));
  log->ReleaseThrough(3);
  ASSERT_OK(log->PrepareSpare());
  EXPECT_EQ(log->LiveBytes(), kSmallSegment);  // removed, not kept
}

TEST_P(CommitLogTest, RecordsOfEverySizeFillSegmentsCompletely) {
  for (size_t size = kSmallSegment - 32 - 40 - 24; size <= kSmallSegment - 32 - 40 + 24; ++size) {
    InMemoryFileSystem memory;
    FaultyFileSystem fs(&memory, {.hide_log_mappings = !mapped()});
    auto log = NewLog(&fs);
    for (SequenceNumber s = 1; s <= 4; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, size)));
    const Replayed read = ReplayAll(&fs);
    ASSERT_OK(read.status);
    ASSERT_EQ(read.sequences, Range(1, 4)) << size;
    EXPECT_EQ(read.payloads[3], Payload(4, size));
  }
}

TEST_P(CommitLogTest, ThePayloadIsReturnedInPlaceIfTheLogIsMapped) {
  auto log = NewLog(fs());
  AppendedRecord record{.payload = "old", .segment = nullptr};
  ASSERT_OK(Add(log.get(), 1, "value", &record));
  if (mapped()) {
    EXPECT_EQ(record.payload, "value");
    ASSERT_NE(record.segment, nullptr);
    EXPECT_EQ(record.segment->number(), 1u);
  } else {
    EXPECT_EQ(record.payload.data(), nullptr);
    EXPECT_EQ(record.segment, nullptr);
  }
}

TEST_P(CommitLogTest, InvalidArgumentsAreRefusedAndDoNoHarm) {
  auto log = NewLog(fs());
  ASSERT_OK(Add(log.get(), 5, "x"));
  for (const SequenceNumber wrong : {SequenceNumber{0}, SequenceNumber{5}, kMaxSequence + 1}) {
    EXPECT_THAT(Add(log.get(), wrong, "y").ToString(), HasSubstr(Cat(wrong)));
  }
  for (const RecordType type : {RecordType{4}, RecordType::kEnd, RecordType{0}}) {
    EXPECT_EQ(log->Append(type, 6, {}, nullptr).code(), absl::StatusCode::kInvalidArgument);
  }
  ASSERT_OK(Add(log.get(), 6, "z"));
  EXPECT_THAT(Read().payloads, ElementsAre("x", "z"));
  EXPECT_EQ(CommitLog::Create(fs(), "other", {.segment_size = 5000}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CommitLog::Create(fs(), "log", {}).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_P(CommitLogTest, SyncCallsTheFileSystemOnlyForNewRecords) {
  auto log = NewLog(fs());
  EXPECT_OK(log->Sync());
  EXPECT_EQ(log->statistics().syncs, 0u);
  ASSERT_OK(Add(log.get(), 1, "x"));
  EXPECT_OK(log->Sync());
  EXPECT_OK(log->Sync());
  EXPECT_EQ(log->statistics().syncs, 1u);
}

TEST_P(CommitLogTest, TheBudgetIsChargedForTheMemoryOfSegments) {
  auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  auto log = CommitLog::Create(fs(), "log", {.segment_size = kSmallSegment, .budget = budget});
  ASSERT_OK(log.status());
  // A segment that is not mapped takes memory only when it is in use.
  const uint64_t one = kSmallSegment;
  EXPECT_EQ(budget->used(MemoryBudget::Use::kSpareLog), one);
  ASSERT_OK((*log)->PrepareSpare());
  EXPECT_EQ(budget->used(MemoryBudget::Use::kSpareLog), mapped() ? 2 * one : one);
  EXPECT_EQ(budget->used(MemoryBudget::Use::kLog), 0u);
  EXPECT_EQ((*log)->LiveBytes(), kSmallSegment);
  for (SequenceNumber s = 1; s <= 2; ++s) ASSERT_OK(Add(log->get(), s, Payload(s, 9000)));
  EXPECT_EQ(budget->used(MemoryBudget::Use::kLog), one);  // the full segment
  EXPECT_EQ(budget->used(MemoryBudget::Use::kSpareLog), one);
  log->reset();
  EXPECT_EQ(budget->used(), 0u);
}

TEST_P(CommitLogTest, TheSpareIsUsedWithoutCallingTheFileSystem) {
  auto log = NewLog(fs());
  EXPECT_TRUE(log->NeedsUpkeep());
  ASSERT_OK(log->PrepareSpare());
  EXPECT_FALSE(log->NeedsUpkeep());
  ASSERT_OK(Add(log.get(), 1, Payload(1, 16000)));
  fs_.CountCalls();
  ASSERT_OK(Add(log.get(), 2, Payload(2, 16000)));
  EXPECT_EQ(fs_.calls(), mapped() ? 0u : 2u);  // the end record and the record
  EXPECT_TRUE(log->NeedsUpkeep());
}

TEST_P(CommitLogTest, SyncAndUpkeepMayRunDuringAppend) {
  auto log = NewLog(fs());
  std::atomic<bool> done{false};
  std::thread syncer([&] {
    while (!done) EXPECT_OK(log->Sync());
  });
  std::thread keeper([&] {
    while (!done) {
      EXPECT_OK(log->PrepareSpare());
      const SequenceNumber last = log->last_sequence();
      if (last > 50) log->ReleaseThrough(last - 50);
      (void)log->OldestNeeded();
      (void)log->statistics();
    }
  });
  // On a busy machine it takes a while until the other threads have run.
  constexpr SequenceNumber kLeast = 3000;
  constexpr SequenceNumber kMost = 1000 * kLeast;
  SequenceNumber last = 0;
  while (last < kLeast || (log->statistics().segments_reused == 0 && last < kMost)) {
    ++last;
    ASSERT_OK(Add(log.get(), last, Payload(last, 500)));
  }
  done = true;
  syncer.join();
  keeper.join();
  const Replayed read = Read(last);
  ASSERT_OK(read.status);
  ASSERT_FALSE(read.sequences.empty());
  EXPECT_EQ(read.sequences, Range(read.sequences.front(), last));
  EXPECT_LE(read.sequences.front(), last - 49);
  EXPECT_GT(log->statistics().segments_reused, 0u);
}

TEST_P(CommitLogTest, AfterAnInterruptedRemovalTheLogIsWholeOrNotNeeded) {
  for (int calls = 1; calls < 30; ++calls) {
    InMemoryFileSystem memory;
    FaultyFileSystem fs(&memory);
    auto log = NewLog(&fs);
    for (SequenceNumber s = 1; s <= 20; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 2000)));
    log = nullptr;
    fs.CountCalls();
    fs.FailCall(static_cast<uint64_t>(calls), absl::UnavailableError("injected"),
                FaultyFileSystem::Repeat::kFromThenOn);
    const absl::Status status = RemoveLog(&fs, "log");
    fs.ClearFaults();
    if (status.ok()) {
      EXPECT_FALSE(fs.FileExists("log"));
      EXPECT_GT(calls, 8);
      return;
    }
    // Either nothing was removed yet, or the log is not needed.
    const Replayed read = ReplayAll(&fs, {.must_exist = false});
    ASSERT_OK(read.status);
    EXPECT_TRUE(read.sequences.empty() || read.sequences == Range(1, 20));
    EXPECT_OK(RemoveLog(&fs, "log"));
    EXPECT_FALSE(fs.FileExists("log"));
  }
  FAIL() << "never succeeded";
}

}  // namespace
}  // namespace bigtable
