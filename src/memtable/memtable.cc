#include "memtable/memtable.h"

#include <cstring>
#include <new>

#include "base/compare.h"
#include "base/prefetch.h"

namespace bigtable {

// The links of the levels above the lowest lie before the node, and its key behind it:
//   next[height-1] ... next[1] | Node (next[0] last) | key
struct Memtable::Node {
  uint64_t prefix;
  const char* value;
  uint32_t value_size;
  uint32_t key_size;
  std::atomic<Node*> next0;

  std::atomic<Node*>& Link(int level) {
    return level == 0 ? next0 : reinterpret_cast<std::atomic<Node*>*>(this)[-level];
  }
  Node* Next(int level) { return Link(level).load(std::memory_order_acquire); }
  std::string_view key() const {
    return {reinterpret_cast<const char*>(this) + sizeof(Node), key_size};
  }
  std::string_view value_view() const { return {value, value_size}; }

  bool Before(std::string_view target, uint64_t target_prefix) const {
    return prefix != target_prefix ? prefix < target_prefix : key() < target;
  }
};

Memtable::Memtable(std::shared_ptr<MemoryBudget> budget)
    : budget_(std::move(budget)), head_(NewNode({}, nullptr, 0, kMaxHeight)) {
  place_.fill(head_);
}

Memtable::~Memtable() {
  budget_->Charge(MemoryBudget::Use::kMemtables, -static_cast<int64_t>(charged_));
}

void Memtable::Add(std::string_view key, std::string_view value) {
  char* const copy = arena_.Allocate(value.size());
  if (!value.empty()) std::memcpy(copy, value.data(), value.size());
  Insert(key, copy, value.size());
}

void Memtable::AddPinned(std::string_view key, std::string_view value,
                         const Ref<const RefCounted>& owner) {
  if (owners_.empty() || owners_.back().get() != owner.get()) owners_.push_back(owner);
  pinned_bytes_.fetch_add(value.size(), std::memory_order_relaxed);
  Insert(key, value.data(), value.size());
}

void Memtable::Insert(std::string_view key, const char* value, size_t value_size) {
  const int height = RandomHeight();
  Node* const node = NewNode(key, value, value_size, height);
  FindPlace(key, node->prefix);
  if (height > height_.load(std::memory_order_relaxed)) {
    // A reader that sees the new height early finds the head's null links there: harmless.
    height_.store(height, std::memory_order_relaxed);
  }
  for (int level = 0; level < height; ++level) {
    Node* const before = place_[level];
    node->Link(level).store(before->Link(level).load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
    before->Link(level).store(node, std::memory_order_release);
    place_[level] = node;
  }
  entries_.fetch_add(1, std::memory_order_release);
  if (const uint64_t allocated = arena_.allocated(); allocated != charged_) {
    budget_->Charge(MemoryBudget::Use::kMemtables, static_cast<int64_t>(allocated - charged_));
    charged_ = allocated;
  }
}

Memtable::Node* Memtable::NewNode(std::string_view key, const char* value, size_t value_size,
                                  int height) {
  const size_t links = static_cast<size_t>(height - 1) * sizeof(std::atomic<Node*>);
  char* const memory = arena_.Allocate(links + sizeof(Node) + key.size());
  for (int level = 1; level < height; ++level) {
    new (memory + (level - 1) * sizeof(std::atomic<Node*>)) std::atomic<Node*>(nullptr);
  }
  Node* const node =
      new (memory + links) Node{KeyNumber(key), value, static_cast<uint32_t>(value_size),
                                static_cast<uint32_t>(key.size()), nullptr};
  if (!key.empty()) std::memcpy(memory + links + sizeof(Node), key.data(), key.size());
  return node;
}

int Memtable::RandomHeight() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  // A quarter of the nodes of each level are also on the next.
  const int height = 1 + __builtin_ctzll(random_ | uint64_t{1} << (2 * (kMaxHeight - 1))) / 2;
  return height;
}

void Memtable::FindPlace(std::string_view key, uint64_t prefix) {
  // The place of the last insertion serves if the key belongs right behind it: then on every level
  // nothing lies between place_[level] and the key either.
  Node* const last = place_[0];
  Node* const after = last->Link(0).load(std::memory_order_relaxed);
  if ((last == head_ || last->Before(key, prefix)) &&
      (after == nullptr || !after->Before(key, prefix))) {
    return;
  }
  Node* node = head_;
  for (int level = kMaxHeight - 1; level >= 0; --level) {
    Node* next;
    while ((next = node->Link(level).load(std::memory_order_relaxed)) != nullptr &&
           next->Before(key, prefix)) {
      node = next;
    }
    place_[level] = node;
  }
}

Memtable::Node* Memtable::FindBefore(std::string_view key) const {
  const uint64_t prefix = KeyNumber(key);
  Node* node = head_;
  Node* known_after = nullptr;  // a node that is known to be at or after the key
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    Node* next;
    while ((next = node->Next(level)) != known_after && next != nullptr &&
           next->Before(key, prefix)) {
      node = next;
    }
    known_after = next;
  }
  return node;
}

Memtable::Node* Memtable::FindAtOrAfter(std::string_view key) const {
  const uint64_t prefix = KeyNumber(key);
  // A node linked since FindBefore may come between: step over those before the key.
  Node* node = FindBefore(key)->Next(0);
  while (node != nullptr && node->Before(key, prefix)) node = node->Next(0);
  return node;
}

Memtable::Node* Memtable::FindLast() const {
  Node* node = head_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    for (Node* next; (next = node->Next(level)) != nullptr;) node = next;
  }
  return node;
}

void MemtableCursor::SeekToFirst() { Show(memtable_->head_->Next(0)); }

// Neighbours in key order lie anywhere in memory: each is asked for two steps ahead, and its value
// one step ahead, when it is known where that is.
void MemtableCursor::Next() {
  Show(node_->Next(0));
  if (!valid_) return;
  Memtable::Node* const following = node_->Next(0);
  if (following == nullptr) return;
  Prefetch(following->value_view());
  PrefetchLine(following->Next(0));
}

void MemtableCursor::Show(Memtable::Node* node) {
  node_ = node;
  valid_ = node != nullptr;
  if (!valid_) return;
  key_ = node->key();
  value_ = node->value_view();
}

}  // namespace bigtable
