#include "cache/scan_cache.h"

#include <utility>

#include "absl/base/macros.h"

#include "cache/block_cache.h"
#include "cache/budget_access.h"

namespace bigtable {

LastWrites::LastWrites(std::shared_ptr<MemoryBudget> budget, size_t groups)
    : budget_(std::move(budget)), groups_(groups) {
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, bytes());
}

LastWrites::~LastWrites() { BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, -bytes()); }

uint64_t ScanCache::NewId() { return BudgetAccess::Cache(*budget_).NewFileId(); }

BlockMemory* ScanCache::memory() const { return &BudgetAccess::Memory(*budget_); }

Ref<Block> ScanCache::Lookup(uint64_t id, std::string_view row, ReadPoint point,
                             const LastWrites& writes) {
  const uint64_t hash = Checksum(row);
  Counts& counts = counts_[static_cast<size_t>(ThreadStripe())];
  Ref<Block> block = BudgetAccess::Cache(*budget_).Lookup({id, hash});
  if (block) {
    const CachedRowHead cached = CachedRowHead::Read(block->data());
    // No later write is visible at this read point.
    if (cached.row == row && writes.Of(hash) <= cached.as_of &&
        (!point.is_snapshot || cached.as_of <= point.sequence)) {
      counts.hits.fetch_add(1, std::memory_order_relaxed);
      return block;
    }
  }
  counts.misses.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void ScanCache::Insert(uint64_t id, std::string_view row, Ref<Block> cached) {
  ABSL_ASSERT((!cached || CachedRowHead::Read(cached->data()).row == row) && "it is of this row");
  if (cached) BudgetAccess::Cache(*budget_).Replace({id, Checksum(row)}, std::move(cached));
}

uint64_t ScanCache::Sum(std::atomic<uint64_t> Counts::*counter) const {
  uint64_t sum = 0;
  for (const Counts& counts : counts_) sum += (counts.*counter).load(std::memory_order_relaxed);
  return sum;
}

}  // namespace bigtable
