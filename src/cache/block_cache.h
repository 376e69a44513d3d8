// Blocks that were read from files and may be read again. All databases of a MemoryBudget share one
// cache. It takes what the budget's other uses leave, and shrinks when they grow.
//
// Replacement is S3-FIFO: a new block enters a small queue of a tenth of the space. It moves to the
// main queue only if it was requested more than once while it was there, or if it had left the
// small queue a short while ago. So a scan, which requests each block once, passes through the
// tenth and does not affect the rest. Unlike a segmented LRU, which moves a block to the front of
// a list, a hit only raises a number in the block: the lock is held for a shorter time and fewer
// cache lines are written.
//
// Thread-safe. The cache is divided into shards by the key's hash, each with a mutex of its own
// that is held for a lookup in a hash table.
#ifndef BIGTABLE_CACHE_BLOCK_CACHE_H_
#define BIGTABLE_CACHE_BLOCK_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"

#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "cache/block.h"
#include "cache/block_memory.h"

namespace bigtable {

class BlockCache {
 public:
  using Key = Block::Key;

  // Charges `budget`, which owns the cache and outlives it.
  explicit BlockCache(MemoryBudget* budget);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  // An id that no other file of this cache has or had.
  uint64_t NewFileId() { return last_file_id_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // For blocks that may be inserted.
  BlockMemory& memory() { return memory_; }

  // Null if the block is not in the cache.
  Ref<Block> Lookup(const Key& key);
  // Whether Lookup would find it. Does not count as a use.
  bool Contains(const Key& key) const;
  // Adds `block`, unless its key is in the cache already or it is larger than a shard. Makes room
  // first, so that the cache never holds more than capacity() was then. A block is in one cache
  // only, and once.
  void Insert(const Key& key, Ref<Block> block);
  // The same, but evicts an existing block with this key, even if the new one is too large.
  void Replace(const Key& key, Ref<Block> block);
  // Evicts until the cache fits capacity(): call it after charging the budget with much.
  void Shrink();
  // The budget's limit has changed: adjusts what depends on it, and evicts until the cache fits,
  // and if the limit is lower, its memory too.
  void AdoptLimit(bool is_lower);
  // Removes all blocks of a deleted file. Cost: visits every block.
  void EraseFile(uint64_t file_id);

  // What the cache may hold now: the budget's limit minus its other uses and, up to an eighth of
  // the limit, the unused part of memory(); and at least a sixteenth of the limit.
  uint64_t capacity() const;
  uint64_t hits() const;
  uint64_t misses() const;

 private:
  class Shard;

  Shard& ShardOf(size_t hash) const;
  size_t GhostsOfShard() const;
  bool MemoryFits() const;

  MemoryBudget* const budget_;
  BlockMemory memory_;
  const size_t shard_bits_;
  const std::unique_ptr<Shard[]> shards_;
  std::atomic<uint64_t> last_file_id_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_BLOCK_CACHE_H_
