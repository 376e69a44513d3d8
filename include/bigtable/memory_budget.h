// One number that bounds what the engine keeps in memory, for one database or for several.
#ifndef BIGTABLE_MEMORY_BUDGET_H_
#define BIGTABLE_MEMORY_BUDGET_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "absl/base/macros.h"

namespace bigtable {

class BlockCache;
class BudgetAccess;
class MemtableHolder;

// Memtables, the log bytes they pin, indexes and filters, what SSTables in the making need, and the
// block cache share the limit. The cache takes what the others leave, and gives it back when they
// grow; memtables are written out when they and the log reach their part of it. What a caller's own
// views pin, and a single value that is larger than the budget, may exceed it; and nothing bounds
// indexes and files in the making, which are counted only.
//
// Databases that are opened with the same budget share it, cache included. Thread-safe.
class MemoryBudget {
 public:
  // kMemtables is also of large values on their way into one. kLog is of full log segments that
  // recovery, memtables or readers need, as far as they are in memory; kSpareLog of those that are
  // being filled or wait for it. kIndexes is of all that is kept of SSTables but their blocks
  // (indexes, filters, properties, keys, their places in tablets), and of memtables while they are
  // empty. kWriters is of SSTables while they are written: their indexes and filters, buffers and
  // compressors.
  enum class Use { kMemtables, kLog, kSpareLog, kIndexes, kInMemoryGroups, kBlockCache, kWriters };
  static constexpr size_t kUses = 7;

  // `limit` in bytes, at least kMinimum: with less, no database opens.
  static constexpr uint64_t kMinimum = 8 << 20;
  explicit MemoryBudget(uint64_t limit);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  uint64_t limit() const { return limit_; }
  uint64_t used(Use use) const {
    return used_[static_cast<size_t>(use)].load(std::memory_order_relaxed);
  }
  uint64_t used() const;

 private:
  friend class BudgetAccess;

  void Charge(Use use, int64_t bytes) {
    [[maybe_unused]] const uint64_t before = used_[static_cast<size_t>(use)].fetch_add(
        static_cast<uint64_t>(bytes), std::memory_order_relaxed);
    ABSL_ASSERT(static_cast<int64_t>(before) + bytes >= 0 && "more was given back than taken");
  }
  void AddHolder(MemtableHolder* holder);
  void RemoveHolder(MemtableHolder* holder);
  bool WriteOutLargest();
  void NotifyProgress();

  const uint64_t given_;  // to the constructor
  const uint64_t limit_;
  std::array<std::atomic<uint64_t>, kUses> used_{};
  std::mutex write_out_mutex_;       // held by the one who sees to it; before the other
  std::shared_mutex holders_mutex_;  // exclusively while holders come and go
  std::vector<MemtableHolder*> holders_;
  std::unique_ptr<BlockCache> block_cache_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMORY_BUDGET_H_
