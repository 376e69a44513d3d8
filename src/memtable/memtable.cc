#include "memtable/memtable.h"

#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "absl/base/macros.h"

#include "cache/budget_access.h"
#include "memtable/memtable_cursor.h"

namespace bigtable {

namespace {

// The second lesson has this many times the entries of the first. Later ones would stop the writer
// for longer than they save.
constexpr uint64_t kSecondLessonFactor = 8;

}  // namespace

std::atomic<uint64_t> Memtable::first_lesson = kFirstLesson;
std::atomic<uint64_t> Memtable::group_search = kGroupSearch;

Memtable::Memtable(std::shared_ptr<MemoryBudget> budget, std::string expected_prefix)
    : budget_(std::move(budget)),
      next_lesson_(has_numbers_ && Shortcuts().Has(Shortcut::kMemtableLearning) ? first_lesson_
                                                                                : UINT64_MAX),
      group_search_from_(has_numbers_ && Shortcuts().Has(Shortcut::kMemtableTogether)
                             ? group_search.load(std::memory_order_relaxed)
                             : UINT64_MAX) {
  lists_.push_back(
      std::make_unique<List>(KeyNumbers(std::move(expected_prefix)), NewNode(kMaxHeight)));
  list_.store(lists_.back().get(), std::memory_order_relaxed);
  splice_.fill(lists_.back()->head);
  idle_ = IdleBytes() + arena_.allocated();
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, static_cast<int64_t>(idle_));
}

Memtable::~Memtable() {
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables, -static_cast<int64_t>(charged_));
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, -static_cast<int64_t>(idle_));
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables,
                       -static_cast<int64_t>(kept_bytes_.load(std::memory_order_relaxed)));
  [[maybe_unused]] uint64_t kept_bytes = 0;
  for (const KeptMerge* kept = kept_.load(std::memory_order_acquire); kept != nullptr;) {
    kept_bytes += sizeof *kept + kept->state.capacity();
    delete std::exchange(kept, kept->next);
  }
  ABSL_ASSERT(kept_bytes == kept_bytes_.load(std::memory_order_relaxed) &&
              "what was charged for merges is their size");
}

// --- Any thread ---

void Memtable::KeepMerge(MergePlace* place, std::unique_ptr<KeptMerge> merge) const {
  // Reads that may not use each other's merges, with a deletion between their snapshots, replace
  // these in turn: not for ever, because a merge lives as long as the memtable.
  constexpr int kMostReplaced = 8;
  const KeptMerge* before = place->load(std::memory_order_acquire);
  if (before != nullptr) {
    if (before->replaced == kMostReplaced) return;
    merge->replaced = before->replaced + 1;
  }
  if (!place->compare_exchange_strong(before, merge.get(), std::memory_order_acq_rel)) return;
  KeptMerge* const kept = merge.release();
  const uint64_t bytes = sizeof *kept + kept->state.capacity();
  kept_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables, static_cast<int64_t>(bytes));
  // Other readers use it already. It is deleted with the memtable, which outlives this call.
  const KeptMerge* first = kept_.load(std::memory_order_relaxed);
  do {
    kept->next = first;
  } while (!kept_.compare_exchange_weak(first, kept, std::memory_order_acq_rel));
}

// --- Writer only ---

void Memtable::Add(std::string_view key, std::string_view value) {
  char* const copy = arena_.Allocate(value.size());
  if (!value.empty()) std::memcpy(copy, value.data(), value.size());
  Insert(key, copy, value.size());
}

void Memtable::AddPinned(std::string_view key, std::string_view value, const RefCounted* owner) {
  Pin(owner, value.size());
  Insert(key, value.data(), value.size());
}

