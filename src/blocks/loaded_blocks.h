// All blocks of one file, verified and decoded, in one piece of memory: the way of reading a
// locality group that is in memory. The first read loads them.
//
// Invariants:
// * They are loaded successfully once, by one thread. Others wait meanwhile, each within its own
//   limits. A failed load leaves nothing, is not remembered, and the next read tries again.
// * Afterwards they are constant and live as long as this object, and the file is not read again.
//   Their memory is charged to MemoryBudget::Use::kInMemoryGroups.
//
// Thread-safe. A read after the first takes no lock.
#ifndef BIGTABLE_BLOCKS_LOADED_BLOCKS_H_
#define BIGTABLE_BLOCKS_LOADED_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/prefetch.h"
#include "base/ref_counted.h"
#include "blocks/block_file.h"
#include "blocks/block_index.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "cache/budget_charge.h"

namespace bigtable {

class LoadedBlocks {
 public:
  // `file`, `index` and `budget` outlive it.
  LoadedBlocks(BlockFile* file, const BlockIndex* index, MemoryBudget* budget)
      : file_(file),
        index_(*index),
        budget_(budget),
        charge_(budget, MemoryBudget::Use::kInMemoryGroups) {}
  LoadedBlocks(const LoadedBlocks&) = delete;
  LoadedBlocks& operator=(const LoadedBlocks&) = delete;

  // Returns false if they are not loaded.
  bool ReadLoaded(size_t i, std::string_view* block) const {
    const Blocks* const blocks = shared_.load(std::memory_order_acquire);
    if (blocks == nullptr) [[unlikely]]
      return false;
    *block = blocks->block(i);
    return true;
  }
  // Loads them if they are not. `*owner` becomes null.
  absl::Status Read(size_t i, const ReadSettings& settings, std::string_view* block,
                    Ref<Block>* owner, BlockOrigin* origin);
  BIGTABLE_ONLY_PREFETCHES void Prefetch(size_t i) const {
    std::string_view block;
    if (ReadLoaded(i, &block)) bigtable::Prefetch({block.data(), kPrefetchedHead});
  }
  // Their memory; 0 if they are not loaded.
  uint64_t memory() const {
    const Blocks* const blocks = shared_.load(std::memory_order_acquire);
    return blocks == nullptr ? 0 : blocks->memory;
  }

 private:
  struct Blocks {
    std::unique_ptr<char[], void (*)(char*)> bytes{nullptr, nullptr};
    BlockOffsets offsets;  // in the bytes, and the end of the last block
    size_t memory = 0;

    std::string_view block(size_t i) const {
      const uint64_t begin = offsets[i];
      return {bytes.get() + begin, offsets[i + 1] - begin};
    }
  };

  absl::Status EnsureLoaded(const CallLimits* limits);
  absl::Status Load(const CallLimits* limits, Blocks* blocks) const;
  // Sets the offsets, and `size` to the end of the last block.
  absl::Status LayOut(const CallLimits* limits, BlockOffsets* offsets, uint64_t* size) const;

  BlockFile* const file_;
  const BlockIndex& index_;
  MemoryBudget* const budget_;
  LimitedMutex mutex_;  // held while they are loaded; the dictionary's lock may be taken under it
  BudgetCharge charge_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Blocks> blocks_ ABSL_GUARDED_BY(mutex_);
  std::atomic<const Blocks*> shared_{nullptr};  // blocks_, once they are loaded
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_LOADED_BLOCKS_H_
