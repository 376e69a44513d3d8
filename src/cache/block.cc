#include "cache/block.h"

#include <cstdint>
#include <cstring>
#include <new>

#include "absl/base/macros.h"

namespace bigtable {

Ref<Block> Block::New(BlockMemory* memory, size_t size, size_t allocated, char** bytes) {
  ABSL_ASSERT(size <= allocated && "the block is in its memory");
  if (size > UINT32_MAX || allocated > uint64_t{kUnit} << 31) return {};  // more than any block has
  const size_t whole = sizeof(Block) + allocated;
  BlockMemory::Buffer buffer =
      memory != nullptr ? memory->Allocate(whole) : BlockMemory::AllocateAlone(whole);
  if (buffer == nullptr) return {};
  *bytes = buffer.get() + sizeof(Block);
  const size_t charge = BlockMemory::TakenFor(buffer, whole);
  BlockMemory::Slab* const slab = buffer.get_deleter().slab;
  return Ref<Block>(new (buffer.release()) Block(slab, size, charge));
}

Ref<Block> Block::Denser() const {
  if (slab_ == nullptr) return {};
  BlockMemory::Buffer buffer = BlockMemory::Denser(slab_);
  if (buffer == nullptr) return {};
  std::memcpy(buffer.get() + sizeof(Block), bytes(), size_);
  BlockMemory::Slab* const slab = buffer.get_deleter().slab;
  return Ref<Block>(new (buffer.release()) Block(slab, size_, charge_));
}

void Block::Delete() const {
  ABSL_ASSERT(!is_cached_ && "the cache has a reference");
  if (!has_bytes_) {
    delete this;
    return;
  }
  const BlockMemory::Buffer memory(reinterpret_cast<char*>(const_cast<Block*>(this)),
                                   BlockMemory::Return{slab_});
  this->~Block();
}

}  // namespace bigtable
