// The order of the slots of a memtable's node, in one word, so that one store makes an entry
// visible. The lowest four bits are the number of slots in use. Above them is the slot at each
// position, four bits each: first the slots in use, in the order of their keys, and then the free
// ones. (The permutation of Mao, Kohler, Morris: Cache Craftiness for Fast Multicore Key-Value
// Storage, 2012.) Plain value.
#ifndef BIGTABLE_MEMTABLE_SLOT_ORDER_H_
#define BIGTABLE_MEMTABLE_SLOT_ORDER_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/macros.h"

namespace bigtable {

class SlotOrder {
 public:
  static constexpr size_t kSlots = 15;

  // No slot is in use.
  constexpr SlotOrder() : SlotOrder(0) {}
  // The first `count` slots are in use, in that order.
  constexpr explicit SlotOrder(size_t count) : bits_(0xedcba98765432100 | count) {}

  constexpr size_t count() const { return bits_ & 15; }
  // The slot at a position below kSlots; positions from count() on have the free slots.
  constexpr size_t At(size_t position) const {
    ABSL_ASSERT(position < kSlots && "there is no such position");
    return bits_ >> Shift(position) & 15;
  }

  // Takes the slot At(count()) into use at `position`, at most count(). Requires a free slot.
  constexpr SlotOrder WithInserted(size_t position) const {
    ABSL_ASSERT(position <= count() && count() < kSlots && "a slot is free, and none is skipped");
    const uint64_t behind = ~uint64_t{0} << Shift(position);  // positions from `position` on
    const uint64_t used = (uint64_t{1} << Shift(count())) - 1;
    const uint64_t rest = ~(used << 4 | 15);  // positions above count()
    SlotOrder result;
    result.bits_ = (bits_ & rest) | (bits_ & used & behind) << 4 |
                   uint64_t{At(count())} << Shift(position) | (bits_ & ~behind);
    ++result.bits_;
    return result;
  }
  // Keeps only the first `count` slots in use; `count` is at most count().
  constexpr SlotOrder WithFirst(size_t count) const {
    ABSL_ASSERT(count <= this->count() && "only slots in use can be kept");
    SlotOrder result;
    result.bits_ = (bits_ & ~uint64_t{15}) | count;
    return result;
  }

  constexpr bool operator==(const SlotOrder&) const = default;

 private:
  static constexpr size_t Shift(size_t position) { return 4 * position + 4; }

  uint64_t bits_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_SLOT_ORDER_H_