void Memtable::Pin(const RefCounted* owner, size_t bytes) {
  if (owners_.empty() || owners_.back().get() != owner) owners_.emplace_back(owner);
  pinned_bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

void Memtable::NoteChange(const LoggedChange& change, const RefCounted* owner) {
  const auto copy = [this](std::string_view bytes) {
    char* const memory = arena_.Allocate(bytes.size());
    if (!bytes.empty()) std::memcpy(memory, bytes.data(), bytes.size());
    return std::string_view(memory, bytes.size());
  };
  ChangeList* changes = changes_.load(std::memory_order_relaxed);
  if (changes == nullptr) {
    changes = new (arena_.Allocate(sizeof(ChangeList))) ChangeList;
    changes_.store(changes, std::memory_order_release);
  }
  LoggedChange noted = change;
  noted.row = copy(change.row);
  if (owner == nullptr) {
    noted.operations = copy(change.operations);
  } else {
    Pin(owner, 0);  // entries count the values
  }
  changes->Add(noted, &arena_);
  ChargeArena();
}

void Memtable::Insert(std::string_view key, const char* value, size_t value_size) {
  // No reader uses the prefix before there is an entry.
  if (empty()) lists_.back()->numbers.FitPrefix(key);
  const List& list = *lists_.back();
  const Target target = TargetOf(list, key);
  // Reuse the node of splice_ if the key belongs there. Then no level has a node between
  // splice_[level] and the key.
  const Node* after = nullptr;
  const Node* const last = splice_[0];
  const bool is_behind =
      last == list.head || (last->Number(0) != target.number ? last->Number(0) < target.number
                                                             : last->Entry(0)->key() < target.key);
  Node* node = splice_[0];
  if (!is_behind || !has_splice_ || last->link0.NextBefore(target, &after) != nullptr) {
    node = FindNear(target);
    // A node that is full needs the nodes before it on all levels.
    if (node == nullptr ||
        node->order.load(std::memory_order_relaxed).count() == SlotOrder::kSlots) {
      Descend(list, target, [this](size_t level, Node* found) {
        server_writer.Assume("it is called in Insert");
        splice_[level] = found;
      });
      node = splice_[0];
    }
  }
  Entry* const entry = NewEntry(key, value, value_size);
  const SlotOrder order = node->order.load(std::memory_order_relaxed);
  const size_t position = node->CountBefore(order, target);
  ABSL_ASSERT((position == 0 || node->Entry(order.At(position - 1))->key() < key) &&
              (position == order.count() || key < node->Entry(order.At(position))->key()) &&
              "an entry is between its neighbours: numbers compare like keys");
  ABSL_ASSERT((node->link0.Next() == nullptr || key < node->link0.Next()->Entry(0)->key()) &&
              "the next node begins after the entry");
  if (order.count() < SlotOrder::kSlots) {
    node->Insert(position, target.number, entry);
  } else {
    SplitAndInsert(position, target.number, entry);
  }
  last_entry_ = entry;
  const uint64_t entries = entries_.load(std::memory_order_relaxed) + 1;
  entries_.store(entries, std::memory_order_release);
  if (entries == next_lesson_) [[unlikely]]
    Learn();
  ChargeArena();
}

void Memtable::ChargeArena() {
  const uint64_t allocated = arena_.allocated();
  if (allocated == charged_) return;
  ABSL_ASSERT(allocated > charged_ && "an arena never shrinks");
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables,
                       static_cast<int64_t>(allocated - charged_));
  if (charged_ == 0) ChargeIdle(IdleBytes());
  charged_ = allocated;
}

Memtable::Node* Memtable::FindNear(const Target& target) {
  constexpr int kFew = 4;
  Node* node = std::exchange(near_, nullptr);
  if (node == nullptr) return nullptr;
  if (node != lists_.back()->head && node->Number(0) >= target.number) return nullptr;
  // An entry after the target is enough. Then the next node need not be read.
  const SlotOrder order = node->order.load(std::memory_order_relaxed);
  if (const size_t below = node->CountBelow(order, target.number); below < order.count()) {
    const size_t slot = order.At(below);
    if (node->Number(slot) > target.number || target.key < node->Entry(slot)->key()) {
      return near_ = node;
    }
  }
  const Node* after = nullptr;
  for (int i = 0; i < kFew; ++i) {
    Node* const next = node->link0.NextBefore(target, &after);
    if (next == nullptr) return near_ = node;
    node = next;
  }
  return nullptr;
}

void Memtable::ChargeIdle(uint64_t bytes) {
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes,
                       static_cast<int64_t>(bytes) - static_cast<int64_t>(idle_));
  idle_ = bytes;
}

