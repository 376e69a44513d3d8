// The decoded blocks of one file in the block cache, and the way of reading a file that is not
// mapped: by position, through that cache.
//
// Invariants:
// * Only verified and decoded blocks are in the cache, under an id that no other open file has.
// * When this object is destroyed, none of its blocks is left in the cache. A caller that refers to
//   a block keeps it.
//
// Thread-safe without a lock of its own: it is constant, and the cache is thread-safe. Two threads
// may read the same block at once; one of their blocks is cached.
#ifndef BIGTABLE_BLOCKS_CACHED_BLOCKS_H_
#define BIGTABLE_BLOCKS_CACHED_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "blocks/block_file.h"
#include "blocks/read_settings.h"
#include "blocks/stored_block.h"
#include "cache/block.h"
#include "cache/block_cache.h"

namespace bigtable {

class CachedBlocks {
 public:
  // `file` and `budget`, which has the cache, outlive it.
  CachedBlocks(BlockFile* file, MemoryBudget* budget);
  ~CachedBlocks();
  CachedBlocks(const CachedBlocks&) = delete;
  CachedBlocks& operator=(const CachedBlocks&) = delete;

  // From the cache, or else by position and then into the cache.
  absl::Status Read(const BlockHandle& block, const ReadSettings& settings, std::string_view* bytes,
                    Ref<Block>* owner, BlockOrigin* origin);

  // The two halves of Read, for a block that is read in another way.
  bool Has(const BlockHandle& block) const;
  Ref<Block> Find(const BlockHandle& block) const;  // null if it is not in the cache
  void Add(const BlockHandle& block, const ReadSettings& settings, const Ref<Block>& owner);
  // For a block that will be added. Null: Add adds nothing.
  BlockMemory* MemoryFor(const ReadSettings& settings) const;

 private:
  BlockCache::Key KeyOf(const BlockHandle& block) const { return {id_, block.offset}; }

  BlockFile* const file_;
  BlockCache& cache_;
  const uint64_t id_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_CACHED_BLOCKS_H_
