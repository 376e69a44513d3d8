// The nodes of a memtable, which is an unrolled skip list: a skip list with several entries in each
// node. These rules let one writer and any number of readers use it concurrently, without locks:
//
// 1. Nodes are never removed. An entry never changes, and is not freed before the memtable.
// 2. A node's lowest entry is in slot 0 and stays there. Only the first node, which begins below
//    all keys and may be empty, has no such entry. So the key at which a node begins never changes.
// 3. A new entry is written into a free slot, and then becomes visible by one store of `order`.
// 4. To split a full node, its upper half is copied into a new node, and the new node is linked;
//    then the upper half is removed from `order`; then `splits` is incremented. Only after that are
//    the slots reused. The new node's upper links come last.
//
// A reader loads `splits`, then `order`; checks whether its key is in a later node by now; loads
// the slots; and then loads `splits` again. If it saw `order` without the upper half, it sees the
// new node. If it saw a reused slot, it sees another value of `splits`, and must search again.
// While `splits` is unchanged, the same `order` means the same entries.
//
// When another list replaces that of a node (Memtable::UseLearned), `splits` is incremented once
// more, after the new list is published, and then the node never changes again.
#ifndef BIGTABLE_MEMTABLE_MEMTABLE_NODE_H_
#define BIGTABLE_MEMTABLE_MEMTABLE_NODE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/prefetch.h"
#include "memtable/slot_order.h"

namespace bigtable {

// The bytes of the key follow the struct. Before it, a contribution has its MergePlace.
struct MemtableEntry {
  const char* value;
  uint32_t value_size;
  uint32_t key_size;

  std::string_view key() const {
    return {reinterpret_cast<const char*>(this) + sizeof(MemtableEntry), key_size};
  }
  std::string_view value_view() const { return {value, value_size}; }

  static bool HasMergePlace(std::string_view key) {
    return key.size() >= kTrailerSize && IsContribution(KindOf(key));
  }
  // Null if it has none.
  MergePlace* merge_place() const {
    if (!HasMergePlace(key())) return nullptr;
    return reinterpret_cast<MergePlace*>(const_cast<MemtableEntry*>(this)) - 1;
  }
};

// A search key, and its number: unequal numbers decide how two keys compare, equal ones decide
// nothing (memtable/key_numbers.h).
struct MemtableTarget {
  std::string_view key;
  uint64_t number;
};

struct MemtableNode {
  // Link to the next node of a level, with the number of that node's first key, so that a search
  // can compare without touching the node. The writer stores the node first and then the number,
  // and a reader loads them in the opposite order. Nodes are only inserted between, so the numbers
  // of a link descend, and the number that a reader loaded is never below that of the node it
  // loads.
  struct Link {
    std::atomic<MemtableNode*> node{nullptr};
    std::atomic<uint64_t> number{UINT64_MAX};

    MemtableNode* Next() const { return node.load(std::memory_order_acquire); }
    // The next node if it begins before the target. `*after` is a node known not to; it is not
    // compared again. May miss a node that is being linked.
    MemtableNode* NextBefore(const MemtableTarget& target, const MemtableNode** after) const {
      const uint64_t seen = number.load(std::memory_order_acquire);
      if (seen > target.number) return nullptr;
      MemtableNode* const next = Next();
      if (seen < target.number) return next;
      if (next == nullptr || next == *after) return nullptr;
      if (next->Entry(0)->key() < target.key) return next;
      *after = next;
      return nullptr;
    }
    // Writer only.
    void Set(MemtableNode* next, uint64_t next_number) {
      node.store(next, std::memory_order_release);
      number.store(next_number, std::memory_order_release);
    }
    void CopyFrom(const Link& other) {
      node.store(other.node.load(std::memory_order_relaxed), std::memory_order_relaxed);
      number.store(other.number.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
  };

  // The links of the levels above the lowest lie before the node:
  //   links[height-1] ... links[1] | MemtableNode (links[0] first)
  Link link0;
  std::atomic<SlotOrder> order{SlotOrder()};
  std::atomic<uint64_t> splits{0};
  // By slot.
  std::array<std::atomic<uint64_t>, SlotOrder::kSlots> numbers{};
  std::array<std::atomic<MemtableEntry*>, SlotOrder::kSlots> entries{};

  Link& At(size_t level) { return level == 0 ? link0 : *(reinterpret_cast<Link*>(this) - level); }
  uint64_t Number(size_t slot) const { return numbers[slot].load(std::memory_order_acquire); }
  MemtableEntry* Entry(size_t slot) const { return entries[slot].load(std::memory_order_acquire); }

  // How many of its entries, as they are in `seen`, have a smaller number.
  size_t CountBelow(SlotOrder seen, uint64_t number) const {
    size_t begin = 0;
    for (size_t end = seen.count(); begin < end;) {
      const size_t middle = (begin + end) / 2;
      const bool is_below = Number(seen.At(middle)) < number;
      begin = is_below ? middle + 1 : begin;
      end = is_below ? end : middle;
    }
    return begin;
  }

  // How many of them are before the target. The keys of entries with the same number are read:
  // often these are versions of one cell, of which the newest is first, and a new one before it.
  size_t CountBefore(SlotOrder seen, const MemtableTarget& target) const {
    size_t begin = CountBelow(seen, target.number);
    const auto is_before = [&](size_t position) {
      return Entry(seen.At(position))->key() < target.key;
    };
    const auto has_number = [&](size_t position) {
      return position < seen.count() && Number(seen.At(position)) == target.number;
    };
    if (!has_number(begin) || !is_before(begin)) return begin;
    ++begin;
    size_t end = begin;
    while (has_number(end)) ++end;
    while (begin < end) {
      const size_t middle = (begin + end) / 2;
      if (is_before(middle)) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

  // Writer only: puts an entry into a free slot, at a position in the order.
  void Insert(size_t position, uint64_t number, MemtableEntry* entry) {
    const SlotOrder now = order.load(std::memory_order_relaxed);
    const size_t slot = now.At(now.count());
    numbers[slot].store(number, std::memory_order_release);
    entries[slot].store(entry, std::memory_order_release);
    order.store(now.WithInserted(position), std::memory_order_release);
  }

  BIGTABLE_ONLY_PREFETCHES void PrefetchNumbers() const {
    PrefetchLine(numbers.data() + 4);
    PrefetchLine(numbers.data() + 12);
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_MEMTABLE_NODE_H_
