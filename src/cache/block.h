// A block of an SSTable in memory: immutable bytes that live as long as they are referenced, even
// after the block cache evicted them. Or what was made from a block, in a derived class, which then
// has no bytes. Thread-safe, because nothing in it changes.
#ifndef BIGTABLE_CACHE_BLOCK_H_
#define BIGTABLE_CACHE_BLOCK_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/base/macros.h"

#include "base/ref_counted.h"
#include "cache/block_memory.h"

namespace bigtable {

class Block : public RefCounted {
 public:
  // Takes `buffer` of `allocated` bytes, the first `size` of which are the block.
  Block(BlockMemory::Buffer buffer, size_t size, size_t allocated)
      : buffer_(std::move(buffer)),
        data_(buffer_.get(), size),
        allocated_(BlockMemory::TakenFor(buffer_, allocated)) {
    ABSL_ASSERT(size <= allocated && "the block is in its memory");
  }
  // The same for memory that was allocated by itself.
  Block(std::unique_ptr<char[]> buffer, size_t size, size_t allocated)
      : Block(BlockMemory::Buffer(buffer.release(), {}), size, allocated) {}
  // A view of `bytes`, which must outlive the block.
  explicit Block(std::string_view bytes) : data_(bytes) {}

  // The same block in a slab with fewer free slots (BlockMemory::Denser); null if it stays.
  Ref<Block> Denser() const {
    BlockMemory::Buffer buffer = BlockMemory::Denser(buffer_);
    if (buffer == nullptr) return {};
    data_.copy(buffer.get(), data_.size());
    return MakeRef<Block>(std::move(buffer), data_.size(), allocated_);
  }

  std::string_view data() const { return data_; }
  // The memory that is freed with the block.
  size_t charge() const { return allocated_ + sizeof(Block); }

 protected:
  // Without bytes. `memory`: that of the derived object, beyond this one.
  explicit Block(size_t memory) : allocated_(memory) {}

 private:
  const BlockMemory::Buffer buffer_;
  const std::string_view data_;
  const size_t allocated_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_BLOCK_H_
