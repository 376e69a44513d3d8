// What is in the block cache of a budget, in bytes: what the budget is charged with for it, without
// the free slots of the cache's memory.
#ifndef BIGTABLE_TESTS_SUPPORT_CACHED_BYTES_H_
#define BIGTABLE_TESTS_SUPPORT_CACHED_BYTES_H_

#include <cstdint>

#include "bigtable/memory_budget.h"

#include "cache/budget_access.h"

namespace bigtable {

inline uint64_t CachedBytes(MemoryBudget& budget) {
  return budget.used(MemoryBudget::Use::kBlockCache) - BudgetAccess::Memory(budget).unused();
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_CACHED_BYTES_H_
