// The sorted buffer of recent writes of one locality group of one tablet (section 5.3 of the
// paper). Values are not copied when they already lie in a mapped segment of the commit log: the
// memtable points into it, and keeps the segment.
//
// One thread writes at a time (the leader of the group commit); any number read at the same time,
// without locks and without waiting. It is a skip list:
//
// 1. Nodes are never removed, and never change once they are linked, except for their next
//    pointers.
// 2. A node is complete before it is linked: links are stored with release and read with acquire.
// 3. A node carries the first eight bytes of its key as a number, so that most comparisons on the
//    way do not touch the key.
// 4. The writer remembers where it inserted last: keys that come in order are linked without a
//    search.
#ifndef BIGTABLE_MEMTABLE_MEMTABLE_H_
#define BIGTABLE_MEMTABLE_MEMTABLE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "bigtable/memory_budget.h"

#include "base/arena.h"
#include "base/entry_cursor.h"
#include "base/ref_counted.h"
#include "base/sequence.h"

namespace bigtable {

class Memtable final : public RefCounted {
 public:
  // Charges `budget` with the memory it takes, until it is deleted.
  explicit Memtable(std::shared_ptr<MemoryBudget> budget);

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
  // The smallest sequence number in it; 0 while it is empty.
  SequenceNumber first_sequence() const { return first_sequence_.load(std::memory_order_relaxed); }
  // The largest. Only for the writer, or once nothing is written any more.
  SequenceNumber last_sequence() const { return last_sequence_; }

 private:
  friend class MemtableCursor;
  static constexpr int kMaxHeight = 12;

  struct Node;

  ~Memtable() override;

  void Insert(std::string_view key, const char* value, size_t value_size);
  Node* NewNode(std::string_view key, const char* value, size_t value_size, int height);
  int RandomHeight();
  // The last node before `key` on each level; whether the last insertion's place served.
  void FindPlace(std::string_view key, uint64_t prefix);

  // The first node at or after `key` (null: none), and the last one before it (head_: none).
  Node* FindAtOrAfter(std::string_view key) const;
  Node* FindBefore(std::string_view key) const;
  Node* FindLast() const;

  const std::shared_ptr<MemoryBudget> budget_;
  Arena arena_;
  uint64_t charged_ = 0;
  Node* const head_;
  std::atomic<int> height_{1};
  // Writer only: the last node before the place of the last insertion, on each level.
  std::array<Node*, kMaxHeight> place_;
  uint64_t random_ = 0x9e3779b97f4a7c15;
  std::vector<Ref<const RefCounted>> owners_;
  SequenceNumber last_sequence_ = 0;

  std::atomic<SequenceNumber> first_sequence_{0};
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> pinned_bytes_{0};
};

// A position in a memtable, which must outlive it. Values live as long as the memtable.
class MemtableCursor final : public EntryCursor {
 public:
  explicit MemtableCursor(const Memtable* memtable) : memtable_(memtable) {}

  void Seek(std::string_view target) override { Show(memtable_->FindAtOrAfter(target)); }
  void SeekBefore(std::string_view target) override {
    ShowUnlessHead(memtable_->FindBefore(target));
  }
  void SeekToFirst() override;
  void SeekToLast() override { ShowUnlessHead(memtable_->FindLast()); }
  void Next() override;

 private:
  void Show(Memtable::Node* node);
  void ShowUnlessHead(Memtable::Node* node) { Show(node == memtable_->head_ ? nullptr : node); }

  const Memtable* const memtable_;
  Memtable::Node* node_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_MEMTABLE_H_
