#include "commitlog/log_appender.h"

#include <cstdint>
#include <memory>

#include "commitlog/segment_test_util.h"

namespace bigtable {
namespace {

class LogAppenderTest : public testing::TestWithParam<bool> {
 protected:
  bool mapped() const { return GetParam(); }
  void SetUp() override { appender_.Restart(first_.get()); }

  // What LogCalls::Flush does.
  void Flush() {
    for (const SegmentPiece& piece : appender_.Unflushed()) {
      const std::string_view bytes(piece.memory.get() + piece.begin, piece.size());
      ASSERT_OK(piece.segment->file().Write(piece.begin, bytes));
    }
    appender_.MarkFlushed();
  }
  void Rotate(LogSegment* next) {
    appender_.PrepareToRotate();
    appender_.Rotate(next, 0);
  }

  TestSegments segments_{GetParam()};
  const Ref<LogSegment> first_ = segments_.Make(1);
  LogAppender appender_;
};
INSTANTIATE_TEST_SUITE_P(Ways, LogAppenderTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Mapped" : "Written";
});

TEST_P(LogAppenderTest, ARecordCountsOnceItIsInItsFile) {
  AppendedRecord record;
  AppendTo(&appender_, 7, 100, &record);
  EXPECT_EQ(appender_.appended(), 7u);
  EXPECT_EQ(appender_.needs_flush(), !mapped());
  EXPECT_EQ(appender_.last_sequence(), mapped() ? 7u : 0u);
  EXPECT_EQ(appender_.end_offset(), LogOffset(1, mapped() ? RecordSize(100) : 0));
  EXPECT_EQ(segments_.Records(1).size(), mapped() ? 1u : 0u);
  EXPECT_EQ(record.segment, mapped() ? first_.get() : nullptr);
  Flush();
  EXPECT_FALSE(appender_.needs_flush());
  EXPECT_EQ(appender_.last_sequence(), 7u);
  EXPECT_EQ(appender_.end_offset(), LogOffset(1, RecordSize(100)));
  ASSERT_EQ(segments_.Records(1).size(), 1u);
  EXPECT_EQ(segments_.Records(1)[0].sequence, 7u);
  EXPECT_TRUE(appender_.Unflushed().empty() || appender_.Unflushed()[0].size() == 0);
}

TEST_P(LogAppenderTest, EverySegmentHasRoomForItsEndRecord) {
  SequenceNumber last = 0;
  for (const size_t size : {1000, 100, 8, 0}) {
    while (appender_.HasRoom(RecordSize(size))) AppendTo(&appender_, ++last, size);
  }
  const Ref<LogSegment> second = segments_.Make(2);
  EXPECT_LE(appender_.EndPosition(), kSmallSegment);
  const uint64_t end = appender_.EndPosition();
  Rotate(second.get());
  AppendTo(&appender_, ++last);
  Flush();
  const std::vector<RecordHeader> records = segments_.Records(1);
  ASSERT_EQ(records.size(), last);  // one is in segment 2, and there is an end record
  EXPECT_EQ(records.back().type, static_cast<uint8_t>(RecordType::kEnd));
  EXPECT_EQ(records.back().sequence, last - 1);
  uint64_t bytes = 0;
  for (const RecordHeader& header : records) bytes += RecordSize(header.payload_size);
  EXPECT_EQ(bytes, end);
  EXPECT_EQ(first_->first_sequence(), 1u);
  EXPECT_EQ(second->first_sequence(), last);
  EXPECT_EQ(appender_.records(), last);
  EXPECT_EQ(appender_.end_offset(), LogOffset(2, RecordSize(100)));
}

TEST_P(LogAppenderTest, WhatIsFlushedIsNotWrittenAgain) {
  AppendTo(&appender_, 1);
  Flush();
  AppendTo(&appender_, 2);
  const auto pieces = appender_.Unflushed();
  if (mapped()) {
    EXPECT_TRUE(pieces.empty());
  } else {
    ASSERT_EQ(pieces.size(), 1u);
    EXPECT_EQ(pieces[0].begin, RecordSize(100));
    EXPECT_EQ(pieces[0].end, 2 * RecordSize(100));
  }
}

// A later segment may be mapped where an earlier one is not.
TEST_P(LogAppenderTest, NoRecordCountsBeforeTheRecordsBeforeIt) {
  if (mapped()) return;
  TestSegments others(true);
  const Ref<LogSegment> second = others.Make(2);
  AppendTo(&appender_, 1);
  Rotate(second.get());
  AppendTo(&appender_, 2);
  EXPECT_TRUE(appender_.needs_flush());
  EXPECT_EQ(appender_.last_sequence(), 0u);
  EXPECT_EQ(appender_.end_offset(), LogOffset(1, 0));
  ASSERT_EQ(appender_.Unflushed().size(), 1u);
  EXPECT_EQ(appender_.Unflushed()[0].segment.get(), first_.get());
  Flush();
  EXPECT_EQ(appender_.last_sequence(), 2u);
  EXPECT_EQ(appender_.end_offset(), LogOffset(2, RecordSize(100)));
  // From here on it is mapped as any other.
  AppendTo(&appender_, 3);
  EXPECT_EQ(appender_.last_sequence(), 3u);
}

TEST_P(LogAppenderTest, ARestartDropsWhatIsInNoFile) {
  AppendTo(&appender_, 1);
  Flush();
  AppendTo(&appender_, 2);
  Rotate(segments_.Make(2).get());
  const SequenceNumber last = appender_.last_sequence();
  EXPECT_EQ(last, mapped() ? 2u : 1u);
  const Ref<LogSegment> third = segments_.Make(3);
  appender_.Restart(third.get());
  EXPECT_FALSE(appender_.needs_flush());
  EXPECT_EQ(appender_.appended(), last);
  EXPECT_EQ(appender_.end_offset(), LogOffset(3, 0));
  AppendTo(&appender_, 3);
  Flush();
  EXPECT_EQ(appender_.last_sequence(), 3u);
  EXPECT_EQ(segments_.Records(3).size(), 1u);
}

TEST_P(LogAppenderTest, AfterASwitchNothingHasToBeFlushed) {
  AppendTo(&appender_, 1);
  AppendTo(&appender_, 2);
  const Ref<LogSegment> copy = segments_.Make(2);
  appender_.ContinueInCopy(copy.get(), 4096, 2);
  EXPECT_FALSE(appender_.needs_flush());
  EXPECT_EQ(appender_.last_sequence(), 2u);
  EXPECT_EQ(appender_.end_offset(), LogOffset(2, 4096));
  EXPECT_EQ(copy->first_sequence(), 2u);
  AppendTo(&appender_, 3);
  Flush();
  EXPECT_EQ(appender_.end_offset(), LogOffset(2, 4096 + RecordSize(100)));
}

}  // namespace
}  // namespace bigtable
