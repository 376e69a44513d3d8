#include "cache/block_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"

#include "cache/budget_access.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

using Buffer = BlockMemory::Buffer;

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
constexpr bool kHasSlabs = false;
#else
constexpr bool kHasSlabs = true;
#endif

class BlockMemoryTest : public testing::Test {
 protected:
  // A sixty-fourth of the limit.
  static constexpr uint64_t kMostEmptyBytes = 1 << 20;

  uint64_t charged() const { return budget_.used(MemoryBudget::Use::kBlockCache); }

  MemoryBudget budget_{64 << 20};
  BlockMemory& memory_ = BudgetAccess::Memory(budget_);
};

struct Filled {
  Buffer buffer;
  uint64_t size = 0;
  char mark = 0;
};

Filled Fill(BlockMemory* memory, uint64_t size, char mark) {
  Filled filled{.buffer = memory->Allocate(size), .size = size, .mark = mark};
  EXPECT_NE(filled.buffer, nullptr);
  std::memset(filled.buffer.get(), mark, size);
  return filled;
}

bool IsWhole(const Filled& filled) {
  return std::all_of(filled.buffer.get(), filled.buffer.get() + filled.size,
                     [&](char byte) { return byte == filled.mark; });
}

// Sizes around the steps of the slots.
uint64_t RandomSize(Random* random) {
  const uint64_t power = uint64_t{1} << random->Below(18);
  return power + random->Below(power / 4 + 3) - std::min<uint64_t>(power, random->Below(2));
}

TEST_F(BlockMemoryTest, BuffersDoNotOverlapRandom) {
  ForEachSeed(20, [&](uint64_t seed) {
    Random random(seed);
    std::vector<Filled> buffers;
    for (int k = 0; k < 2000; ++k) {
      if (!buffers.empty() && random.OneIn(3)) {
        std::swap(buffers[random.Below(buffers.size())], buffers.back());
        ASSERT_TRUE(IsWhole(buffers.back()));
        buffers.pop_back();
        continue;
      }
      const uint64_t size = random.OneIn(10) ? RandomSize(&random) : random.Below(300);
      buffers.push_back(Fill(&memory_, size, static_cast<char>(random.Below(256))));
      const uint64_t taken = BlockMemory::TakenFor(buffers.back().buffer, size);
      ASSERT_GE(taken, size);
      // A slot is at most a sixteenth larger, or has less than sixteen bytes more.
      ASSERT_LE(taken, std::max(size + size / 16 + 1, size + 16));
    }
    for (const Filled& filled : buffers) ASSERT_TRUE(IsWhole(filled));
  });
  memory_.Trim();
  EXPECT_EQ(memory_.slabs(), 0u);
  EXPECT_EQ(charged(), 0u);
}

