#include "commitlog/log_format.h"

#include "absl/strings/escaping.h"

#include "commitlog/log_state.h"
#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

TEST(LogFormatTest, TheWorkedExampleHasTheSpecifiedBytes) {
  std::string bytes(kRecordHeaderSize, '\0');
  bytes += "hello";
  FinishRecord(bytes.data(),
               {.payload_size = 5, .type = 1, .sequence = 5, .synced = LogOffset(1, 0)},
               RecordSeed(SegmentSalt(0, 1), 0));
  EXPECT_EQ(absl::BytesToHexString(bytes),
            "4552931722646f8298b7363f050000000500000000000001000000001000000068656c6c6f");
}

TEST(LogFormatTest, ARecordIsValidOnlyAtItsPositionAndWithItsSalt) {
  std::string bytes(kRecordHeaderSize + 5, 'x');
  FinishRecord(bytes.data(), {.payload_size = 5, .type = 1, .sequence = 7, .synced = 3},
               RecordSeed(11, 800));
  RecordHeader header;
  ASSERT_TRUE(DecodeRecordHeader(bytes.data(), RecordSeed(11, 800), &header));
  EXPECT_TRUE(IsRecordIntact(bytes.data(), header, RecordSeed(11, 800)));
  EXPECT_EQ(header.payload_size, 5u);
  EXPECT_EQ(header.type, 1);
  EXPECT_EQ(header.sequence, 7u);
  EXPECT_EQ(header.synced, 3u);
  EXPECT_FALSE(DecodeRecordHeader(bytes.data(), RecordSeed(11, 808), &header));
  EXPECT_FALSE(DecodeRecordHeader(bytes.data(), RecordSeed(12, 800), &header));
}

TEST(LogStateTest, TheWorkedExampleHasTheSpecifiedBytes) {
  EXPECT_EQ(absl::BytesToHexString(EncodeLogState({.generation = 1})),
            "4f4b27156e1ee3b642544c4f475354410200000000000000010000000000000000000000000000000100"
            "00000000000000000000000000000000000000000000");
}

TEST(LogStateTest, TheStateOfTheFirstVersionCanStillBeRead) {
  const auto state = DecodeLogState(absl::HexStringToBytes(
      "adc42b74867deb9742544c4f475354410100000000000000010000000000000000000000000000000100"
      "00000000000000000000000000000000000000000000"));
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->version, 1u);
  EXPECT_EQ(state->low, 1u);
}

TEST(LogStateTest, TheStateRoundTripsAndEveryFlippedBitIsDetected) {
  const LogState state{.generation = 2, .secret = 3, .low = 4, .released = 5, .synced = 6};
  std::string bytes = EncodeLogState(state);
  const auto read = DecodeLogState(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(EncodeLogState(*read), bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(DecodeLogState(bytes).has_value());
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

TEST(LogFormatTest, OnlySegmentNamesAreParsed) {
  EXPECT_EQ(SegmentName(7), "00000007.log");
  EXPECT_EQ(SegmentName(1234567890), "1234567890.log");
  EXPECT_EQ(ParseSegmentName("00000007.log"), 7u);
  EXPECT_EQ(ParseSegmentName("1234567890.log"), 1234567890u);
  for (const char* name : {"7.log", "000000007.log", "00000007.tmp", "0000000x.log", ".log",
                           "00000007.log.log", "99999999999999999999.log"}) {
    EXPECT_EQ(ParseSegmentName(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace bigtable
