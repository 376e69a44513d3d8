#include "base/key_fences.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "base/strings.h"
#include "support/random.h"

namespace bigtable {
namespace {

// Keys of few different bytes, so that many share prefixes.
std::string RandomKey(Random& random, std::string_view prefix) {
  std::string key(prefix);
  for (uint64_t n = random.Below(14); n > 0; --n) key.push_back("\0ab\xff"[random.Below(4)]);
  return key;
}

TEST(KeyFencesTest, KeysBeforeTheBoundsAreSmallerAndKeysAfterAreLarger) {
  Random random(1);
  for (int round = 0; round < 600; ++round) {
    const std::string prefix = random.OneIn(2) ? "" : "prefix-of-all";
    std::set<std::string> keys;
    for (uint64_t n = random.Below(40); n > 0; --n) keys.insert(RandomKey(random, prefix));
    const std::vector<std::string> sorted(keys.begin(), keys.end());
    const KeyFences fences({sorted.begin(), sorted.end()});
    ASSERT_EQ(fences.size(), sorted.size());
    for (int i = 0; i < 40; ++i) {
      std::string key = RandomKey(random, prefix);
      if (random.OneIn(4)) key = RandomKey(random, "");
      if (random.OneIn(4)) key = prefix.substr(0, random.Below(prefix.size() + 1));
      if (random.OneIn(4) && !sorted.empty()) key = sorted[random.Below(sorted.size())];
      const auto [begin, end] = fences.Find(key);
      ASSERT_LE(begin, end);
      ASSERT_LE(end, sorted.size());
      for (size_t k = 0; k < sorted.size(); ++k) {
        ASSERT_TRUE(k >= begin || sorted[k] < key) << Quoted(key);
        ASSERT_TRUE(k < end || sorted[k] > key) << Quoted(key);
      }
    }
  }
}

TEST(KeyFencesTest, FewKeysMustBeCompared) {
  std::vector<std::string> keys;
  for (int i = 100; i < 200; ++i) keys.push_back(Cat("some-long-prefix-", i));
  const KeyFences fences({keys.begin(), keys.end()});
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(fences.Find(keys[i]).begin, i);
    EXPECT_EQ(fences.Find(keys[i]).end, i + 1);
    EXPECT_EQ(fences.Find(keys[i] + "x").end - fences.Find(keys[i] + "x").begin, 0u);
  }
}

}  // namespace
}  // namespace bigtable
