#include "cache/read_memory.h"

#include <memory>

#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;

uint64_t UsedBy(const MemoryBudget& budget) { return budget.used(MemoryBudget::Use::kReads); }

TEST(ReadMemoryTest, ChargesWhatIsTakenUntilItIsReturned) {
  const auto budget = std::make_shared<MemoryBudget>(64 * kMegabyte);
  {
    ReadMemory memory(budget);
    EXPECT_OK(memory.Take(2 * kMegabyte));
    EXPECT_EQ(UsedBy(*budget), 2 * kMegabyte);
    const uint64_t taken = memory.taken();
    for (int i = 0; i < 1024; ++i) EXPECT_OK(memory.Take(1024));
    EXPECT_EQ(UsedBy(*budget), 3 * kMegabyte);
    memory.ReturnTo(taken);
    EXPECT_EQ(UsedBy(*budget), 2 * kMegabyte);
  }
  EXPECT_EQ(UsedBy(*budget), 0u);
}

TEST(ReadMemoryTest, LittleIsNotCharged) {
  const auto budget = std::make_shared<MemoryBudget>(64 * kMegabyte);
  ReadMemory memory(budget);
  EXPECT_OK(memory.Take(1000));
  EXPECT_EQ(UsedBy(*budget), 0u);
}

TEST(ReadMemoryTest, AReadMayTakeHalfOfTheBudget) {
  const auto budget = std::make_shared<MemoryBudget>(100 * kMegabyte);
  ReadMemory memory(budget);
  EXPECT_OK(memory.Take(50 * kMegabyte));
  EXPECT_STATUS(kResourceExhausted, "52428800", memory.Take(kMegabyte));
  EXPECT_EQ(memory.taken(), 50 * kMegabyte);
  EXPECT_EQ(UsedBy(*budget), 50 * kMegabyte);
}

TEST(ReadMemoryTest, AReadMayTakeAFixedMostOfALargeBudget) {
  ReadMemory memory(std::make_shared<MemoryBudget>(uint64_t{4} << 30));
  EXPECT_OK(memory.Take(ReadMemory::kMost));
  EXPECT_STATUS(kResourceExhausted, "268435456", memory.Take(kMegabyte));
  ReadMemory without_budget(nullptr);
  EXPECT_OK(without_budget.Take(ReadMemory::kMost));
  EXPECT_STATUS(kResourceExhausted, "268435456", without_budget.Take(kMegabyte));
}

TEST(ReadMemoryTest, ReadsShareAndEachHasALittle) {
  const auto budget = std::make_shared<MemoryBudget>(8 * kMegabyte);
  ReadMemory first(budget);
  ReadMemory second(budget);
  EXPECT_OK(first.Take(30 * kMegabyte));
  EXPECT_OK(second.Take(ReadMemory::kAlways));
  EXPECT_STATUS(kResourceExhausted, "tried again", second.Take(kMegabyte));
  first.ReturnTo(0);
  EXPECT_OK(second.Take(kMegabyte));
}

}  // namespace
}  // namespace bigtable
