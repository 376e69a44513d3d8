// Numbers of keys compared with the keys.
#include "memtable/key_numbers.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "base/arena.h"
#include "base/strings.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using Keys = std::vector<std::string>;

KeyNumbers Learned(std::string prefix, const Keys& keys, Arena* arena, bool count_up = false) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  return KeyNumbers(std::move(prefix), views, count_up, arena);
}

// Over so few bytes that keys have each other's beginnings, and numbers the extreme values.
std::string RandomNestedKey(Random& random) {
  static constexpr std::array<std::string_view, 6> kBeginnings = {
      "", "ab", "abbbbbbbb", "abbbbbbbbaaa", "abbbbbbbb\xff\xff", "abaaaaaaaab"};
  static const std::string kBytes(
      "\x00\xff"
      "ab",
      4);
  std::string key(random.Pick(kBeginnings));
  for (uint64_t n = random.Below(12); n > 0; --n) key.push_back(random.Pick(kBytes));
  return key;
}

TEST(KeyNumbersTest, UnequalNumbersCompareAsTheKeys) {
  ForEachSeed(100, [](uint64_t seed) {
    Random random(seed);
    std::set<std::string> lesson;
    for (uint64_t n = random.Below(200); n > 0; --n) lesson.insert(RandomNestedKey(random));
    static constexpr std::array<std::string_view, 4> kPrefixes = {"", "a", "ab", "b"};
    const Keys learned(lesson.begin(), lesson.end());
    Arena arena;
    const KeyNumbers numbers =
        Learned(std::string(random.Pick(kPrefixes)), learned, &arena, random.OneIn(2));
    for (int i = 0; i < 500; ++i) {
      lesson.insert(RandomNestedKey(random));
    }
    uint64_t before = 0;
    for (const std::string& key : lesson) {
      const uint64_t number = numbers.Of(key);
      ASSERT_LE(before, number) << "at " << testing::PrintToString(key);
      before = number;
    }
    Tally("cases");
  });
}

TEST(KeyNumbersTest, KeysOfAGroupHaveNumbersOfTheirOwn) {
  Keys keys;
  for (const char* tenant : {"tenant-a", "tenant-b", "tenant-z"}) {
    for (int i = 0; i < 1000; i += 10) {
      keys.push_back(absl::StrFormat("user/%s/%08d/profile", tenant, i));
    }
  }
  const KeyNumbers plain("user/");
  Arena arena;
  const KeyNumbers learned = Learned("user/", keys, &arena);
  EXPECT_EQ(learned.groups(), 3);
  std::set<uint64_t> before, after;
  for (const char* tenant : {"tenant-a", "tenant-b", "tenant-q", "tenant-z"}) {
    for (int i = 0; i < 1000; ++i) {
      const std::string key = absl::StrFormat("user/%s/%08d/profile", tenant, i);
      before.insert(plain.Of(key));
      after.insert(learned.Of(key));
    }
  }
  EXPECT_EQ(before.size(), 4);
  EXPECT_EQ(after.size(), 3001);  // tenant-q was not in the lesson
}

// The first rows of a table whose row keys count up are much smaller than those that follow.
TEST(KeyNumbersTest, KeysThatCountUpKeepNumbersOfTheirOwn) {
  const auto key = [](int row, int column) {
    return absl::StrFormat("%016d%c%c/column/%d", row, '\0', '\1', column);
  };
  for (const int columns : {1, 3}) {
    Keys keys;
    for (int i = 0; i < 256; ++i) keys.push_back(key(i / columns, i % columns));
    Arena arena;
    const KeyNumbers learned = Learned("", keys, &arena, true);
    std::set<uint64_t> numbers;
    constexpr int kStep = 37;
    for (int row = 0; row < 1'000'000; row += kStep) numbers.insert(learned.Of(key(row, 0)));
    EXPECT_EQ(numbers.size(), (1'000'000 + kStep - 1) / kStep) << columns;
  }
}

// Neighbours that differ only behind the bytes of a number do not make other bytes of it useless.
TEST(KeyNumbersTest, TheEndsOfNearKeysAreInTheirNumbers) {
  const std::string common(40, 'c');
  const Keys keys = {common + "1abc1", common + "1abc2", common + "1abcdefgh1",
                     common + "1abcdefgh2", common + "2"};
  Arena arena;
  const KeyNumbers learned = Learned("", keys, &arena, true);
  std::set<uint64_t> numbers;
  for (const std::string& key : keys) numbers.insert(learned.Of(key));
  EXPECT_EQ(numbers.size(), 4);  // not of the two that differ in "1" and "2" after "abcdefgh"
}

TEST(KeyNumbersTest, TheLargestGroupsAreLearned) {
  Keys keys;
  for (int i = 0; i < 3000; ++i) {
    for (int n = 0; n < (i % 3 == 0 ? 3 : 2); ++n) {
      keys.push_back(absl::StrFormat("%08d/%08d", i, n));
    }
  }
  Arena arena;
  const KeyNumbers numbers = Learned("", keys, &arena);
  EXPECT_EQ(numbers.groups(), 1024);
  size_t large = 0;
  for (int i = 0; i < 3000; ++i) {
    const bool is_in_group = numbers.Of(absl::StrFormat("%08d/%08d", i, 0)) !=
                             numbers.Of(absl::StrFormat("%08d/%08d", i, 1));
    large += is_in_group && i % 3 == 0 ? 1 : 0;
  }
  EXPECT_EQ(large, 1000);
  uint64_t before = 0;
  for (const std::string& key : keys) {
    ASSERT_LE(before, numbers.Of(key)) << key;
    before = numbers.Of(key);
  }
}

}  // namespace
}  // namespace bigtable
