#include "bigtable/memory_budget.h"

#include <algorithm>

#include "cache/block_cache.h"

namespace bigtable {

MemoryBudget::MemoryBudget(uint64_t limit)
    : limit_(std::max(limit, kMinimum)), block_cache_(std::make_unique<BlockCache>(this)) {}

MemoryBudget::~MemoryBudget() = default;

uint64_t MemoryBudget::used() const {
  uint64_t sum = 0;
  for (const auto& use : used_) sum += use.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace bigtable