TEST_F(BlockMemoryTest, WhatIsFreedGoesBackToTheSystem) {
  std::vector<Filled> buffers;
  for (int k = 0; k < 20'000; ++k) buffers.push_back(Fill(&memory_, 1040, 'x'));
  if (kHasSlabs) {
    EXPECT_GE(memory_.slabs(), 20'000u * 1040);
    EXPECT_LE(memory_.slabs(), 20'000u * 1140);
    EXPECT_LE(charged(), uint64_t{4} * (64 << 10));
  }
  // In any order.
  Random random(1);
  while (!buffers.empty()) {
    std::swap(buffers[random.Below(buffers.size())], buffers.back());
    buffers.pop_back();
  }
  EXPECT_LE(memory_.slabs(), kMostEmptyBytes);
  EXPECT_EQ(charged(), kHasSlabs ? memory_.slabs() : 0);
  memory_.Trim();
  EXPECT_EQ(memory_.slabs(), 0u);
  EXPECT_EQ(charged(), 0u);
}

// The reason for all of this: what one thread has freed is there for the next one.
TEST_F(BlockMemoryTest, ThreadsInTurnTakeNoMoreThanOne) {
  constexpr size_t kBuffers = 20'000;
  constexpr int kThreads = 8;
  std::vector<Filled> ring(kBuffers);
  std::atomic<int> turn{0};
  uint64_t most = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      while (turn.load() != thread) std::this_thread::yield();
      Random random(static_cast<uint64_t>(thread));
      for (size_t k = 0; k < 2 * kBuffers; ++k) {
        ring[random.Below(kBuffers)] = Fill(&memory_, 1000 + random.Below(100), 'a');
      }
      most = std::max(most, memory_.slabs());
      turn.store(thread + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, kBuffers * 1200);
}

TEST_F(BlockMemoryTest, ThreadsAtTheSameTimeGetBuffersOfTheirOwn) {
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Random random(thread);
      std::vector<Filled> buffers(50);
      for (int k = 0; k < 5000; ++k) {
        Filled& filled = buffers[random.Below(buffers.size())];
        ASSERT_TRUE(filled.buffer == nullptr || IsWhole(filled));
        filled = Fill(&memory_, 1000 + random.Below(200), static_cast<char>(random.Below(256)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(memory_.slabs(), kMostEmptyBytes);
}

// Two buffers in each of several slabs of four: those of a slab that is mostly free find room in
// the others, until half of the slabs are empty.
TEST_F(BlockMemoryTest, BuffersMoveToSlabsWithFewerFreeSlots) {
  if (!kHasSlabs) GTEST_SKIP() << "no slabs in this build";
  constexpr uint64_t kSize = 20 << 10;
  std::vector<Filled> buffers;
  for (int k = 0; k < 100; ++k) buffers.push_back(Fill(&memory_, kSize, static_cast<char>(k)));
  const uint64_t full = memory_.slabs();
  std::vector<Filled> left;
  for (size_t k = 0; k < buffers.size(); k += 2) left.push_back(std::move(buffers[k]));
  buffers.clear();
  ASSERT_GT(memory_.slabs(), full * 9 / 10);
  for (Filled& filled : left) {
    Buffer denser = BlockMemory::Denser(filled.buffer.get_deleter().slab);
    if (denser == nullptr) continue;
    ASSERT_EQ(BlockMemory::TakenFor(denser, kSize), BlockMemory::TakenFor(filled.buffer, kSize));
    std::memcpy(denser.get(), filled.buffer.get(), kSize);
    filled.buffer = std::move(denser);
  }
  memory_.Trim();
  EXPECT_LE(memory_.slabs(), full * 6 / 10);
  for (const Filled& filled : left) {
    EXPECT_TRUE(IsWhole(filled));
    EXPECT_EQ(BlockMemory::Denser(filled.buffer.get_deleter().slab), nullptr)
        << "nothing is left to gain";
  }
}

TEST_F(BlockMemoryTest, ALowerLimitKeepsLess) {
  if (!kHasSlabs) GTEST_SKIP() << "no slabs in this build";
  std::vector<Filled> buffers;
  for (int k = 0; k < 1000; ++k) buffers.push_back(Fill(&memory_, 4000, 'x'));
  memory_.AdoptLimit(8 << 20);
  buffers.clear();
  EXPECT_LE(memory_.slabs(), (8u << 20) / 64);
  const uint64_t before = memory_.slabs();
  const Buffer large = memory_.Allocate((8 << 20) / 256 + 1);
  EXPECT_EQ(large.get_deleter().slab, nullptr);
  EXPECT_EQ(memory_.slabs(), before);
}

// The last buffers are freed beside the end of their memory, and after it. For ThreadSanitizer and
// the assertions of the lists: there is nothing to compare.
TEST_F(BlockMemoryTest, ThreadsReturnBuffersBesideTrimAndTheEnd) {
  for (int round = 0; round < 20; ++round) {
    auto budget = std::make_unique<MemoryBudget>(MemoryBudget::kMinimum);
    BlockMemory* const memory = &BudgetAccess::Memory(*budget);
    std::vector<Buffer> buffers;
    for (int k = 0; k < 600; ++k) buffers.push_back(memory->Allocate(1000));
    std::thread returns([&] { buffers.clear(); });
    memory->Trim();
    budget = nullptr;
    returns.join();
  }
}

TEST_F(BlockMemoryTest, ABufferOutlivesTheMemory) {
  auto budget = std::make_unique<MemoryBudget>(MemoryBudget::kMinimum);
  Filled small = Fill(&BudgetAccess::Memory(*budget), 100, 's');
  Filled other = Fill(&BudgetAccess::Memory(*budget), 5000, 'o');
  budget = nullptr;
  EXPECT_TRUE(IsWhole(small));
  small.buffer = nullptr;
  EXPECT_TRUE(IsWhole(other));
}

TEST_F(BlockMemoryTest, WhatNoMachineHasIsNoMemory) {
  EXPECT_EQ(memory_.Allocate(uint64_t{1} << 60), nullptr);
  EXPECT_NE(memory_.Allocate(BlockMemory::kLargestSlot + 1), nullptr);
  EXPECT_NE(memory_.Allocate(0), nullptr);
}

}  // namespace
}  // namespace bigtable
