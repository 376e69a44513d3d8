// A bit for each block of a file.
#include "blocks/block_bits.h"

#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(BlockBitsTest, ABitIsSetOnceAndStaysSetUntilAllAreCleared) {
  BlockBits bits(130);
  for (const size_t i : {size_t{0}, size_t{63}, size_t{64}, size_t{129}}) {
    EXPECT_FALSE(bits.Test(i));
    EXPECT_FALSE(bits.Set(i)) << "it was clear before";
    EXPECT_TRUE(bits.Set(i));
    EXPECT_TRUE(bits.Test(i));
  }
  EXPECT_FALSE(bits.Test(1));
  EXPECT_FALSE(bits.Test(128));
  EXPECT_EQ(bits.Count(), 4);
  EXPECT_EQ(bits.memory(), 3 * 8);
  bits.ClearAll();
  EXPECT_EQ(bits.Count(), 0);
  EXPECT_FALSE(bits.Test(129));
}

TEST(BlockBitsTest, OfManyThreadsOneSetsABit) {
  constexpr size_t kBlocks = 1000;
  BlockBits bits(kBlocks);
  std::atomic<size_t> first{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < kBlocks; ++i) first += bits.Set(i) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, kBlocks);
  EXPECT_EQ(bits.Count(), kBlocks);
}

TEST(BlockBitsTest, ASampleIsASetBitAndAscendingSeedsSpreadOverTheFile) {
  constexpr size_t kBlocks = 64 * 100;
  BlockBits bits(kBlocks);
  EXPECT_EQ(bits.Sample(7), BlockBits::kNone);
  for (size_t i = 0; i < kBlocks; i += 10) bits.Set(i);
  std::set<size_t> tenths;
  for (size_t seed = 0; seed < 40; ++seed) {
    const size_t i = bits.Sample(seed);
    ASSERT_LT(i, kBlocks);
    EXPECT_TRUE(bits.Test(i));
    tenths.insert(i / (kBlocks / 10));
  }
  EXPECT_GT(tenths.size(), 6) << "not beside one another";
}

TEST(BlockBitsTest, AFileWithoutBlocksHasNoSample) {
  const BlockBits bits(0);
  EXPECT_EQ(bits.Sample(3), BlockBits::kNone);
  EXPECT_EQ(bits.Count(), 0);
}

}  // namespace
}  // namespace bigtable
