#include "blocks/overlapped_reads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/file_system.h"
#include "bigtable/file_system_wrapper.h"
#include "bigtable/memory_budget.h"

#include "block_file_fixture.h"
#include "support/late_reads.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

// Has queues of so many reads, or none.
class Queues final : public FileSystemWrapper {
 public:
  explicit Queues(size_t most) : FileSystemWrapper(FileSystem::Posix()), most_(most) {}
  std::unique_ptr<ReadQueue> NewReadQueue() override {
    ++queues;
    return most_ == 0 ? nullptr : std::make_unique<LateReads>(queues, most_);
  }

  uint64_t queues = 0;

 private:
  const size_t most_;
};

class OverlappedReadsTest : public BlockFileFixture {
 protected:
  static constexpr size_t kBlocks = 100;

  void SetUp() override {
    AddBlocks(kBlocks, Compression::kNone);
    Open(/*is_mapped=*/true);
  }
  std::string_view Stored(size_t i) const {
    return std::string_view(bytes_).substr(index_.handle(i).offset, StoredSize(At(i)));
  }
  // What Take returns is the block, or nothing if its read may fail.
  bool TakesIt(OverlappedReads* reads, size_t i) {
    const char* const stored = reads->Take(*file_, At(i));
    if (stored == nullptr) return false;
    EXPECT_TRUE(std::string_view(stored, Stored(i).size()) == Stored(i)) << i;
    return true;
  }
  uint64_t Charged() const { return used(MemoryBudget::Use::kReads); }
};

TEST_F(OverlappedReadsTest, ABlockThatWasNotBegunIsNotThere) {
  Queues queues(8);
  OverlappedReads reads(&queues, budget_);
  EXPECT_FALSE(reads.Has(*file_, At(3)));
  EXPECT_EQ(reads.Take(*file_, At(3)), nullptr);
  EXPECT_EQ(queues.queues, 0u) << "a call that finds all in memory needs no queue";
}

TEST_F(OverlappedReadsTest, BlocksAreTakenInAnyOrderRandom) {
  ForEachSeed(20, [&](uint64_t seed) {
    Random random(seed);
    Queues queues(random.Between(1, 12));
    OverlappedReads reads(&queues, budget_);
    uint64_t taken = 0;
    for (int step = 0; step < 2000; ++step) {
      const size_t i = random.Below(kBlocks);
      if (random.OneIn(2)) {
        if (!reads.Has(*file_, At(i))) (void)reads.Begin(*file_, At(i));
      } else if (reads.Has(*file_, At(i))) {
        taken += TakesIt(&reads, i) ? 1 : 0;
      } else {
        EXPECT_EQ(reads.Take(*file_, At(i)), nullptr);
      }
      if (random.OneIn(5)) reads.Submit();
    }
    EXPECT_GT(taken, 5u);
  });
  EXPECT_EQ(Charged(), 0u);
}

TEST_F(OverlappedReadsTest, ABlockIsReadOnceForSeveralRows) {
  Queues queues(8);
  OverlappedReads reads(&queues, budget_);
  ASSERT_TRUE(reads.Begin(*file_, At(5)));
  EXPECT_TRUE(reads.Has(*file_, At(5)));
  EXPECT_EQ(TakesIt(&reads, 5), TakesIt(&reads, 5));
  EXPECT_EQ(events_.begun_reads, 1u);
}

TEST_F(OverlappedReadsTest, BlocksThatAreNeverTakenDoNotBlockTheOthers) {
  Queues queues(4);
  OverlappedReads reads(&queues, budget_);
  for (size_t i = 0; i < 4; ++i) ASSERT_TRUE(reads.Begin(*file_, At(i)));
  EXPECT_FALSE(reads.Begin(*file_, At(4))) << "all are under way";
  size_t begun = 0;
  for (size_t i = 5; i < kBlocks; ++i) {
    (void)reads.Take(*file_, At(0));
    if (reads.Begin(*file_, At(i))) {
      ++begun;
      (void)reads.Take(*file_, At(i));
    }
  }
  EXPECT_GT(begun, kBlocks / 2);
}

