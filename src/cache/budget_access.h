// What the engine does with a MemoryBudget: counts what it keeps in memory, has memtables written
// out, and uses the block cache that all databases of a budget share. Thread-safe.
#ifndef BIGTABLE_CACHE_BUDGET_ACCESS_H_
#define BIGTABLE_CACHE_BUDGET_ACCESS_H_

#include <cstdint>

#include "bigtable/memory_budget.h"

#include "cache/block_cache.h"
#include "cache/memtable_holder.h"

namespace bigtable {

class BudgetAccess {
 public:
  // The limit that the budget was made with, which may be too small.
  static uint64_t GivenLimit(const MemoryBudget& budget) { return budget.given_; }
  // Takes (or, negative, gives back) `bytes`. Never refuses: the caller looks at used() and acts.
  static void Charge(MemoryBudget& budget, MemoryBudget::Use use, int64_t bytes) {
    budget.Charge(use, bytes);
  }

  // The databases of this budget, while they are open.
  static void AddHolder(MemoryBudget& budget, MemtableHolder* holder) { budget.AddHolder(holder); }
  static void RemoveHolder(MemoryBudget& budget, MemtableHolder* holder) {
    budget.RemoveHolder(holder);
  }
  // Has the largest memtable of all written out in the background, unless something is being
  // written out already; false if there is nothing to write out.
  static bool WriteOutLargest(MemoryBudget& budget) { return budget.WriteOutLargest(); }
  // Has all databases check whether writers that wait for memory can go on.
  static void NotifyProgress(MemoryBudget& budget) { budget.NotifyProgress(); }

  // The cache that all databases of this budget share.
  static BlockCache& Cache(MemoryBudget& budget) { return *budget.block_cache_; }
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_BUDGET_ACCESS_H_
