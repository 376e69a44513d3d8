#include "memtable/memtable_cursor.h"

#include "absl/base/macros.h"

#include "base/prefetch.h"

namespace bigtable {

void MemtableCursor::Seek(std::string_view target) {
  steps_ = 0;
  if (memtable_->empty()) return Show(nullptr);
  position_ = memtable_->Find(target);
  Show(memtable_->Settle(&position_, target));
}

void MemtableCursor::SeekBefore(std::string_view target) {
  const MemtableEntry* entry = nullptr;
  while (!memtable_->empty() && entry == nullptr) {
    position_ = memtable_->Find(target);
    // Only the first node can have no entry before the target.
    if (position_.index == 0) break;
    --position_.index;
    entry = position_.Get();
  }
  Show(entry);
}

void MemtableCursor::SeekToLast() {
  const MemtableEntry* entry = nullptr;
  while (!memtable_->empty() && entry == nullptr) {
    position_ = memtable_->FindLast();
    entry = position_.Get();
  }
  Show(entry);
}

// Neighbours in key order are anywhere in memory. An entry is prefetched some steps ahead, and its
// value fewer steps ahead, when its address is known. Less far in a short scan, which may not come
// there.
void MemtableCursor::Next() {
  ABSL_ASSERT(valid_ && "only a valid cursor moves on");
  const MemtableEntry* const current = entry_;
  if (position_.IsCurrent()) {
    ++position_.index;
  } else {
    position_ = memtable_->FindAgain(position_, current->key());
  }
  const MemtableEntry* next = memtable_->Settle(&position_, current->key());
  while (next == current) {
    // The position was searched again, or a split moved the entry to another node.
    ++position_.index;
    next = memtable_->Settle(&position_, current->key());
  }
  Show(next);
  if (next == nullptr) return;
  if (position_.index == 0) {
    if (const MemtableNode* const node = position_.node->link0.Next()) {
      PrefetchLine(node);
      node->PrefetchNumbers();
      PrefetchLine(&node->entries[6]);
      PrefetchLine(&node->entries[14]);
    }
  }
  constexpr size_t kFew = 8;
  const bool is_short = steps_ < kFew;
  if (is_short) ++steps_;
  if (const MemtableEntry* const ahead = Ahead(is_short ? 1 : 4)) Prefetch(ahead->value_view());
  if (const MemtableEntry* const ahead = Ahead(is_short ? 3 : 8)) PrefetchLine(ahead);
}

const MemtableEntry* MemtableCursor::Ahead(size_t n) const {
  const size_t position = position_.index + n;
  const size_t count = position_.order.count();
  if (position < count) return position_.node->Entry(position_.order.At(position));
  const MemtableNode* const next = position_.node->link0.Next();
  if (next == nullptr) return nullptr;
  const SlotOrder order = next->order.load(std::memory_order_acquire);
  return position - count < order.count() ? next->Entry(order.At(position - count)) : nullptr;
}

void MemtableCursor::Show(const MemtableEntry* entry) {
  entry_ = entry;
  valid_ = entry != nullptr;
  if (!valid_) return;
  key_ = entry->key();
  value_ = entry->value_view();
}

}  // namespace bigtable
