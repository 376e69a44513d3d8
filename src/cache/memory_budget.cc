#include "bigtable/memory_budget.h"

#include <algorithm>

#include "cache/block_cache.h"
#include "cache/memtable_holder.h"

namespace bigtable {

MemoryBudget::MemoryBudget(uint64_t limit)
    : given_(limit),
      limit_(std::max(limit, kMinimum)),
      block_cache_(std::make_unique<BlockCache>(this)) {}

MemoryBudget::~MemoryBudget() = default;

uint64_t MemoryBudget::used() const {
  uint64_t sum = 0;
  for (const auto& use : used_) sum += use.load(std::memory_order_relaxed);
  return sum;
}

void MemoryBudget::AddHolder(MemtableHolder* holder) {
  const std::lock_guard lock(holders_mutex_);
  holders_.push_back(holder);
}

void MemoryBudget::RemoveHolder(MemtableHolder* holder) {
  const std::lock_guard lock(holders_mutex_);
  std::erase(holders_, holder);
}

bool MemoryBudget::WriteOutLargest() {
  const std::unique_lock turn(write_out_mutex_, std::try_to_lock);
  if (!turn.owns_lock()) return true;  // another thread does it
  const std::shared_lock lock(holders_mutex_);
  MemtableHolder* largest = nullptr;
  uint64_t most = 0;
  for (MemtableHolder* holder : holders_) {
    if (holder->IsWritingOut()) return true;
    const uint64_t bytes = holder->LargestMemtable();
    if (bytes > most) {
      most = bytes;
      largest = holder;
    }
  }
  if (largest == nullptr) return false;
  largest->WriteOutLargest();
  return true;
}

void MemoryBudget::NotifyProgress() {
  const std::shared_lock lock(holders_mutex_);
  for (MemtableHolder* holder : holders_) holder->OnProgress();
}

}  // namespace bigtable
