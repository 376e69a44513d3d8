// Segments without a commit log, for tests of its parts. Their records have the secret 0.
#ifndef BIGTABLE_TESTS_COMMITLOG_SEGMENT_TEST_UTIL_H_
#define BIGTABLE_TESTS_COMMITLOG_SEGMENT_TEST_UTIL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "commitlog/log_appender.h"
#include "commitlog/log_test_util.h"
#include "commitlog/segment_chain.h"
#include "commitlog/segment_reader.h"
#include "commitlog/segment_store.h"

namespace bigtable {

class TestSegments {
 public:
  explicit TestSegments(bool is_mapped) : faulty_(&disk_, {.hide_log_mappings = !is_mapped}) {
    EXPECT_OK(disk_.CreateDirectory("log"));
  }

  FaultyFileSystem& fs() { return faulty_; }
  InMemoryFileSystem& disk() { return disk_; }
  // The files that no segment refers to any more.
  SegmentReturns& returns() { return *returns_; }

  // A new segment, with its memory.
  Ref<LogSegment> Make(uint64_t number, uint64_t size = kSmallSegment) {
    Ref<LogSegment> segment;
    EXPECT_OK(store_.Make(number, size, &segment));
    EXPECT_OK(segment->NeedMemory());
    return segment;
  }
  // The same, as the chain's spare.
  void MakeSpare(SegmentChain* chain, uint64_t size = kSmallSegment) {
    LimitedMutexLock prepare(&chain->prepare_mutex);
    MutexLock lock(&chain->mutex);
    Ref<LogSegment> spare;
    const uint64_t number = chain->BeginMaking(&spare);
    chain->EndMaking(Make(number, size));
  }

  // The valid records at the beginning of the segment's file.
  std::vector<RecordHeader> Records(uint64_t number) {
    std::vector<RecordHeader> headers;
    const auto reader = SegmentReader::Open(&disk_, SegmentPath(number), number,
                                            SegmentSalt(0, number), TestReadMode());
    EXPECT_OK(reader);
    SegmentReader::Record record;
    for (uint64_t position = 0;; position = record.next()) {
      const auto found = (*reader)->ReadAt(position, &record);
      EXPECT_OK(found);
      if (!found.ok() || !*found) return headers;
      headers.push_back(record.header);
    }
  }
  // The log offset in the switch record, if the segment begins with one.
  std::optional<uint64_t> SwitchOffset(uint64_t number) {
    const auto reader = SegmentReader::Open(&disk_, SegmentPath(number), number,
                                            SegmentSalt(0, number), TestReadMode());
    EXPECT_OK(reader);
    const auto offset = (*reader)->ReadSwitch();
    EXPECT_OK(offset);
    return offset.ok() ? *offset : std::nullopt;
  }

 private:
  InMemoryFileSystem disk_;
  FaultyFileSystem faulty_;
  const Ref<SegmentReturns> returns_ = MakeRef<SegmentReturns>();
  SegmentStore store_{&faulty_, "log", 0, kSmallSegment, 4, nullptr, returns_};
};

// Appends a mutation with a payload of `size` bytes, for which there is room.
inline void AppendTo(LogAppender* appender, SequenceNumber sequence, size_t size = 100,
                     AppendedRecord* out = nullptr) {
  const std::string payload = Payload(sequence, size);
  const std::string_view part = payload;
  appender->Append(RecordType::kMutation, sequence, 0, size, {&part, 1}, out);
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_COMMITLOG_SEGMENT_TEST_UTIL_H_
