// A block of an SSTable in memory: immutable bytes that live as long as they are referenced, even
// after the block cache evicted them. Or what was made from a block, in a derived class, which then
// has no bytes.
//
//   | head: this object, with what the cache must know of it | the bytes ... |
//
// Both are one piece of memory: what a cached row costs besides its bytes is the head.
//
// Thread-safe: its bytes do not change, and what changes belongs to the cache.
#ifndef BIGTABLE_CACHE_BLOCK_H_
#define BIGTABLE_CACHE_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/ref_counted.h"
#include "cache/block_memory.h"

namespace bigtable {

class Block : public RefCounted {
 public:
  // Identifies a block in the cache.
  struct Key {
    uint64_t file_id = 0;  // of BlockCache::NewFileId
    uint64_t offset = 0;   // of the block in the file, or another number that is only this block's

    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.file_id, key.offset);
    }
  };

  // A block of `size` bytes, for which the caller writes to `*bytes`, aligned as new char[] is,
  // before others see it. `memory` is null for a block that is not to be cached. Returns null if
  // there is no memory for it.
  static Ref<Block> New(BlockMemory* memory, size_t size, char** bytes) {
    return New(memory, size, size, bytes);
  }
  // The same, with room for `allocated` bytes, the first `size` of which are the block.
  static Ref<Block> New(BlockMemory* memory, size_t size, size_t allocated, char** bytes);

  std::string_view data() const { return {bytes(), size_}; }
  // The memory that is freed with the block.
  size_t charge() const { return size_t{kUnit} * charge_; }

 protected:
  // Without bytes. `memory`: that of the derived object, beyond this one.
  explicit Block(size_t memory) : charge_(UnitsOf(memory + sizeof(Block))) {}

 private:
  friend class BlockCache;

  // Its charge is counted in units, and its bytes begin at a multiple of them.
  static constexpr uint32_t kUnit = 16;
  static uint32_t UnitsOf(size_t bytes) {
    return static_cast<uint32_t>((bytes + kUnit - 1) / kUnit);
  }

  Block(BlockMemory::Slab* slab, size_t size, size_t charge)
      : has_bytes_(true),
        size_(static_cast<uint32_t>(size)),
        charge_(UnitsOf(charge)),
        slab_(slab) {}

  // A copy of the block in a slab with fewer free slots (BlockMemory::Denser); null if it stays.
  Ref<Block> Denser() const;
  // Frees its memory.
  void Delete() const override;
  const char* bytes() const { return reinterpret_cast<const char*>(this) + sizeof(Block); }

  const bool has_bytes_ = false;
  // These three, the key and the links are the cache's, guarded by the mutex of its shard. They are
  // here because there is room behind the count of references.
  bool is_cached_ = false;
  bool is_small_ = false;  // in the small queue
  uint8_t hits_ = 0;       // since it entered its queue or was moved to the end
  const uint32_t size_ = 0;
  const uint32_t charge_;
  BlockMemory::Slab* const slab_ = nullptr;  // null: its memory was allocated by itself
  Key key_;
  Block* before_ = nullptr;  // in its queue
  Block* after_ = nullptr;
};
static_assert(sizeof(Block) == 64, "the bytes behind it are aligned, and the head is small");

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_BLOCK_H_
