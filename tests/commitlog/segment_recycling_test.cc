// Released segments are reused, but never while they are referenced.
#include <random>

#include "bigtable/testing/faulty_file_system.h"

#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

class SegmentRecyclingTest : public testing::Test {
 protected:
  // Appends one record to a segment, up to number `last`.
  void Fill(CommitLog* log, SequenceNumber last) {
    while (log->last_sequence() < last) {
      const SequenceNumber next = log->last_sequence() + 1;
      ASSERT_OK(Add(log, next, Payload(next, 16000)));
    }
  }
  InMemoryFileSystem memory_;
  FaultyFileSystem fs_{&memory_};
};

TEST_F(SegmentRecyclingTest, ReleasedSegmentsAreReused) {
  auto log = NewLog(&fs_);
  for (SequenceNumber s = 1; s <= 50; ++s) {
    Fill(log.get(), s);
    if (s > 2) log->ReleaseThrough(s - 2);
    ASSERT_OK(log->PrepareSpare());
    EXPECT_LE(log->LiveBytes(), 3 * kSmallSegment);
  }
  EXPECT_LE(log->statistics().segments_created, 5u);
  EXPECT_GE(log->statistics().segments_reused, 45u);
  EXPECT_LE(memory_.total_bytes(), 6 * kSmallSegment);
  const Replayed read = ReplayAll(&fs_, {.must_reach = 50});
  ASSERT_OK(read.status);
  EXPECT_EQ(read.sequences, Range(49, 50));
}

TEST_F(SegmentRecyclingTest, OnlyAFewFreeSegmentsAreKept) {
  auto log = NewLog(&fs_);
  Fill(log.get(), 20);
  log->ReleaseThrough(19);
  ASSERT_OK(log->PrepareSpare());
  EXPECT_EQ(log->LiveBytes(), kSmallSegment);
  EXPECT_LE(memory_.total_bytes(), 7 * kSmallSegment);  // active, spare, four free, STATE
  EXPECT_EQ(ReplayAll(&fs_).sequences, Range(20, 20));
}

TEST_F(SegmentRecyclingTest, FreeSegmentsCanBeRemoved) {
  auto log = NewLog(&fs_);
  Fill(log.get(), 20);
  log->ReleaseThrough(19);
  ASSERT_OK(log->PrepareSpare());
  ASSERT_GT(memory_.total_bytes(), 4 * kSmallSegment);
  ASSERT_OK(log->RemoveFreeSegments());
  EXPECT_LE(memory_.total_bytes(), 3 * kSmallSegment);  // active, spare, STATE
  EXPECT_EQ(ReplayAll(&fs_).sequences, Range(20, 20));
  Fill(log.get(), 40);
  EXPECT_EQ(ReplayAll(&fs_).sequences, Range(20, 40));
}

// Random sizes, so that old records are at all kinds of positions after new ones. Replay finds no
// old record, wherever the log ends.
TEST_F(SegmentRecyclingTest, StaleBytesAreNotTakenForRecords) {
  std::mt19937 random(1);
  auto log = NewLog(&fs_);
  SequenceNumber sequence = 0;
  for (int i = 0; i < 400; ++i) {
    ++sequence;
    ASSERT_OK(Add(log.get(), sequence, Payload(sequence, random() % 50 * 8)));
    log->ReleaseThrough(sequence - 1);
    if (i % 8 == 0) {
      ASSERT_OK(log->PrepareSpare());
    }
    const Replayed read = ReplayAll(&fs_);
    ASSERT_OK(read.status);
    ASSERT_FALSE(read.sequences.empty());
    ASSERT_EQ(read.sequences, Range(read.sequences.front(), sequence));
  }
  EXPECT_GT(log->statistics().segments_reused, 3u);
}

