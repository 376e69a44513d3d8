// The rows of one file that were read past its mapping, in the block cache.
//
// A row that is read often is rarely next to another one that is. So the cache keeps the slice of
// the row, which is a block with the row's entries alone, not the block: a quarter of one that has
// four rows.
//
// Invariants:
// * A slice has all entries of its row in the block in which the row begins, and no others. Slices
//   are cached by the hash of the row, and a slice of another row with the same hash is never
//   returned.
// * Only slices of verified blocks are in the cache, under an id that no other open file has. When
//   this object is destroyed, none is left there.
//
// Thread-safe without a lock of its own: the cache is thread-safe.
#ifndef BIGTABLE_BLOCKS_COLD_ROWS_H_
#define BIGTABLE_BLOCKS_COLD_ROWS_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "cache/block_cache.h"
#include "cache/block_memory.h"

namespace bigtable {

// The entries of the row with this prefix (base/entry_key.h), as a block. Null if the block has
// none or does not decode, or there is no memory.
Ref<Block> SliceOfRow(std::string_view block, std::string_view row_prefix, BlockMemory* memory);

class ColdRows {
 public:
  // `budget`, which has the cache, outlives it.
  explicit ColdRows(MemoryBudget* budget);
  ~ColdRows();
  ColdRows(const ColdRows&) = delete;
  ColdRows& operator=(const ColdRows&) = delete;

  // The slice of the row, or null.
  Ref<Block> Find(std::string_view row_prefix) const;
  // Whether Find would find it. Does not count as a use.
  bool Has(std::string_view row_prefix) const;
  // Keeps the slice of the row, and returns it; null if there is none, or it is not to be kept.
  Ref<Block> Add(std::string_view row_prefix, const ReadSettings& settings, std::string_view block);

 private:
  bool MayHave() const;
  BlockCache::Key KeyOf(std::string_view row_prefix) const;

  BlockCache& cache_;
  const uint64_t id_;
  std::atomic<bool> any_{false};  // has been added
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_COLD_ROWS_H_
