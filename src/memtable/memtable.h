// The sorted buffer of recent writes of one locality group of one tablet (section 5.3 of the
// paper). Values are not copied when they already lie in a mapped segment of the commit log: the
// memtable points into it, and keeps the segment.
//
// One thread writes at a time (the leader of the group commit); any number read at the same time,
// without locks, and nobody waits for anybody. It is a skip list whose nodes hold up to fifteen
// entries each (memtable/memtable_node.h): a search waits for memory a few times, instead of once
// or twice for each level of a skip list of single entries. Keys are compared as numbers, of eight
// bytes behind what all keys are expected to begin with, which lie side by side. The writer
// remembers where it inserted last: keys that come in order are inserted without a search from the
// top, and fill their nodes.
#ifndef BIGTABLE_MEMTABLE_MEMTABLE_H_
#define BIGTABLE_MEMTABLE_MEMTABLE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/memory_budget.h"

#include "base/arena.h"
#include "base/compare.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/shortcuts.h"
#include "memtable/memtable_node.h"

namespace bigtable {

class Memtable final : public RefCounted {
 public:
  // Charges `budget` with the memory it takes, until it is deleted. `expected_prefix` is what keys
  // are expected to begin with: a guess, which makes searches faster where it is right.
  explicit Memtable(std::shared_ptr<MemoryBudget> budget, std::string expected_prefix = {});

  // --- For the writer ---

  // Adds an entry. `key` is new: no entry has the same row, column, timestamp and version. The
  // value is copied.
  void Add(std::string_view key, std::string_view value);
  // The same, but `value` lies in `owner`, which the memtable keeps.
  void AddPinned(std::string_view key, std::string_view value, const Ref<const RefCounted>& owner);
  // Something in it has this sequence number. They ascend as they are written, and come in any
  // order when a sorted log is replayed.
  void NoteSequence(SequenceNumber sequence) {
    const SequenceNumber first = first_sequence();
    if (first == 0 || sequence < first) {
      first_sequence_.store(sequence, std::memory_order_relaxed);
    }
    last_sequence_ = std::max(last_sequence_, sequence);
  }

  // --- For anybody ---

  bool empty() const { return entries_.load(std::memory_order_acquire) == 0; }
  uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }
  // Of its own memory, and of the values elsewhere that it keeps.
  uint64_t bytes() const {
    return arena_.allocated() + pinned_bytes_.load(std::memory_order_relaxed);
  }
  // Its smallest and its largest key, or nothing if it is empty. They stay as long as it does.
  struct KeyRange {
    std::string_view smallest;
    std::string_view largest;
  };
  std::optional<KeyRange> Keys() const;
  // The smallest sequence number in it; 0 while it is empty.
  SequenceNumber first_sequence() const { return first_sequence_.load(std::memory_order_relaxed); }
  // The largest. Only for the writer, or once nothing is written any more.
  SequenceNumber last_sequence() const { return last_sequence_; }

 private:
  friend class MemtableCursor;
  using Entry = MemtableEntry;
  using Node = MemtableNode;
  using Target = MemtableTarget;
  static constexpr size_t kMaxHeight = 18;

  // A position among the entries of a node, as they were at one moment.
  struct Position {
    Node* node = nullptr;
    SlotOrder order;
    uint64_t splits = 0;
    size_t index = 0;

    // Whether the node still has these entries in these slots, and no others.
    bool IsCurrent() const {
      return node->order.load(std::memory_order_acquire) == order &&
             node->splits.load(std::memory_order_acquire) == splits;
    }
    // The entry at the index, which is below order.count(); null if it is not known any more.
    Entry* Get() const {
      Entry* const entry = node->Entry(order.At(index));
      return node->splits.load(std::memory_order_acquire) == splits ? entry : nullptr;
    }
  };

  ~Memtable() override;

  // --- The writer's ---

  void Insert(std::string_view key, const char* value, size_t value_size);
  void ChargeIdle(uint64_t bytes);
  // Moves the upper half of splice_[0], which is full, to a new node, and inserts the entry.
  void SplitAndInsert(size_t position, uint64_t number, Entry* entry);
  Entry* NewEntry(std::string_view key, const char* value, size_t value_size);
  Node* NewNode(size_t height);
  size_t RandomHeight();

  // --- Searches; the memtable is not empty. ---

  Target TargetOf(std::string_view key) const {
    return {key, has_numbers_ ? KeyNumberBehind(prefix_, key) : 0};
  }
  // Goes down to the last node that begins before the target, and calls note(level, node) with that
  // of each level.
  template <typename Note>
  Node* Descend(const Target& target, Note note) const;
  // The place of the first entry at or after the target in `node`, or in the last node behind it
  // that begins before the target. The position is the number of entries if that node has none.
  Position FindIn(Node* node, const Target& target) const;
  Position Find(const Target& target) const;
  // The entry at a position, which is that of the first entry at or after `key`, or else the next
  // one; null if there is none. The place is where it stands.
  Entry* Settle(Position* position, std::string_view key) const;
  // The place of the last entry, at the moment of the call.
  Position FindLast() const;

  const std::shared_ptr<MemoryBudget> budget_;
  Arena arena_;
  uint64_t charged_ = 0;
  uint64_t idle_ = 0;  // charged as long as it is empty, and of what is not in the arena for good
  const bool has_numbers_ = Shortcuts().Has(Shortcut::kMemtableNumbers);  // else all are 0
  const bool has_splice_ = Shortcuts().Has(Shortcut::kMemtableSplice);
  std::string prefix_;  // never changes from the first entry on
  Node* const head_;
  std::atomic<size_t> height_{1};
  // Writer only: the node of the last insertion, and on each level the last one at or before it.
  std::array<Node*, kMaxHeight> splice_;
  const Entry* last_entry_ = nullptr;  // the last that was inserted
  uint64_t random_ = 0x9e3779b97f4a7c15;
  std::vector<Ref<const RefCounted>> owners_;
  SequenceNumber last_sequence_ = 0;

  std::atomic<SequenceNumber> first_sequence_{0};
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> pinned_bytes_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_MEMTABLE_H_