void Memtable::SplitAndInsert(size_t position, uint64_t number, Entry* entry) {
  constexpr size_t kSlots = SlotOrder::kSlots;
  Node* const left = splice_[0];
  const SlotOrder order = left->order.load(std::memory_order_relaxed);
  ABSL_ASSERT(order.count() == kSlots && "only a full node is split");
  // Keys that come in order leave full nodes. (Other keys at the end of a full node may be followed
  // by smaller ones: versions of one cell descend.)
  const bool is_in_order = position == kSlots && left->Entry(order.At(kSlots - 1)) == last_entry_;
  const size_t kept = is_in_order ? kSlots : (kSlots + 1) / 2;
  const size_t height = RandomHeight();
  Node* const right = NewNode(height);
  for (size_t i = kept; i < kSlots; ++i) {
    const size_t slot = order.At(i);
    right->numbers[i - kept].store(left->Number(slot), std::memory_order_relaxed);
    right->entries[i - kept].store(left->Entry(slot), std::memory_order_relaxed);
  }
  right->order.store(SlotOrder(kSlots - kept), std::memory_order_relaxed);
  const bool is_right = position > kept || kept == kSlots;
  if (is_right) right->Insert(position - kept, number, entry);

  const uint64_t right_number = right->Number(0);
  for (size_t level = 0; level < height; ++level) {
    right->At(level).CopyFrom(splice_[level]->At(level));
  }
  left->link0.Set(right, right_number);
  if (kept < kSlots) {
    left->order.store(order.WithFirst(kept), std::memory_order_release);
    left->splits.store(left->splits.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  if (!is_right) left->Insert(position, number, entry);

  for (size_t level = 1; level < height; ++level)
    splice_[level]->At(level).Set(right, right_number);
  lists_.back()->Raise(height);
  if (!is_right) return;
  for (size_t level = 0; level < height; ++level) splice_[level] = right;
}

Memtable::Entry* Memtable::NewEntry(std::string_view key, const char* value, size_t value_size) {
  const size_t place = Entry::HasMergePlace(key) ? sizeof(MergePlace) : 0;
  char* memory = arena_.Allocate(place + sizeof(Entry) + key.size());
  if (place > 0) new (memory) MergePlace(nullptr);
  memory += place;
  Entry* const entry = new (memory)
      Entry{value, static_cast<uint32_t>(value_size), static_cast<uint32_t>(key.size())};
  if (!key.empty()) std::memcpy(memory + sizeof(Entry), key.data(), key.size());
  return entry;
}

Memtable::Node* Memtable::NewNode(size_t height) {
  const size_t links = (height - 1) * sizeof(Node::Link);
  char* const memory = arena_.Allocate(links + sizeof(Node));
  for (size_t level = 1; level < height; ++level) {
    new (memory + (level - 1) * sizeof(Node::Link)) Node::Link;
  }
  return new (memory + links) Node;
}

// Half of the nodes of each level are also on the next. A link has the number of the next node's
// first key, so a search only touches nodes on its path. With a quarter, it touched more.
size_t Memtable::RandomHeight() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return 1 + static_cast<size_t>(std::countr_zero(random_ | uint64_t{1} << (kMaxHeight - 1)));
}

// --- Learning ---

// What is learned is used only if it proves good for as many entries again: rows with several
// columns each, for example, make groups that no other row falls into.
void Memtable::Learn() {
  const std::vector<Entry*> entries = EntriesInOrder();
  const auto count_equal = [&](const KeyNumbers& numbers) {
    size_t equal = 0;
    uint64_t before = numbers.Of(entries[0]->key());
    for (size_t i = 1; i < entries.size(); ++i) {
      const uint64_t number = numbers.Of(entries[i]->key());
      ABSL_ASSERT(before <= number && "numbers ascend with the keys");
      equal += number == before ? 1 : 0;
      before = number;
    }
    return equal;
  };
  const size_t equal = count_equal(lists_.back()->numbers);
  if (!learned_.has_value() && equal >= entries.size() / 4) {
    std::vector<std::string_view> keys;
    keys.reserve(entries.size());
    for (const Entry* entry : entries) keys.push_back(entry->key());
    const bool count_up = last_entry_ == entries.back();
    learned_.emplace(lists_.back()->numbers.prefix(), keys, count_up, &arena_);
    next_lesson_ *= 2;
    return;
  }
  if (learned_.has_value() && 4 * count_equal(*learned_) < equal) UseLearned(entries);
  learned_.reset();
  next_lesson_ = lessons_left_-- > 0 ? kSecondLessonFactor * first_lesson_ : UINT64_MAX;
}

std::vector<Memtable::Entry*> Memtable::EntriesInOrder() const {
  std::vector<Entry*> entries;
  entries.reserve(this->entries());
  for (Node* node = lists_.back()->head; node != nullptr; node = node->link0.Next()) {
    const SlotOrder order = node->order.load(std::memory_order_relaxed);
    for (size_t i = 0; i < order.count(); ++i) entries.push_back(node->Entry(order.At(i)));
  }
  ABSL_ASSERT(entries.size() == this->entries() && "every entry is in one node");
  return entries;
}

// Makes a new list, with room in each node. The old list stays as it is for its readers. Its nodes
// count one split more, which makes cursors search their positions again.
void Memtable::UseLearned(std::span<Entry* const> entries) {
  constexpr size_t kFilled = 10;
  lists_.push_back(std::make_unique<List>(*std::move(learned_), NewNode(kMaxHeight)));
  List& list = *lists_.back();
  splice_.fill(list.head);  // the last node of each level
  near_ = nullptr;
  for (size_t begin = 0; begin < entries.size(); begin += kFilled) {
    const size_t count = std::min(kFilled, entries.size() - begin);
    const size_t height = RandomHeight();
    Node* const node = NewNode(height);
    for (size_t i = 0; i < count; ++i) {
      Entry* const entry = entries[begin + i];
      node->numbers[i].store(list.numbers.Of(entry->key()), std::memory_order_relaxed);
      node->entries[i].store(entry, std::memory_order_relaxed);
    }
    node->order.store(SlotOrder(count), std::memory_order_relaxed);
    for (size_t level = 0; level < height; ++level) {
      splice_[level]->At(level).Set(node, node->Number(0));
      splice_[level] = node;
    }
    list.Raise(height);
  }
  const List& old = *list_.load(std::memory_order_relaxed);
  list_.store(&list, std::memory_order_release);
  for (Node* node = old.head; node != nullptr; node = node->link0.Next()) {
    node->splits.store(node->splits.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
}

// --- Searches ---

template <typename Note>
Memtable::Node* Memtable::Descend(const List& list, const Target& target, Note note) {
  Node* node = list.head;
  const Node* after = nullptr;
  for (size_t level = list.height.load(std::memory_order_acquire); level-- > 0;) {
    while (Node* const next = node->At(level).NextBefore(target, &after)) node = next;
    note(level, node);
  }
  node->PrefetchNumbers();
  return node;
}

Memtable::Position Memtable::FindIn(const List& list, Node* node, const Target& target) {
  const Node* after = nullptr;
  for (;;) {
    Position position{.list = &list,
                      .node = node,
                      .order = {},
                      .splits = node->splits.load(std::memory_order_acquire)};
    position.order = node->order.load(std::memory_order_acquire);
    if (Node* const next = node->link0.NextBefore(target, &after)) {
      node = next;
      continue;
    }
    position.index = node->CountBefore(position.order, target);
    if (node->splits.load(std::memory_order_acquire) == position.splits) return position;
  }
}

Memtable::Position Memtable::Find(std::string_view key) const {
  ABSL_ASSERT(!empty() && "the numbers of keys depend on the first entry");
  for (;;) {
    const List& list = this->list();
    const Target target = TargetOf(list, key);
    const Position found = FindIn(list, Descend(list, target, [](size_t, Node*) {}), target);
    // A position in a list that is replaced meanwhile would seem current for ever.
    if (&list == &this->list()) [[likely]]
      return found;
  }
}

Memtable::Position Memtable::FindAgain(const Position& before, std::string_view key) const {
  if (before.list != &list()) [[unlikely]]
    return Find(key);
  return FindIn(*before.list, before.node, TargetOf(*before.list, key));
}

Memtable::Entry* Memtable::Settle(Position* position, std::string_view key) const {
  for (;;) {
    if (position->index < position->order.count()) {
      if (Entry* const entry = position->Get()) return entry;
    } else {
      position->node = position->node->link0.Next();
      if (position->node == nullptr) return nullptr;
    }
    *position = FindAgain(*position, key);
  }
}

Memtable::Position Memtable::FindLast() const {
  for (;;) {
    const List& list = this->list();
    Node* node = list.head;
    for (size_t level = list.height.load(std::memory_order_acquire); level-- > 0;) {
      while (Node* const next = node->At(level).Next()) node = next;
    }
    Position last{.list = &list, .node = node, .order = {}};
    do {
      last.node = node;
      last.splits = node->splits.load(std::memory_order_acquire);
      last.order = node->order.load(std::memory_order_acquire);
      node = node->link0.Next();
    } while (node != nullptr);
    last.index = last.order.count() - 1;
    if (&list == &this->list()) [[likely]]
      return last;
  }
}

std::optional<Memtable::KeyRange> Memtable::Keys() const {
  if (empty()) return std::nullopt;
  Position first = Find({});
  KeyRange range{.smallest = Settle(&first, {})->key(), .largest = {}};
  for (;;) {
    if (const Entry* const last = FindLast().Get()) {
      range.largest = last->key();
      return range;
    }
  }
}

std::vector<Memtable::Sample> Memtable::SampleKeys(size_t n) const {
  std::vector<Sample> samples;
  if (entries() <= n) {
    MemtableCursor cursor(this);  // its keys stay valid: they are those of the entries
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
      samples.push_back({cursor.key(), cursor.key().size() + cursor.value().size()});
    }
    return samples;
  }
  const List& list = this->list();
  for (size_t level = list.height.load(std::memory_order_acquire); level-- > 0;) {
    samples.assign(1, {Keys()->smallest});
    for (Node* node = list.head; (node = node->At(level).Next()) != nullptr;) {
      const std::string_view first = node->Entry(0)->key();
      // The first node of all may be empty. Then the smallest key is that of the next.
      if (first != samples[0].key) samples.push_back({first});
    }
    if (samples.size() >= n) break;
  }
  for (Sample& sample : samples) sample.bytes = bytes() / samples.size();
  return samples;
}

}  // namespace bigtable
