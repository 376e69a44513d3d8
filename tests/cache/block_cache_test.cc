#include "cache/block_cache.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"

#include "cache/block.h"
#include "cache/budget_access.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

using Use = MemoryBudget::Use;
constexpr size_t kBlockBytes = 4096;

Ref<Block> NewBlock(uint64_t mark, size_t size = kBlockBytes) {
  char* bytes = nullptr;
  Ref<Block> block = Block::New(nullptr, size, &bytes);
  std::memset(bytes, 0, size);
  std::memcpy(bytes, &mark, sizeof mark);
  return block;
}

uint64_t MarkOf(const Block& block) {
  uint64_t mark;
  std::memcpy(&mark, block.data().data(), sizeof mark);
  return mark;
}

// The anonymous memory of this process, in bytes.
uint64_t AnonymousMemory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    uint64_t kilobytes = 0;
    if (word == "RssAnon:" && status >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

TEST(BlockCacheTest, FindsABlockUnderItsKeyOnly) {
  MemoryBudget budget(32 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  const uint64_t file = cache.NewFileId();
  const uint64_t other = cache.NewFileId();
  EXPECT_NE(file, other);
  cache.Insert({file, 0}, NewBlock(1));
  cache.Insert({file, 100}, NewBlock(2));
  EXPECT_EQ(MarkOf(*cache.Lookup({file, 0})), 1u);
  EXPECT_EQ(MarkOf(*cache.Lookup({file, 100})), 2u);
  EXPECT_FALSE(cache.Lookup({other, 0}));
  EXPECT_EQ(cache.hits(), 2u);
  EXPECT_EQ(cache.misses(), 1u);
}

// Readers load sixteen bytes of a filter at once.
TEST(BlockCacheTest, BytesAreAlignedAsThoseOfNewChar) {
  MemoryBudget budget(32 << 20);
  for (BlockMemory* const memory :
       {static_cast<BlockMemory*>(nullptr), &BudgetAccess::Memory(budget)}) {
    for (size_t size = 0; size < 300; size += 7) {
      char* bytes = nullptr;
      const Ref<Block> block = Block::New(memory, size, &bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 16, 0u);
      EXPECT_EQ(block->data().data(), bytes);
      EXPECT_EQ(block->data().size(), size);
      EXPECT_GE(block->charge(), size + sizeof(Block));
    }
  }
}

TEST(BlockCacheTest, ABlockLargerThanAnyIsNoBlock) {
  char* bytes = nullptr;
  EXPECT_FALSE(Block::New(nullptr, size_t{1} << 32, &bytes));
  EXPECT_FALSE(Block::New(nullptr, 1, size_t{1} << 40, &bytes));
}

TEST(BlockCacheTest, KeepsTheFirstBlockOfAKey) {
  MemoryBudget budget(32 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  cache.Insert({1, 0}, NewBlock(1));
  cache.Insert({1, 0}, NewBlock(2));
  EXPECT_EQ(MarkOf(*cache.Lookup({1, 0})), 1u);
}

TEST(BlockCacheTest, ReplacesOnlyTheBlockOfTheKey) {
  MemoryBudget budget(32 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  cache.Replace({1, 0}, NewBlock(1));  // there is none yet
  cache.Insert({1, 100}, NewBlock(2));
  cache.Insert({2, 0}, NewBlock(3));
  EXPECT_EQ(MarkOf(*cache.Lookup({1, 0})), 1u);
  for (uint64_t mark = 10; mark < 20; ++mark) {
    cache.Replace({1, 0}, NewBlock(mark));
    EXPECT_EQ(MarkOf(*cache.Lookup({1, 0})), mark);
  }
  EXPECT_EQ(MarkOf(*cache.Lookup({1, 100})), 2u);
  EXPECT_EQ(MarkOf(*cache.Lookup({2, 0})), 3u);
}

TEST(BlockCacheTest, ReplacingChargesTheDifferenceAndErasingReleasesAll) {
  MemoryBudget budget(32 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  cache.Insert({1, 0}, NewBlock(1));
  const uint64_t before = budget.used(Use::kBlockCache);
  cache.Replace({1, 0}, NewBlock(2));
  EXPECT_EQ(budget.used(Use::kBlockCache), before);
  cache.Replace({1, 0}, NewBlock(3, 3 * kBlockBytes));
  EXPECT_EQ(budget.used(Use::kBlockCache), before + 2 * kBlockBytes);
  cache.Replace({1, 0}, NewBlock(4, 16));
  EXPECT_EQ(budget.used(Use::kBlockCache), before + 16 - kBlockBytes);
  cache.EraseFile(1);
  EXPECT_EQ(budget.used(Use::kBlockCache), 0u);
}

TEST(BlockCacheTest, ABlockIsEvictedEvenForATooLargeReplacement) {
  MemoryBudget budget(32 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  cache.Insert({1, 0}, NewBlock(1));
  cache.Insert({1, 100}, NewBlock(2));
  char* bytes = nullptr;
  cache.Replace({1, 0}, Block::New(nullptr, 16, size_t{64} << 20, &bytes));
  EXPECT_FALSE(cache.Lookup({1, 0}));
  EXPECT_TRUE(cache.Lookup({1, 100}));
  cache.EraseFile(1);
  EXPECT_EQ(budget.used(Use::kBlockCache), 0u);
}

TEST(BlockCacheTest, AReplacedBlockLivesAsLongAsItsReaders) {
  MemoryBudget budget(32 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  cache.Insert({1, 0}, NewBlock(1));
  Ref<Block> mine = cache.Lookup({1, 0});
  Ref<Block> also_mine = cache.Lookup({1, 0});
  cache.Replace({1, 0}, NewBlock(2));
  EXPECT_EQ(MarkOf(*mine), 1u);
  EXPECT_EQ(MarkOf(*cache.Lookup({1, 0})), 2u);
  mine = cache.Lookup({1, 0});
  cache.Replace({1, 0}, NewBlock(3));
  EXPECT_EQ(MarkOf(*also_mine), 1u);
  EXPECT_EQ(MarkOf(*mine), 2u);
  cache.EraseFile(1);
  EXPECT_EQ(MarkOf(*also_mine), 1u);
  EXPECT_EQ(MarkOf(*mine), 2u);
}

TEST(BlockCacheTest, AReplacedBlockWithoutReadersIsFreed) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep freed memory, and detect leaks themselves";
  MemoryBudget budget(64 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  constexpr size_t kLarge = 2 << 20;
  cache.Replace({1, 0}, NewBlock(0, kLarge));
  const uint64_t before = AnonymousMemory();
  for (uint64_t i = 1; i < 100; ++i) {
    cache.Replace({1, 0}, NewBlock(i, kLarge));
    ASSERT_TRUE(cache.Lookup({1, 0}));
  }
  EXPECT_LT(AnonymousMemory(), before + 10 * kLarge);
}

TEST(BlockCacheTest, ReplacingWithALargerBlockEvictsOthers) {
  MemoryBudget budget(MemoryBudget::kMinimum);
  BlockCache& cache = BudgetAccess::Cache(budget);
  for (uint64_t i = 0; i < 10000; ++i) cache.Insert({1, i}, NewBlock(i));
  for (uint64_t i = 9000; i < 10000; ++i) {
    cache.Replace({1, i}, NewBlock(i, 4 * kBlockBytes));
    ASSERT_LE(budget.used(Use::kBlockCache), cache.capacity());
    if (const Ref<Block> block = cache.Lookup({1, i})) {
      ASSERT_EQ(block->data().size(), 4 * kBlockBytes);
    }
  }
  EXPECT_GT(budget.used(Use::kBlockCache), cache.capacity() * 9 / 10);
  cache.EraseFile(1);
  EXPECT_EQ(budget.used(Use::kBlockCache), 0u);
}

// It keeps its hits: a scan cache replaces a row whenever the row was written.
TEST(BlockCacheTest, AReplacedBlockOutlivesAScan) {
  MemoryBudget budget(8 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  constexpr uint64_t kHot = 500;
  for (uint64_t i = 0; i < kHot; ++i) cache.Insert({1, i}, NewBlock(i));
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < kHot; ++i) cache.Lookup({1, i});
  }
  for (uint64_t i = 0; i < kHot; ++i) cache.Replace({1, i}, NewBlock(i + kHot));
  for (uint64_t i = 0; i < 20000; ++i) cache.Insert({2, i}, NewBlock(i));
  uint64_t found = 0;
  for (uint64_t i = 0; i < kHot; ++i) {
    if (const Ref<Block> block = cache.Lookup({1, i})) {
      ASSERT_EQ(MarkOf(*block), i + kHot);
      ++found;
    }
  }
  EXPECT_GT(found, kHot * 95 / 100);
}

// Few keys and a small cache, so that every block is evicted, replaced, moved and read again.
TEST(BlockCacheTest, HasNoOtherBlockThanTheLastOfAKeyRandom) {
  ForEachSeed(10, [](uint64_t seed) {
    Random random(seed);
    MemoryBudget budget(MemoryBudget::kMinimum);
    BlockCache& cache = BudgetAccess::Cache(budget);
    constexpr uint64_t kKeys = 400;
    constexpr uint64_t kFiles = 3;
    std::vector<uint64_t> marks(kKeys * kFiles);
    std::vector<Ref<Block>> held(20);
    std::vector<uint64_t> held_marks(held.size());
    for (uint64_t step = 1; step < 20'000; ++step) {
      const uint64_t file = random.Below(kFiles);
      const uint64_t offset = random.Below(kKeys);
      uint64_t& mark = marks[file * kKeys + offset];
      const BlockCache::Key key{file, offset};
      Ref<Block> found = cache.Lookup(key);
      if (found) {
        ASSERT_EQ(MarkOf(*found), mark);
      }
      if (random.OneIn(2000)) {
        cache.EraseFile(file);
        ASSERT_FALSE(cache.Contains(key));
      } else if (random.OneIn(3)) {
        const size_t size = 8 + random.Below(random.OneIn(10) ? 60'000 : 20'000);
        char* bytes = nullptr;
        Ref<Block> block = Block::New(&cache.memory(), size, &bytes);
        std::memcpy(bytes, &step, sizeof step);
        std::memset(bytes + sizeof step, 'x', size - sizeof step);
        if (random.OneIn(2)) {
          cache.Replace(key, std::move(block));
          mark = step;
        } else {
          cache.Insert(key, std::move(block));
          if (!found) mark = step;
        }
        ASSERT_LE(budget.used(Use::kBlockCache), budget.limit() * 2);
      } else if (found) {
        const size_t place = random.Below(held.size());
        held_marks[place] = mark;
        held[place] = std::move(found);
      }
    }
    for (size_t i = 0; i < held.size(); ++i) {
      if (held[i]) {
        ASSERT_EQ(MarkOf(*held[i]), held_marks[i]);
      }
    }
    for (uint64_t file = 0; file < kFiles; ++file) cache.EraseFile(file);
    held.clear();
    BudgetAccess::Memory(budget).Trim();
    EXPECT_EQ(budget.used(), 0u);
  });
}

TEST(BlockCacheTest, ReadersOnManyThreadsSeeBlocksThatWereInserted) {
  MemoryBudget budget(MemoryBudget::kMinimum);
  BlockCache& cache = BudgetAccess::Cache(budget);
  constexpr uint64_t kBlocks = 50;
  const auto new_block = [](uint64_t offset, Random& random) {
    return NewBlock(offset + kBlocks * random.Below(1000), kBlockBytes << random.Below(4));
  };
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, &new_block, t] {
      Random random(t);
      std::vector<Ref<Block>> held(kBlocks);
      std::vector<uint64_t> marks(kBlocks);
      for (int i = 0; i < 20000; ++i) {
        const uint64_t offset = random.Below(kBlocks);
        if (held[offset]) {
          ASSERT_EQ(MarkOf(*held[offset]), marks[offset]);
        }
        if (random.OneIn(2)) {
          cache.Replace({1, offset}, new_block(offset, random));
        } else if (Ref<Block> block = cache.Lookup({1, offset})) {
          marks[offset] = MarkOf(*block);
          ASSERT_EQ(marks[offset] % kBlocks, offset);
          held[offset] = std::move(block);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  cache.EraseFile(1);
  EXPECT_EQ(budget.used(Use::kBlockCache), 0u);
}

TEST(BlockCacheTest, StaysWithinTheBudgetAndChargesIt) {
  MemoryBudget budget(MemoryBudget::kMinimum);
  BlockCache& cache = BudgetAccess::Cache(budget);
  for (uint64_t i = 0; i < 10000; ++i) {
    cache.Insert({1, i}, NewBlock(i));
    ASSERT_LE(budget.used(Use::kBlockCache), cache.capacity());
  }
  EXPECT_GT(budget.used(Use::kBlockCache), cache.capacity() * 9 / 10);
}

TEST(BlockCacheTest, UsesWhatOtherUsesLeaveAndShrinks) {
  MemoryBudget budget(64 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  for (uint64_t i = 0; i < 20000; ++i) cache.Insert({1, i}, NewBlock(i));
  EXPECT_GT(budget.used(Use::kBlockCache), uint64_t{50} << 20);

  BudgetAccess::Charge(budget, Use::kMemtables, 48 << 20);
  EXPECT_EQ(cache.capacity(), uint64_t{16} << 20);
  cache.Shrink();
  EXPECT_LE(budget.used(), budget.limit());

  BudgetAccess::Charge(budget, Use::kMemtables, 48 << 20);  // more than the limit
  cache.Shrink();
  EXPECT_EQ(cache.capacity(), budget.limit() / 16);
  EXPECT_LE(budget.used(Use::kBlockCache), budget.limit() / 16);
  EXPECT_GT(budget.used(Use::kBlockCache), 0u);
}

// With blocks in the memory of the cache, of which some are used again and again.
class BlockCacheMemoryTest : public testing::Test {
 protected:
  void Insert(int count, uint64_t smallest, uint64_t largest) {
    for (int i = 0; i < count; ++i) {
      const size_t size = smallest + random_.Below(largest - smallest + 1);
      const uint64_t offset = random_.Below(1 + random_.Below(100'000));
      if (cache_.Lookup({1, offset})) continue;
      char* bytes = nullptr;
      cache_.Insert({1, offset}, Block::New(&cache_.memory(), size, &bytes));
    }
  }
  uint64_t cached() const {
    return budget_.used(Use::kBlockCache) - BudgetAccess::Memory(budget_).unused();
  }
  // Of blocks and free slots. Without slabs: of blocks.
  uint64_t taken() const { return budget_.used(Use::kBlockCache); }

  Random random_{1};
  mutable MemoryBudget budget_{64 << 20};
  BlockCache& cache_ = BudgetAccess::Cache(budget_);
};

TEST_F(BlockCacheMemoryTest, BlocksOfOtherSizesHaveMostOfIt) {
  Insert(50'000, 16 << 10, 19 << 10);
  EXPECT_GT(cached(), budget_.limit() * 85 / 100);
  EXPECT_LE(taken(), budget_.limit() * 105 / 100);
  // Until all blocks of the other sizes have left, some of their slabs stay.
  Insert(100'000, 1000, 1100);
  EXPECT_GT(cached(), budget_.limit() * 85 / 100);
  EXPECT_LE(taken(), budget_.limit() * 140 / 100);
  Insert(300'000, 1000, 1100);
  EXPECT_GT(cached(), budget_.limit() * 85 / 100);
  EXPECT_LE(taken(), budget_.limit() * 105 / 100);
}

// Memtables grow and are flushed.
TEST_F(BlockCacheMemoryTest, GivesUpNoMoreThanOthersNeed) {
  Insert(150'000, 1000, 1100);
  for (int flush = 0; flush < 3; ++flush) {
    for (int step = 1; step <= 10; ++step) {
      BudgetAccess::Charge(budget_, Use::kMemtables, 1 << 20);
      Insert(1000, 1000, 1100);
      const uint64_t others = static_cast<uint64_t>(step + 1) << 20;
      EXPECT_GT(cached(), budget_.limit() * 7 / 8 - others);
      EXPECT_LE(budget_.used(), budget_.limit() * 5 / 4);
    }
    BudgetAccess::Charge(budget_, Use::kMemtables, -(10 << 20));
    Insert(30'000, 1000, 1100);
    EXPECT_GT(cached(), budget_.limit() * 85 / 100);
    EXPECT_LE(budget_.used(), budget_.limit() * 105 / 100);
  }
}

TEST_F(BlockCacheMemoryTest, ALowerLimitHoldsForItsMemory) {
  Insert(150'000, 1000, 1100);
  ASSERT_OK(budget_.SetLimit(16 << 20));
  EXPECT_LE(BudgetAccess::Memory(budget_).slabs(), uint64_t{17} << 20);
  EXPECT_LE(taken(), uint64_t{17} << 20);
  Insert(150'000, 1000, 1100);
  EXPECT_GT(cached(), uint64_t{13} << 20);
  EXPECT_LE(taken(), uint64_t{17} << 20);
}

TEST_F(BlockCacheMemoryTest, TheLimitChangesBesideReadersOnManyThreads) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> readers;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    readers.emplace_back([&, thread] {
      Random random(thread);
      while (!ends.load()) {
        const uint64_t offset = random.Below(20'000);
        if (const Ref<Block> block = cache_.Lookup({1, offset})) {
          ASSERT_EQ(MarkOf(*block), offset);
          continue;
        }
        const size_t size = 1000 + random.Below(3000);
        char* bytes = nullptr;
        Ref<Block> block = Block::New(&cache_.memory(), size, &bytes);
        std::memcpy(bytes, &offset, sizeof offset);
        cache_.Insert({1, offset}, std::move(block));
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(budget_.SetLimit((i % 2 == 0 ? 8 : 48) << 20));
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 7));
  }
  ASSERT_OK(budget_.SetLimit(16 << 20));
  ends.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_LE(taken(), uint64_t{17} << 20);
  cache_.EraseFile(1);
  BudgetAccess::Memory(budget_).Trim();
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_F(BlockCacheMemoryTest, AHigherLimitEvictsNothing) {
  Insert(150'000, 1000, 1100);
  BudgetAccess::Charge(budget_, Use::kMemtables, 16 << 20);
  Insert(3000, 1000, 1100);
  const uint64_t before = cached();
  ASSERT_OK(budget_.SetLimit(64 << 20));
  ASSERT_OK(budget_.SetLimit(65 << 20));
  EXPECT_EQ(cached(), before);
  EXPECT_GT(before, uint64_t{32} << 20);
}

// Of each size there may be a slab that is partly free.
TEST_F(BlockCacheMemoryTest, ASmallBudgetHasRoomForBlocksOfManySizes) {
  ASSERT_OK(budget_.SetLimit(MemoryBudget::kMinimum));
  for (int i = 0; i < 5000; ++i) {
    const uint64_t power = uint64_t{1} << (10 + random_.Below(7));
    Insert(1, power, 2 * power);
  }
  EXPECT_GT(cached(), budget_.limit() * 3 / 4);
  EXPECT_LE(taken(), budget_.limit() * 3 / 2);
}

TEST(BlockCacheTest, FollowsAChangeOfTheLimit) {
  MemoryBudget budget(64 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  const uint64_t file = cache.NewFileId();
  const auto fill = [&] {
    for (uint64_t i = 0; i < (256 << 20) / kBlockBytes; ++i) {
      cache.Insert({file, i}, NewBlock(i));
      EXPECT_LE(budget.used(), budget.limit());
    }
  };
  fill();
  EXPECT_GT(budget.used(), uint64_t{48} << 20);
  ASSERT_OK(budget.SetLimit(16 << 20));
  EXPECT_LE(budget.used(), uint64_t{16} << 20) << "at once";
  fill();
  EXPECT_GT(budget.used(), uint64_t{12} << 20);
  ASSERT_OK(budget.SetLimit(128 << 20));
  fill();
  EXPECT_GT(budget.used(), uint64_t{96} << 20);

  EXPECT_STATUS(kInvalidArgument, "at least 8388608, and is 8388607",
                budget.SetLimit(MemoryBudget::kMinimum - 1));
  EXPECT_EQ(budget.limit(), uint64_t{128} << 20);
}

TEST(BlockCacheTest, InsertEvictsWhenOtherUsesHaveGrown) {
  MemoryBudget budget(16 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  for (uint64_t i = 0; i < 5000; ++i) cache.Insert({1, i}, NewBlock(i));
  BudgetAccess::Charge(budget, Use::kLog, 12 << 20);
  cache.Insert({2, 0}, NewBlock(0));
  EXPECT_LE(budget.used(), budget.limit());
  EXPECT_TRUE(cache.Lookup({2, 0}));
}

TEST(BlockCacheTest, AScanDoesNotEvictBlocksInUse) {
  MemoryBudget budget(8 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  const auto read = [&cache](uint64_t file, uint64_t offset) {
    if (cache.Lookup({file, offset})) return true;
    cache.Insert({file, offset}, NewBlock(offset));
    return false;
  };
  constexpr uint64_t kHot = 1000;  // half of the cache
  for (int round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < kHot; ++i) read(1, i);
  }
  for (uint64_t i = 0; i < 20000; ++i) read(2, i);  // ten times the cache
  uint64_t found = 0;
  for (uint64_t i = 0; i < kHot; ++i) found += read(1, i) ? 1 : 0;
  EXPECT_GT(found, kHot * 95 / 100);
}

TEST(BlockCacheTest, ABlockInsertedAgainSoonAfterEvictionIsKept) {
  for (const size_t size : {kBlockBytes, size_t{1000}, size_t{200}}) {
    SCOPED_TRACE(size);
    MemoryBudget budget(8 << 20);
    BlockCache& cache = BudgetAccess::Cache(budget);
    const auto insert = [&](uint64_t file, uint64_t blocks) {
      for (uint64_t i = 0; i < blocks; ++i) cache.Insert({file, i}, NewBlock(i, size));
    };
    // Several keys share a place for a ghost, so a few are forgotten.
    constexpr uint64_t kAgain = 100;
    insert(1, kAgain);
    const uint64_t charge = budget.used(Use::kBlockCache) / kAgain;
    const uint64_t fills = budget.limit() / charge * 21 / 20;
    insert(2, fills);
    EXPECT_FALSE(cache.Contains({1, kAgain - 1}));
    insert(1, kAgain);  // has a ghost: enters the main queue
    insert(3, fills);
    uint64_t found = 0;
    for (uint64_t i = 0; i < kAgain; ++i) found += cache.Lookup({1, i}) ? 1 : 0;
    EXPECT_GT(found, kAgain * 6 / 10);
  }
}

TEST(BlockCacheTest, ABlockInsertedForTheFirstTimeIsEvictedBeforeThose) {
  MemoryBudget budget(8 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  constexpr size_t kSmall = 200;
  for (uint64_t i = 0; i < 100; ++i) cache.Insert({1, i}, NewBlock(i, kSmall));
  for (uint64_t i = 0; i < 200'000; ++i) cache.Insert({2, i}, NewBlock(i, kSmall));
  uint64_t found = 0;
  for (uint64_t i = 0; i < 100; ++i) found += cache.Contains({1, i}) ? 1 : 0;
  EXPECT_EQ(found, 0);
  // Their ghosts were replaced long ago.
  for (uint64_t i = 0; i < 100; ++i) cache.Insert({1, i}, NewBlock(i, kSmall));
  for (uint64_t i = 0; i < 30'000; ++i) cache.Insert({3, i}, NewBlock(i, kSmall));
  for (uint64_t i = 0; i < 100; ++i) found += cache.Contains({1, i}) ? 1 : 0;
  EXPECT_LT(found, 10);
}

TEST(BlockCacheTest, SmallBlocksTakeAboutAsMuchMemoryAsTheyCharge) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need more";
  MemoryBudget budget(64 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  const auto insert = [&](uint64_t i) {
    char* bytes = nullptr;
    Ref<Block> block = Block::New(&cache.memory(), 200, &bytes);
    std::memset(bytes, 'x', 200);
    cache.Insert({1, i}, std::move(block));
  };
  for (uint64_t i = 0; i < 1000; ++i) insert(i);
  const uint64_t memory = AnonymousMemory();
  const uint64_t used = budget.used();
  for (uint64_t i = 1000; i < 120'000; ++i) insert(i);
  const auto grown = static_cast<double>(AnonymousMemory() - memory);
  const auto charged = static_cast<double>(budget.used() - used);
  EXPECT_GT(charged, 30 << 20);
  EXPECT_LT(grown, 1.2 * charged);
  // What earlier tests have freed is there for the hash table.
  EXPECT_GT(grown, 0.5 * charged);
}

TEST(BlockCacheTest, EvictedBlocksLiveAsLongAsTheirReaders) {
  MemoryBudget budget(MemoryBudget::kMinimum);
  BlockCache& cache = BudgetAccess::Cache(budget);
  cache.Insert({1, 0}, NewBlock(42));
  const Ref<Block> mine = cache.Lookup({1, 0});
  cache.EraseFile(1);
  EXPECT_FALSE(cache.Lookup({1, 0}));
  EXPECT_EQ(MarkOf(*mine), 42u);
  EXPECT_EQ(budget.used(Use::kBlockCache), 0u);
}

TEST(BlockCacheTest, EraseFileErasesThatFileOnly) {
  MemoryBudget budget(64 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  for (uint64_t i = 0; i < 100; ++i) {
    cache.Insert({1, i}, NewBlock(i));
    cache.Insert({2, i}, NewBlock(i));
  }
  cache.EraseFile(1);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(cache.Lookup({1, i}));
    EXPECT_TRUE(cache.Lookup({2, i}));
  }
}

TEST(BlockCacheTest, ABlockLargerThanAShardIsNotKept) {
  MemoryBudget budget(8 << 20);
  BlockCache& cache = BudgetAccess::Cache(budget);
  cache.Insert({1, 0}, NewBlock(1));
  cache.Insert({1, 1}, NewBlock(2, 9 << 20));
  EXPECT_FALSE(cache.Lookup({1, 1}));
  EXPECT_TRUE(cache.Lookup({1, 0}));
}

TEST(BlockCacheTest, ReleasesTheWholeCharge) {
  auto budget = std::make_unique<MemoryBudget>(uint64_t{256} << 20);
  {
    BlockCache cache(budget.get());
    for (uint64_t i = 0; i < 1000; ++i) cache.Insert({1, i}, NewBlock(i));
    EXPECT_GT(budget->used(Use::kBlockCache), uint64_t{1000} * kBlockBytes);
  }
  EXPECT_EQ(budget->used(Use::kBlockCache), 0u);
}

TEST(BlockCacheTest, ReturnsTheRightBlocksToManyThreads) {
  MemoryBudget budget(MemoryBudget::kMinimum);
  BlockCache& cache = BudgetAccess::Cache(budget);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, &budget, t] {
      Random random(t);
      for (int i = 0; i < 20000; ++i) {
        const uint64_t offset = random.Below(4000);
        if (const Ref<Block> block = cache.Lookup({1, offset})) {
          ASSERT_EQ(MarkOf(*block), offset);
        } else {
          cache.Insert({1, offset}, NewBlock(offset));
        }
        if (random.OneIn(1000)) {
          BudgetAccess::Charge(budget, Use::kMemtables, 4 << 20);
          cache.Shrink();
          BudgetAccess::Charge(budget, Use::kMemtables, -(4 << 20));
        }
        if (random.OneIn(5000)) cache.EraseFile(1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(budget.used(Use::kBlockCache), budget.limit());
}

TEST(MemoryBudgetTest, AddsUpItsUses) {
  MemoryBudget budget(100 << 20);
  BudgetAccess::Charge(budget, Use::kMemtables, 1000);
  BudgetAccess::Charge(budget, Use::kIndexes, 500);
  BudgetAccess::Charge(budget, Use::kIndexes, -200);
  EXPECT_EQ(budget.used(Use::kIndexes), 300u);
  EXPECT_EQ(budget.used(), 1300u);
}

}  // namespace
}  // namespace bigtable
