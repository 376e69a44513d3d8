#include "commitlog/switch_writer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "commitlog/segment_test_util.h"

namespace bigtable {
namespace {

class SwitchWriterTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr uint64_t kSynced = LogOffset(1, 136);

  // Segment 1 has the records 1 to 3 and an end record, and segment 2 the records 4 and 5. Record 1
  // is synced.
  void SetUp() override {
    appender_.Restart(first_.get());
    for (SequenceNumber s = 1; s <= 3; ++s) AppendTo(&appender_, s);
    const uint64_t end = appender_.EndPosition();
    appender_.PrepareToRotate();
    appender_.Rotate(second_.get(), 0);
    for (SequenceNumber s = 4; s <= 5; ++s) AppendTo(&appender_, s);
    SwitchPlan plan{.from = kSynced, .pieces = {}, .synced = kSynced};
    plan.pieces.push_back({first_, first_->memory(), RecordSize(100), end});
    plan.pieces.push_back({second_, second_->memory(), 0, 2 * RecordSize(100)});
    writer_ = std::make_unique<SwitchWriter>(std::move(plan), segments_.Make(3), &times_);
  }

  TestSegments segments_{GetParam()};
  const Ref<LogSegment> first_ = segments_.Make(1);
  const Ref<LogSegment> second_ = segments_.Make(2);
  LogAppender appender_;
  CallTimes times_{absl::Hours(1)};
  std::unique_ptr<SwitchWriter> writer_;
};
INSTANTIATE_TEST_SUITE_P(Ways, SwitchWriterTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Mapped" : "Written";
});

TEST_P(SwitchWriterTest, TheSwitchRecordComesAfterTheCopies) {
  ASSERT_OK(writer_->WriteCopies());
  EXPECT_TRUE(segments_.Records(3).empty());
  EXPECT_EQ(segments_.SwitchOffset(3), std::nullopt);
  ASSERT_OK(writer_->WriteSwitchRecord(5));
  EXPECT_EQ(segments_.SwitchOffset(3), kSynced);
  EXPECT_EQ(segments_.Records(3).size(), 5u);
}

TEST_P(SwitchWriterTest, TheRecordsOfUsersAreCopiedInTheirOrder) {
  ASSERT_OK(writer_->WriteCopies());
  ASSERT_OK(writer_->WriteSwitchRecord(5));
  const std::vector<RecordHeader> records = segments_.Records(3);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[0].type, static_cast<uint8_t>(RecordType::kSwitch));
  EXPECT_EQ(records[0].sequence, 5u);
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(records[i].type, static_cast<uint8_t>(RecordType::kMutation));
    EXPECT_EQ(records[i].sequence, i + 1);
  }
  for (const RecordHeader& header : records) EXPECT_EQ(header.synced, kSynced);
  EXPECT_EQ(writer_->first_sequence(), 2u);
  EXPECT_EQ(writer_->end(), kSwitchRecordSize + 4 * RecordSize(100));
}

TEST_P(SwitchWriterTest, WithoutRecordsAtRiskThereIsOnlyTheSwitchRecord) {
  SwitchWriter writer({.from = kSynced, .pieces = {}, .synced = kSynced}, segments_.Make(4),
                      &times_);
  ASSERT_OK(writer.WriteCopies());
  ASSERT_OK(writer.WriteSwitchRecord(1));
  EXPECT_EQ(segments_.SwitchOffset(4), kSynced);
  EXPECT_EQ(segments_.Records(4).size(), 1u);
  EXPECT_EQ(writer.first_sequence(), 0u);
}

TEST_P(SwitchWriterTest, MemoryThatHoldsNoRecordIsNotCopied) {
  first_->memory().get()[RecordSize(100)] ^= 1;
  first_->memory().get()[RecordSize(100) + 8] ^= 1;
  EXPECT_STATUS(kInternal, SegmentName(1), writer_->WriteCopies());
}

TEST_P(SwitchWriterTest, AnErrorOfAWriteIsReturned) {
  if (GetParam()) return;  // nothing is written
  segments_.fs().FailCalls({.kinds = {FileCall::kLogWrite}, .path_contains = SegmentName(3)},
                           absl::UnavailableError("injected"));
  EXPECT_STATUS(kUnavailable, "injected", writer_->WriteCopies());
  EXPECT_STATUS(kUnavailable, "injected", writer_->WriteSwitchRecord(5));
}

}  // namespace
}  // namespace bigtable
