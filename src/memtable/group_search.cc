#include "memtable/group_search.h"

#include "absl/base/macros.h"

#include "base/prefetch.h"

namespace bigtable {

void GroupSearch::Add(Memtable* memtable, std::string_view key) {
  ABSL_ASSERT(count_ < kMost && "a group has at most so many keys");
  Search& search = searches_[count_++];
  search.memtable = nullptr;
  // An empty memtable is always too small: the numbers of keys depend on the first entry.
  if (memtable->entries() < memtable->group_search_from_) return;
  const Memtable::List& list = memtable->list();
  const uint64_t number = list.numbers.Of(key);
  if (memtable->IsNearLast(number)) return;
  search = {memtable, &list, list.head, list.height.load(std::memory_order_relaxed) - 1, number};
}

// The key of the first entry whose number is not smaller will be compared, if it has the same row.
BIGTABLE_ONLY_PREFETCHES inline void GroupSearch::PrefetchFirstBehind(const Search& search) {
  const MemtableNode& node = *search.node;
  const SlotOrder order = node.order.load(std::memory_order_relaxed);
  const size_t below = node.CountBelow(order, search.number);
  if (below == order.count()) return;
  const char* const entry = reinterpret_cast<const char*>(node.Entry(order.At(below)));
  PrefetchLine(entry);
  PrefetchLine(entry + 48);
}

void GroupSearch::Run() {
  std::array<Search*, kMost> left;
  size_t count = 0;
  for (size_t i = 0; i < count_; ++i) {
    if (searches_[i].memtable != nullptr) left[count++] = &searches_[i];
  }
  while (count > 0) {
    for (size_t i = 0; i < count;) {
      if (Step(left[i])) {
        ++i;
      } else {
        left[i] = left[--count];
      }
    }
  }
  for (size_t i = 0; i < count_; ++i) {
    if (searches_[i].memtable != nullptr) PrefetchFirstBehind(searches_[i]);
  }
}

void GroupSearch::Use(size_t i) const {
  ABSL_ASSERT(i < count_ && "the key was added");
  const Search& search = searches_[i];
  // An insertion of the group may have replaced the list (Memtable::UseLearned).
  if (search.memtable == nullptr || &search.memtable->list() != search.list) return;
  search.memtable->near_ = search.node;
}

// Keys are compared by their numbers only, so the search may end before the node of the key.
bool GroupSearch::Step(Search* search) {
  MemtableNode* const node = search->node;
  for (;;) {
    const MemtableNode::Link& link = node->At(search->level);
    if (link.number.load(std::memory_order_relaxed) < search->number) {
      MemtableNode* const next = link.Next();
      PrefetchLine(&next->At(search->level));
      search->node = next;
      return true;
    }
    if (search->level == 0) break;
    --search->level;
  }
  const SlotOrder order = node->order.load(std::memory_order_relaxed);
  node->PrefetchNumbers();
  if (order.count() < SlotOrder::kSlots) {
    PrefetchLine(&node->entries[order.At(order.count())]);
  } else {
    PrefetchLine(&node->entries[6]);
    PrefetchLine(&node->entries[14]);
  }
  return false;
}

}  // namespace bigtable
