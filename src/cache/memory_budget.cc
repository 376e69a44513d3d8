#include "bigtable/memory_budget.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/base/macros.h"

#include "base/strings.h"
#include "cache/block_cache.h"
#include "cache/memtable_holder.h"

namespace bigtable {

MemoryBudget::MemoryBudget(uint64_t limit)
    : given_(limit),
      limit_(std::max(limit, kMinimum)),
      block_cache_(std::make_unique<BlockCache>(this)) {}

MemoryBudget::~MemoryBudget() { ABSL_ASSERT(holders_.empty() && "databases are closed before"); }

absl::Status MemoryBudget::SetLimit(uint64_t limit) {
  if (limit < kMinimum) {
    return absl::InvalidArgumentError(
        Cat("the limit of a MemoryBudget must be at least ", kMinimum, ", and is ", limit));
  }
  const uint64_t before = limit_.exchange(limit, std::memory_order_relaxed);
  block_cache_->AdoptLimit(limit < before);
  NotifyProgress();  // writers that wait may have room now
  return absl::OkStatus();
}

uint64_t MemoryBudget::used() const {
  uint64_t sum = 0;
  for (const auto& use : used_) sum += use.load(std::memory_order_relaxed);
  return sum;
}

void MemoryBudget::AddHolder(MemtableHolder* holder) {
  const std::lock_guard lock(holders_mutex_);
  ABSL_ASSERT(std::count(holders_.begin(), holders_.end(), holder) == 0 && "it is added once");
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
  std::vector<std::pair<uint64_t, MemtableHolder*>> by_size;
  for (MemtableHolder* holder : holders_) {
    if (holder->IsWritingOut()) return true;
    if (const uint64_t bytes = holder->LargestMemtable(); bytes > 0) {
      by_size.emplace_back(bytes, holder);
    }
  }
  std::sort(by_size.begin(), by_size.end(), std::greater<>());
  for (const auto& [bytes, holder] : by_size) {
    if (holder->WriteOutLargest()) return true;
  }
  return !by_size.empty();
}

void MemoryBudget::NotifyProgress() {
  const std::shared_lock lock(holders_mutex_);
  for (MemtableHolder* holder : holders_) holder->OnProgress();
}

}  // namespace bigtable
