// Comparisons without a function call agree with memcmp and std::string_view, for all sizes and
// alignments, and do not read past the texts: each text ends with its allocation, which
// AddressSanitizer checks.
#include "base/compare.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/strings.h"
#include "support/random.h"

namespace bigtable {
namespace {

constexpr size_t kMostBytes = 40;

// Bytes that begin at a chosen offset within a word.
class Placed {
 public:
  Placed(std::string_view text, size_t start) : start_(start), bytes_(start + text.size()) {
    text.copy(bytes_.data() + start, text.size());
  }
  std::string_view view() const { return {bytes_.data() + start_, bytes_.size() - start_}; }

 private:
  const size_t start_;
  std::vector<char> bytes_;
};

uint64_t NumberByHand(std::string_view key) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) {
    number = number << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
  }
  return number;
}

// Checks all functions of compare.h for two texts, of which the first `common` bytes are equal.
void Check(std::string_view a, std::string_view b, size_t common) {
  const std::string what = Cat(Quoted(a), " and ", Quoted(b));
  const size_t n = std::min(a.size(), b.size());
  ASSERT_EQ(CommonPrefix(a, b), common) << what;
  ASSERT_EQ(CommonPrefix(b, a), common) << what;
  ASSERT_EQ(CommonPrefix(a.data(), b.data(), n), common) << what;
  ASSERT_EQ(Less(a, b), a < b) << what;
  ASSERT_EQ(Less(b, a), b < a) << what;
  ASSERT_EQ(LessBehind(a, b, common), a < b) << what;
  ASSERT_EQ(LessBehind(b, a, common), b < a) << what;
  const bool same = n == 0 || std::memcmp(a.data(), b.data(), n) == 0;
  ASSERT_EQ(SameBytes(a.data(), b.data(), n), same) << what;
  ASSERT_EQ(BeginsWith(a, b), a.starts_with(b)) << what;
  ASSERT_EQ(BeginsWith(b, a), b.starts_with(a)) << what;
  ASSERT_EQ(KeyNumber(a), NumberByHand(a)) << what;
  ASSERT_EQ(KeyNumber(b), NumberByHand(b)) << what;
  if (KeyNumber(a) != KeyNumber(b)) {
    ASSERT_EQ(KeyNumber(a) < KeyNumber(b), a < b) << what;
  }
}

// Texts of these sizes that begin with the same `common` bytes, continue with these two bytes, and
// then have bytes that do not matter: once different ones, and once equal ones.
void CheckPair(Random& random, size_t size_a, size_t size_b, size_t common,
               std::pair<unsigned char, unsigned char> differing, size_t start_a, size_t start_b) {
  std::string a = random.Bytes(size_a);
  std::string b = random.Bytes(size_b);
  if (random.OneIn(4)) a[random.Below(size_a)] = '\0';
  a[common] = static_cast<char>(differing.first);
  b.replace(0, common, a, 0, common);
  b[common] = static_cast<char>(differing.second);
  const Placed placed(a, start_a);
  Check(placed.view(), Placed(b, start_b).view(), common);
  const size_t rest = common + 1;
  if (rest < size_a && rest < size_b) a.copy(b.data() + rest, size_b - rest, rest);
  Check(placed.view(), Placed(b, start_b).view(), common);
}

TEST(CompareTest, TheFirstDifferenceDecidesAtEveryPositionForAllSizes) {
  Random random(1);
  for (size_t size_a = 1; size_a <= kMostBytes; ++size_a) {
    for (size_t size_b = 1; size_b <= kMostBytes; ++size_b) {
      for (size_t common = 0; common < std::min(size_a, size_b); ++common) {
        for (const std::pair<unsigned char, unsigned char> differing :
             {std::pair(0x00, 0x01), std::pair(0x61, 0x62), std::pair(0x7f, 0x80),
              std::pair(0x00, 0xff), std::pair(0xfe, 0xff), std::pair(0x80, 0x01)}) {
          ASSERT_NO_FATAL_FAILURE(CheckPair(random, size_a, size_b, common, differing,
                                            random.Below(8), random.Below(8)));
        }
      }
    }
  }
}

TEST(CompareTest, TheAlignmentOfATextDoesNotMatter) {
  Random random(2);
  for (size_t start_a = 0; start_a < 16; ++start_a) {
    for (size_t start_b = 0; start_b < 16; ++start_b) {
      for (size_t size = 1; size <= kMostBytes; ++size) {
        ASSERT_NO_FATAL_FAILURE(
            CheckPair(random, size, size, random.Below(size), {0x7f, 0x80}, start_a, start_b));
      }
    }
  }
}

TEST(CompareTest, AProperPrefixIsLessAndEqualTextsAreNot) {
  Random random(3);
  for (size_t size = 0; size <= kMostBytes; ++size) {
    for (size_t shorter = 0; shorter <= size; ++shorter) {
      for (size_t start = 0; start < 8; ++start) {
        std::string text = random.Bytes(size);
        if (random.OneIn(2)) text.replace(shorter, size, size - shorter, '\0');
        const Placed a(text, start), b(text.substr(0, shorter), random.Below(8));
        ASSERT_NO_FATAL_FAILURE(Check(a.view(), b.view(), shorter));
      }
    }
  }
}

// For any prefix, and keys with or without it.
TEST(CompareTest, NumbersAfterAPrefixDecideIfTheyDiffer) {
  Random random(4);
  const auto text = [&random] {
    std::string bytes;
    for (uint64_t n = random.Below(12); n > 0; --n) bytes.push_back("\0ab\xff"[random.Below(4)]);
    return bytes;
  };
  size_t decided = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string prefix = random.OneIn(8) ? "" : text();
    const std::string a = random.OneIn(2) ? text() : prefix + text();
    const std::string b = random.OneIn(2) ? text() : prefix + text();
    const uint64_t number_a = KeyNumberBehind(prefix, a), number_b = KeyNumberBehind(prefix, b);
    if (number_a == number_b) continue;
    ++decided;
    ASSERT_EQ(number_a < number_b, a < b) << Cat(Quoted(prefix), Quoted(a), Quoted(b));
  }
  EXPECT_GT(decided, 70'000u);
  EXPECT_EQ(KeyNumberBehind("row/", "row/12345678"), NumberByHand("12345678"));
}

TEST(CompareTest, TextsWithANullPointerAreEmpty) {
  ASSERT_NO_FATAL_FAILURE(Check({}, {}, 0));
  ASSERT_NO_FATAL_FAILURE(Check({}, "a", 0));
  ASSERT_NO_FATAL_FAILURE(Check({}, std::string_view("\0", 1), 0));
}

TEST(CompareTest, AKeyNumberIsTheFirstEightBytesPaddedWithZeros) {
  EXPECT_EQ(KeyNumber(""), 0u);
  EXPECT_EQ(KeyNumber("\x01"), 0x0100000000000000u);
  EXPECT_EQ(KeyNumber("\x01\x02\x03\x04\x05\x06\x07"), 0x0102030405060700u);
  EXPECT_EQ(KeyNumber("\x01\x02\x03\x04\x05\x06\x07\xf8"), 0x01020304050607f8u);
  EXPECT_EQ(KeyNumber("\x01\x02\x03\x04\x05\x06\x07\xf8\x09"), 0x01020304050607f8u);
  EXPECT_EQ(KeyNumber(std::string_view("a\0", 2)), KeyNumber("a"));
  EXPECT_EQ(KeyNumber("\xff\xff\xff\xff\xff\xff\xff\xff"), std::numeric_limits<uint64_t>::max());
}

}  // namespace
}  // namespace bigtable
