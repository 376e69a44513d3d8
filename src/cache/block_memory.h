// The memory of blocks in the cache: slots in slabs, each of which has slots of one size.
//
// Not that of malloc, which keeps what is freed for the threads that had allocated it. Rows and
// blocks are read by one thread after another and stay in the cache for long, so that it kept up to
// five times the memory budget. Here all threads share the slabs.
//
//   stripes      few; a thread takes slots from one after the other, so that threads rarely wait
//     slabs      by the size of their slots, in steps of a sixteenth
//       slots
//
// Invariants:
// * A slot is with one buffer, or is free. A slab is in the list of its stripe for its size if it
//   has buffers and free slots, and in that of empty slabs if it has no buffers.
// * Of slabs without buffers some are kept, and the others go back to the system. What the cache
//   has given up stays in slabs that other blocks use, until the cache grows again or moves these
//   (Denser).
// * The budget is charged with what is free in slabs: by up to kStep more or less for each stripe
//   that has any. Slots with buffers are charged by whoever keeps the blocks.
// * A buffer may outlive this object, and then returns its slot all the same.
//
// Thread-safe. Each stripe has a mutex, which is held for some instructions, and never while the
// system is asked for memory.
#ifndef BIGTABLE_CACHE_BLOCK_MEMORY_H_
#define BIGTABLE_CACHE_BLOCK_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bigtable/memory_budget.h"

namespace bigtable {

class BlockMemory {
 public:
  class Slab;
  // Returns the slot to its slab. Null: the memory is of new char[].
  struct Return {
    Slab* slab = nullptr;
    void operator()(char* bytes) const;
  };
  using Buffer = std::unique_ptr<char[], Return>;

  // For buffers that are larger, and for those of more than a 256th of the budget's limit, memory
  // is allocated by itself.
  static constexpr uint64_t kLargestSlot = 128 << 10;

  // Charges `budget`, which outlives this object, but not the buffers.
  explicit BlockMemory(MemoryBudget* budget);
  ~BlockMemory();
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  // Uninitialised bytes, for a block that is to be cached; null if there is no memory for them.
  Buffer Allocate(uint64_t size);
  // The same in memory that is allocated by itself, for a block that is not to be cached.
  static Buffer AllocateAlone(uint64_t size);
  // A slot of the same size in another slab with no more free slots, for a buffer of `slab`, if
  // this is mostly free. Null: it is not, or there is none. Asks the system for nothing.
  static Buffer Denser(Slab* slab);
  // What is taken for a buffer that was allocated for `size` bytes.
  static uint64_t TakenFor(const Buffer& buffer, uint64_t size);

  // The budget's limit has changed: for slabs and buffers to come. Not beside the destructor.
  void AdoptLimit(uint64_t limit);
  // Returns the empty slabs that the stripes keep. Cost: takes each of the locks.
  void Trim();

  // Of the free slots: what the budget is charged with.
  uint64_t unused() const;
  // Of all slabs.
  uint64_t slabs() const;

 private:
  struct SlotSize;
  struct Stripe;
  class SlabList;
  struct Shared;

  static SlotSize SlotFor(uint64_t size);

  const std::shared_ptr<Shared> shared_;  // with the slabs
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_BLOCK_MEMORY_H_
