// Encoding of integers, and the behavior of the decoders on invalid bytes.
#include "base/coding.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"

namespace bigtable {
namespace {

// Every power of two with its neighbours: all lengths of a varint and all limits between them.
std::vector<uint64_t> Numbers() {
  std::vector<uint64_t> numbers;
  for (int bit = 0; bit < 64; ++bit) {
    for (uint64_t d : {-1, 0, 1}) numbers.push_back((uint64_t{1} << bit) + d);
  }
  numbers.push_back(UINT64_MAX);
  Random random(1);
  for (int i = 0; i < 1000; ++i) numbers.push_back(random.Next() >> random.Below(64));
  return numbers;
}

std::string Varint(uint64_t v) {
  std::string out;
  AppendVarint64(&out, v);
  return out;
}

TEST(CodingTest, FixedNumbersAreLittleEndianAndRoundTrip) {
  std::string bytes;
  AppendFixed32(&bytes, 0x04030201);
  AppendFixed64(&bytes, 0x0c0b0a0908070605);
  EXPECT_EQ(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c");
  EXPECT_EQ(LoadFixed32(bytes.data()), 0x04030201u);
  EXPECT_EQ(LoadFixed64(bytes.data() + 4), 0x0c0b0a0908070605u);
}

TEST(CodingTest, BigEndianNumbersCompareLikeTheirBytes) {
  const std::vector<uint64_t> numbers = Numbers();
  std::string a(8, '\0'), b(8, '\0');
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    StoreBigEndian64(a.data(), numbers[i]);
    StoreBigEndian64(b.data(), numbers[i + 1]);
    EXPECT_EQ(a < b, numbers[i] < numbers[i + 1]);
    EXPECT_EQ(LoadBigEndian64(a.data()), numbers[i]);
  }
}

TEST(CodingTest, VarintsRoundTripAndHaveTheStatedLength) {
  for (const uint64_t v : Numbers()) {
    const std::string bytes = Varint(v);
    EXPECT_EQ(static_cast<int>(bytes.size()), VarintLength(v)) << v;
    EXPECT_LE(bytes.size(), static_cast<size_t>(kMaxVarint64));
    uint64_t back = 0;
    EXPECT_EQ(ParseVarint64(bytes.data(), bytes.data() + bytes.size(), &back),
              bytes.data() + bytes.size());
    EXPECT_EQ(back, v);
  }
}

TEST(CodingTest, BytesAfterAVarintDoNotMatter) {
  const std::string bytes = Varint(300) + "\xff\xff";
  uint64_t v = 0;
  EXPECT_EQ(ParseVarint64(bytes.data(), bytes.data() + bytes.size(), &v), bytes.data() + 2);
  EXPECT_EQ(v, 300u);
}

TEST(CodingTest, ATruncatedVarintIsRefused) {
  for (const uint64_t v : Numbers()) {
    const std::string bytes = Varint(v);
    for (size_t n = 0; n < bytes.size(); ++n) {
      uint64_t wide;
      uint32_t narrow;
      EXPECT_EQ(ParseVarint64(bytes.data(), bytes.data() + n, &wide), nullptr);
      EXPECT_EQ(ParseVarint32(bytes.data(), bytes.data() + n, &narrow), nullptr);
    }
  }
}

TEST(CodingTest, AVarintOfMoreThan64BitsIsRefused) {
  uint64_t v;
  for (const std::string& bytes :
       {std::string(9, '\xff') + '\x02', std::string(10, '\x80') + '\x01', std::string(20, '\xff'),
        std::string(9, '\x80') + '\x80'}) {
    EXPECT_EQ(ParseVarint64(bytes.data(), bytes.data() + bytes.size(), &v), nullptr);
  }
  const std::string largest = std::string(9, '\xff') + '\x01';
  ASSERT_NE(ParseVarint64(largest.data(), largest.data() + 10, &v), nullptr);
  EXPECT_EQ(v, UINT64_MAX);
}

TEST(CodingTest, AVarint32OfMoreThan32BitsIsRefused) {
  for (const uint64_t v : Numbers()) {
    const std::string bytes = Varint(v);
    uint32_t back = 0;
    const char* const end = ParseVarint32(bytes.data(), bytes.data() + bytes.size(), &back);
    EXPECT_EQ(end != nullptr, v <= UINT32_MAX) << v;
    if (end != nullptr) {
      EXPECT_EQ(back, v);
    }
  }
}

TEST(CodingTest, ZigZagKeepsSmallMagnitudesSmallAndRoundTrips) {
  EXPECT_EQ(ZigZag(0), 0u);
  EXPECT_EQ(ZigZag(-1), 1u);
  EXPECT_EQ(ZigZag(1), 2u);
  for (const uint64_t v : Numbers()) {
    EXPECT_EQ(UnZigZag(ZigZag(static_cast<int64_t>(v))), static_cast<int64_t>(v));
  }
  EXPECT_EQ(ZigZag(std::numeric_limits<int64_t>::min()), UINT64_MAX);
}

std::string Everything() {
  std::string bytes("\x07");
  AppendFixed32(&bytes, 0xdeadbeef);
  AppendFixed64(&bytes, 0x123456789abcdef0);
  AppendVarint64(&bytes, 1u << 20);
  AppendLengthPrefixed(&bytes, "text");
  return bytes + "ab";
}
bool ReadEverything(Decoder* in) {
  bool right = in->Byte() == 7;
  right &= in->Fixed32() == 0xdeadbeef;
  right &= in->Fixed64() == 0x123456789abcdef0;
  right &= in->Varint() == 1u << 20;
  right &= in->LengthPrefixed() == "text";
  return right & (in->Bytes(2) == "ab");
}

TEST(DecoderTest, ReadsAppendedValues) {
  const std::string bytes = Everything();
  Decoder in(bytes);
  EXPECT_EQ(in.rest(), bytes);
  EXPECT_TRUE(ReadEverything(&in));
  EXPECT_TRUE(in.ok());
  EXPECT_TRUE(in.at_end());
}

TEST(DecoderTest, EveryTruncationIsDetected) {
  const std::string bytes = Everything();
  for (size_t n = 0; n < bytes.size(); ++n) {
    Decoder in(std::string_view(bytes).substr(0, n));
    EXPECT_FALSE(ReadEverything(&in)) << n;
    EXPECT_FALSE(in.ok()) << n;
  }
}

TEST(DecoderTest, StaysFailed) {
  const std::string_view bytes = "abcdefghij";
  Decoder in(bytes);
  EXPECT_TRUE(in.Bytes(11).empty());  // one more than there are
  EXPECT_FALSE(in.ok());
  // There are enough bytes for each of these.
  EXPECT_EQ(in.Byte(), 0);
  EXPECT_EQ(in.Fixed32(), 0u);
  EXPECT_EQ(in.Fixed64(), 0u);
  EXPECT_EQ(in.Varint(), 0u);
  EXPECT_TRUE(in.Bytes(1).empty());
  EXPECT_TRUE(in.LengthPrefixed().empty());
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.rest(), bytes);
}

TEST(DecoderTest, ALengthThatWouldOverflowIsRefused) {
  Decoder bytes("abc");
  EXPECT_TRUE(bytes.Bytes(UINT64_MAX).empty());
  EXPECT_FALSE(bytes.ok());
  const std::string prefixed = Varint(UINT64_MAX) + "abc";
  Decoder text(prefixed);
  EXPECT_TRUE(text.LengthPrefixed().empty());
  EXPECT_FALSE(text.ok());
}

}  // namespace
}  // namespace bigtable