TEST_F(OverlappedReadsTest, TicketsTellWhenABlockIsThere) {
  Queues queues(128);
  OverlappedReads reads(&queues, budget_);
  reads.WaitForAny();  // there is none
  constexpr size_t kBegun = 20;
  std::vector<OverlappedReads::Tickets> tickets(kBegun);
  for (size_t i = 0; i < kBegun; ++i) {
    reads.CollectInto(&tickets[i]);
    ASSERT_TRUE(reads.Begin(*file_, At(i)));
    // One that waits for the block of another, too.
    EXPECT_EQ(reads.Has(*file_, At((i + kBlocks - 1) % kBlocks)), i > 0);
  }
  reads.CollectInto(nullptr);
  EXPECT_FALSE(reads.Has(*file_, At(kBegun)));
  EXPECT_TRUE(reads.Begin(*file_, At(kBegun)));
  EXPECT_TRUE(OverlappedReads::AreDone({}));
  for (const auto& blocks : tickets) EXPECT_FALSE(OverlappedReads::AreDone(blocks));
  EXPECT_EQ(tickets[0].size(), 1u);
  EXPECT_EQ(tickets[5].size(), 2u);
  const auto done = [&] {
    return std::count_if(tickets.begin(), tickets.end(), OverlappedReads::AreDone);
  };
  (void)reads.Take(*file_, At(5));
  EXPECT_EQ(tickets[5].begin()->is_done(), true);
  for (size_t waits = 0; done() < static_cast<int64_t>(kBegun); ++waits) {
    ASSERT_LE(waits, kBegun);
    reads.WaitForAny();
  }
  // Also if others have their place.
  for (size_t i = 0; i < kBegun; ++i) (void)reads.Take(*file_, At(i));
  for (size_t i = 30; i < 30 + kBegun; ++i) ASSERT_TRUE(reads.Begin(*file_, At(i)));
  EXPECT_EQ(done(), static_cast<int64_t>(kBegun));
}

// Or its owner would wait for ever.
TEST_F(OverlappedReadsTest, ATicketIsDoneIfThePlaceOfItsBlockIsForAnotherThatCannotBeBegun) {
  Queues queues(1);
  OverlappedReads reads(&queues, budget_);
  OverlappedReads::Tickets blocks;
  reads.CollectInto(&blocks);
  ASSERT_TRUE(reads.Begin(*file_, At(0)));
  reads.CollectInto(nullptr);
  (void)reads.Take(*file_, At(0));
  events_.refuses_begun_reads = true;
  EXPECT_FALSE(reads.Begin(*file_, At(1)));
  EXPECT_TRUE(OverlappedReads::AreDone(blocks));
}

TEST_F(OverlappedReadsTest, WithoutAQueueNothingIsBegun) {
  Queues queues(0);
  OverlappedReads reads(&queues, budget_);
  EXPECT_FALSE(reads.Begin(*file_, At(0)));
  EXPECT_FALSE(reads.Begin(*file_, At(1)));
  EXPECT_EQ(queues.queues, 1u) << "it is asked for once";
}

TEST_F(OverlappedReadsTest, ItsMemoryIsChargedAndBoundByTheBudget) {
  const auto small = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  const auto charged = [&] { return small->used(MemoryBudget::Use::kReads); };
  Queues queues(128);
  size_t begun = 0;
  {
    OverlappedReads reads(&queues, small);
    while (begun < kBlocks && reads.Begin(*file_, At(begun))) ++begun;
    EXPECT_GE(charged(), begun * StoredSize(At(0)));
    EXPECT_LE(charged(), small->limit() / 8);
    OverlappedReads another(&queues, small);
    EXPECT_FALSE(another.Begin(*file_, At(0))) << "all calls together have the part";
  }
  EXPECT_GT(begun, 2u);
  EXPECT_LT(begun, kBlocks);
  EXPECT_EQ(charged(), 0u);
}

TEST_F(OverlappedReadsTest, AnotherFileInTheSamePlaceHasOtherBlocks) {
  Queues queues(8);
  OverlappedReads reads(&queues, budget_);
  ASSERT_TRUE(reads.Begin(*file_, At(0)));
  const BlockFile* const before = file_.get();
  Clear();
  AddBlock(Content(30), Compression::kNone);
  Open(/*is_mapped=*/true);
  if (file_.get() != before) GTEST_SKIP() << "it is in another place";
  EXPECT_FALSE(reads.Has(*file_, At(0)));
  EXPECT_EQ(reads.Take(*file_, At(0)), nullptr);
}

}  // namespace
}  // namespace bigtable
