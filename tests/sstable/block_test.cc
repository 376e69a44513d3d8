// Blocks on their own: block_builder.h and block_cursor.h.
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "blocks/block_builder.h"
#include "blocks/block_cursor.h"
#include "sstable_test_util.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

std::string Build(const Entries& entries) {
  BlockBuilder builder;
  size_t shared;
  for (const auto& [key, value] : entries) EXPECT_TRUE(builder.Add(key, value, &shared));
  const size_t size = builder.size();
  std::string block;
  builder.FinishTo(&block);
  EXPECT_EQ(block.size(), size);
  return block;
}

void ExpectAt(const BlockCursor& cursor, const Entries& entries, Entries::const_iterator at) {
  ASSERT_FALSE(cursor.damaged());
  ASSERT_EQ(cursor.valid(), at != entries.end());
  if (!cursor.valid()) return;
  ASSERT_EQ(cursor.key(), at->first);
  ASSERT_EQ(cursor.value(), at->second);
}

TEST(BlockTest, HasTheLayoutOfItsWorkedExample) {
  const std::string expected("\x02\0\0\0\x01\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\2\1ab\1\1\2c123",
                             12 + 8 + 9 + 3);
  EXPECT_EQ(Build({{"ab", "1"}, {"ac", "23"}}), expected);
}

TEST(BlockTest, RefusesKeysThatDoNotAscend) {
  BlockBuilder builder;
  size_t shared;
  EXPECT_TRUE(builder.Add("b", "", &shared));
  EXPECT_FALSE(builder.Add("b", "", &shared));
  EXPECT_FALSE(builder.Add("a", "", &shared));
  std::string block;
  builder.FinishTo(&block);
  EXPECT_FALSE(builder.Add("b", "", &shared)) << "also after the end of a block";
  EXPECT_TRUE(builder.Add("ba", "", &shared));
  EXPECT_EQ(shared, 1u);
}

TEST(BlockTest, AnEmptyBlockHasNoEntries) {
  const std::string block = Build({});
  BlockCursor cursor;
  ASSERT_TRUE(cursor.Open(block));
  cursor.SeekToFirst();
  EXPECT_FALSE(cursor.valid());
  cursor.SeekToLast();
  EXPECT_FALSE(cursor.valid());
  cursor.Seek("");
  EXPECT_FALSE(cursor.valid());
  cursor.SeekBefore("x");
  EXPECT_FALSE(cursor.valid());
  EXPECT_FALSE(cursor.damaged());
}

TEST(BlockTest, AgreesWithAMapRandom) {
  ForEachSeed(20, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    const Entries entries = RandomEntries(&random, 1 + random.Below(120));
    const std::string block = Build(entries);
    BlockCursor cursor;
    ASSERT_TRUE(cursor.Open(block));
    ASSERT_EQ(cursor.entries(), entries.size());
    std::vector<std::string> targets = {"", "\xff"};
    for (const auto& [key, value] : entries) {
      targets.push_back(key);
      targets.push_back(key + '\0');
      targets.push_back(key.substr(0, random.Below(key.size())));
      targets.push_back(key);
      targets.back()[random.Below(key.size())] ^= static_cast<char>(1 << random.Below(8));
    }
    for (const std::string& target : targets) {
      auto at = entries.lower_bound(target);
      cursor.Seek(target);
      ExpectAt(cursor, entries, at);
      for (int i = 0; i < 12 && cursor.valid(); ++i) {
        cursor.Next();
        ExpectAt(cursor, entries, ++at);
      }
      at = entries.lower_bound(target);
      cursor.SeekBefore(target);
      ExpectAt(cursor, entries, at == entries.begin() ? entries.end() : std::prev(at));
      if (cursor.valid()) {
        cursor.Next();
        ExpectAt(cursor, entries, at);
      }
      if (testing::Test::HasFailure()) return;
    }
    cursor.SeekToLast();
    ExpectAt(cursor, entries, std::prev(entries.end()));
    cursor.SeekToFirst();
    for (auto at = entries.begin(); at != entries.end(); ++at, cursor.Next()) {
      ExpectAt(cursor, entries, at);
    }
    EXPECT_FALSE(cursor.valid());
  });
}

// These bytes are not trusted: any result is acceptable, but nothing outside the block may be read
// (which the sanitizers detect), and every operation must end.
TEST(BlockTest, SurvivesAnyBytesRandom) {
  ForEachSeed(kSlow ? 2000 : 10000, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    std::string block;
    if (random.OneIn(4)) {
      block = random.Bytes(random.Below(100));
    } else {
      block = Build(RandomEntries(&random, 1 + random.Below(30)));
      for (uint64_t i = 0; i <= random.Below(4); ++i) {
        block[random.Below(std::min<size_t>(block.size(), 300))] ^=
            static_cast<char>(1 + random.Below(255));
      }
      if (random.OneIn(4)) block.resize(random.Below(block.size()));
    }
    const std::vector<char> exact(block.begin(), block.end());  // nothing after its end
    BlockCursor cursor;
    if (!cursor.Open({exact.data(), exact.size()})) return;
    size_t sum = 0;
    const auto walk = [&] {
      for (int i = 0; i < 1000 && cursor.valid(); ++i, cursor.Next()) {
        for (const char c : cursor.key()) sum += static_cast<unsigned char>(c);
        for (const char c : cursor.value()) sum += static_cast<unsigned char>(c);
      }
    };
    const std::string target = random.Bytes(random.Below(10));
    cursor.SeekToFirst();
    walk();
    cursor.Seek(target);
    walk();
    cursor.SeekBefore(target);
    walk();
    cursor.SeekToLast();
    walk();
    ASSERT_LT(sum, SIZE_MAX);
  });
}

}  // namespace
}  // namespace bigtable
