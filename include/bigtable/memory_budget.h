// One limit for the memory of the engine, for one database or several.
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
#include "absl/status/status.h"

#include "bigtable/export.h"

namespace bigtable {

class BlockCache;
class BudgetAccess;
class MemtableHolder;

// Memtables, the log bytes they pin, indexes and filters, SSTables that are being written, and the
// block cache share the limit. The block cache takes what the other uses leave, and shrinks when
// they grow. Memtables are flushed when they and the log reach their part of the limit. Index and
// filter of an SSTable are kept in memory as long as those of all take no more than half of
// the limit; those of others are read in parts, through the block cache. A caller's own views, and
// a single value that is larger than the budget, may exceed it. So may what is needed for each
// tablet and SSTable, a few kilobytes (docs/tuning.md), which is counted as kIndexes.
//
// Databases that are opened with the same budget share it, including its cache. Thread-safe.
class BIGTABLE_EXPORT MemoryBudget {
 public:
  // kMemtables includes large values on their way into a memtable. kLog is the memory of full log
  // segments that recovery, memtables or readers need, as far as they are in memory; kSpareLog that
  // of segments that are being filled or wait for it. kIndexes is all data about SSTables except
  // their blocks (indexes, filters, properties, keys, their positions in tablets), and memtables
  // while they are empty. kBlockCache is the cache, with the memory that it has for blocks to come.
  // kWriters is SSTables while they are written: their indexes and filters, buffers and
  // compressors. kReads is what filters of reads take: their regular expressions, and the cells of
  // a row that is read whole for its filter; and the blocks that streams have read ahead into
  // memory of their own.
  enum class Use {
    kMemtables,
    kLog,
    kSpareLog,
    kIndexes,
    kInMemoryGroups,
    kBlockCache,
    kWriters,
    kReads
  };
  static constexpr size_t kUses = 8;

  // `limit` in bytes, at least kMinimum: with less, no database opens.
  static constexpr uint64_t kMinimum = 8 << 20;
  explicit MemoryBudget(uint64_t limit);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // Changes the limit while databases are open, for all that share the budget. InvalidArgument:
  // less than kMinimum. A smaller one evicts blocks at once; memtables and logs follow by flushes,
  // which the next writes request and wait for as under any other pressure. What is larger than a
  // quarter of it (a memtable_size) counts as a quarter. Segments of the log keep the size that
  // they were opened with. Cost: that of the evictions.
  absl::Status SetLimit(uint64_t limit);
  // How many open SSTables found no room for their index and filter. A row of theirs that is not in
  // the cache costs up to three reads from the disk instead of one.
  uint64_t files_in_parts() const { return files_in_parts_.load(std::memory_order_relaxed); }
  // Bytes that are in use for this.
  uint64_t used(Use use) const {
    return used_[static_cast<size_t>(use)].load(std::memory_order_relaxed);
  }
  uint64_t used() const;

 private:
  friend class BudgetAccess;

  void Charge(Use use, int64_t bytes) {
    [[maybe_unused]] const uint64_t before = used_[static_cast<size_t>(use)].fetch_add(
        static_cast<uint64_t>(bytes), std::memory_order_relaxed);
    ABSL_ASSERT(static_cast<int64_t>(before) + bytes >= 0 &&
                "more bytes were released than charged");
  }
  void AddHolder(MemtableHolder* holder);
  void RemoveHolder(MemtableHolder* holder);
  bool WriteOutLargest();
  void NotifyProgress();

  const uint64_t given_;  // the constructor's argument
  std::atomic<uint64_t> limit_;
  std::array<std::atomic<uint64_t>, kUses> used_{};
  std::atomic<uint64_t> files_in_parts_{0};
  std::mutex write_out_mutex_;       // held while a flush is requested; before holders_mutex_
  std::shared_mutex holders_mutex_;  // exclusive to add or remove a holder
  std::vector<MemtableHolder*> holders_;
  std::unique_ptr<BlockCache> block_cache_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMORY_BUDGET_H_
