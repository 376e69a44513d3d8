// The engine's access to a MemoryBudget: counts memory in use, has memtables flushed, and provides
// the block cache that all databases of a budget share. Thread-safe.
#ifndef BIGTABLE_CACHE_BUDGET_ACCESS_H_
#define BIGTABLE_CACHE_BUDGET_ACCESS_H_

#include <cstdint>

#include "bigtable/memory_budget.h"

#include "cache/block_cache.h"
#include "cache/memtable_holder.h"

namespace bigtable {

class BudgetAccess {
 public:
  // The limit that was passed to the constructor; it may be too small.
  static uint64_t GivenLimit(const MemoryBudget& budget) { return budget.given_; }
  // Charges `bytes`, or releases them if negative. Never refuses: the caller checks used() and
  // acts.
  static void Charge(MemoryBudget& budget, MemoryBudget::Use use, int64_t bytes) {
    budget.Charge(use, bytes);
  }

  // Counts `files` more as files_in_parts, or fewer if negative.
  static void CountInParts(MemoryBudget& budget, int64_t files) {
    budget.files_in_parts_.fetch_add(static_cast<uint64_t>(files), std::memory_order_relaxed);
  }

  // The databases of this budget, while they are open.
  static void AddHolder(MemoryBudget& budget, MemtableHolder* holder) { budget.AddHolder(holder); }
  static void RemoveHolder(MemoryBudget& budget, MemtableHolder* holder) {
    budget.RemoveHolder(holder);
  }
  // Has the largest of all memtables flushed in the background, unless a flush is running already.
  // False if there is nothing to flush.
  static bool WriteOutLargest(MemoryBudget& budget) { return budget.WriteOutLargest(); }
  // Makes all databases check whether writers that wait for memory can continue.
  static void NotifyProgress(MemoryBudget& budget) { budget.NotifyProgress(); }

  // The cache that all databases of this budget share, and the memory of its blocks.
  static BlockCache& Cache(MemoryBudget& budget) { return *budget.block_cache_; }
  static BlockMemory& Memory(MemoryBudget& budget) { return budget.block_cache_->memory(); }
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_BUDGET_ACCESS_H_