TEST_F(SegmentRecyclingTest, APinnedSegmentKeepsItsBytesUntilTheLastReferenceIsDropped) {
  auto log = NewLog(&fs_);
  AppendedRecord record;
  ASSERT_OK(Add(log.get(), 1, "pinned", &record));
  Ref<LogSegment> pin(record.segment);
  Fill(log.get(), 3);
  log->ReleaseThrough(2);
  ASSERT_OK(log->PrepareSpare());
  EXPECT_EQ(log->LiveBytes(), 2 * kSmallSegment);  // the pinned one and the active one
  Fill(log.get(), 20);
  log->ReleaseThrough(19);
  ASSERT_OK(log->PrepareSpare());
  Fill(log.get(), 30);
  EXPECT_EQ(record.payload, "pinned");
  log->ReleaseThrough(29);
  ASSERT_OK(log->PrepareSpare());
  EXPECT_EQ(log->LiveBytes(), 2 * kSmallSegment);
  EXPECT_FALSE(log->NeedsUpkeep());
  pin = {};
  EXPECT_EQ(log->LiveBytes(), kSmallSegment);
  EXPECT_TRUE(log->NeedsUpkeep());
}

TEST_F(SegmentRecyclingTest, APinnedSegmentOutlivesTheLog) {
  auto log = NewLog(&fs_);
  AppendedRecord record;
  ASSERT_OK(Add(log.get(), 1, "pinned", &record));
  Ref<LogSegment> pin(record.segment);
  log = nullptr;
  EXPECT_EQ(record.payload, "pinned");
}

TEST_F(SegmentRecyclingTest, NoSegmentIsReusedBeforeStateIsDurable) {
  auto log = NewLog(&fs_);
  Fill(log.get(), 10);
  ASSERT_OK(log->Sync());
  log->ReleaseThrough(9);
  fs_.FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = "STATE"},
                absl::UnavailableError("injected"));
  EXPECT_FALSE(log->PrepareSpare().ok());
  EXPECT_TRUE(log->NeedsUpkeep());
  EXPECT_EQ(log->LiveBytes(), 10 * kSmallSegment);
  EXPECT_EQ(SegmentNumbers(&fs_).size(), 11u);  // and a spare
  fs_.ClearFaults();
  EXPECT_OK(log->PrepareSpare());  // with a new STATE
  EXPECT_EQ(log->LiveBytes(), kSmallSegment);
  EXPECT_LT(SegmentNumbers(&fs_).size(), 8u);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Replayed read = ReplayAll(memory_.CrashClone(seed).get());
    ASSERT_OK(read.status);
    EXPECT_EQ(read.sequences, Range(10, 10));
  }
}

TEST_F(SegmentRecyclingTest, OldestNeededIsTheFirstRecordOfTheOldestSegmentNotReleased) {
  auto log = NewLog(&fs_);
  EXPECT_EQ(log->OldestNeeded(), 0u);
  ASSERT_OK(Add(log.get(), 1, "x"));
  ASSERT_OK(Add(log.get(), 2, "x"));
  Fill(log.get(), 4);
  EXPECT_EQ(log->OldestNeeded(), 1u);
  log->ReleaseThrough(2);
  EXPECT_EQ(log->OldestNeeded(), 1u);
  log->ReleaseThrough(3);
  EXPECT_EQ(log->OldestNeeded(), 4u);
  log->ReleaseThrough(4);
  EXPECT_EQ(log->OldestNeeded(), 0u);
}

TEST_F(SegmentRecyclingTest, OnAFullDiskReleasedSegmentsAreReused) {
  auto log = NewLog(&fs_);
  Fill(log.get(), 5);
  memory_.set_max_total_bytes(memory_.total_bytes());
  EXPECT_EQ(Add(log.get(), 6, Payload(6, 16000)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Add(log.get(), 6, "fits").code(), absl::StatusCode::kOk);
  log->ReleaseThrough(3);
  Fill(log.get(), 8);  // continues without reopening and without upkeep by another thread
  const Replayed read = ReplayAll(&fs_);
  ASSERT_OK(read.status);
  EXPECT_EQ(read.sequences, Range(4, 8));
}

}  // namespace
}  // namespace bigtable
