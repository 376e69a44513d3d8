// The sorted buffer of recent writes of one locality group of one tablet (section 5.3 of the
// paper). A value in a mapped segment of the commit log is not copied: the memtable points to it,
// and pins the segment.
//
// One thread writes at a time (the leader of the group commit). Any number of threads read
// concurrently, without locks, and no thread waits for another. The memtable is a skip list whose
// nodes hold up to fifteen entries each (memtable/memtable_node.h). So a search waits for memory a
// few times, instead of once or twice for each level of a skip list of single entries. Keys are
// compared as numbers, which are adjacent in memory (memtable/key_numbers.h). The writer remembers
// the position of its last insertion: keys that come in order are inserted without a search from
// the top, and fill their nodes.
//
// Where many keys have the same number, better numbers are learned from the first entries, and the
// writer makes a new list of nodes with these numbers and the same entries. After that it adds
// entries only to the new list. A reader that is in the list before continues there: it misses only
// entries that are added after the change, and a cursor looks for these, too, when it moves on.
#ifndef BIGTABLE_MEMTABLE_MEMTABLE_H_
#define BIGTABLE_MEMTABLE_MEMTABLE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "bigtable/memory_budget.h"

#include "base/arena.h"
#include "base/entry_cursor.h"
#include "base/mutex.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/shortcuts.h"
#include "base/thread_roles.h"
#include "memtable/change_list.h"
#include "memtable/key_numbers.h"
#include "memtable/memtable_node.h"
#include "monitoring/tablet_counters.h"

namespace bigtable {

// The bytes of keys and values that each column family has in a memtable, so that the memory of the
// memtable can be charged to families (tablet/storage_usage.h).
//
// Thread-safe, except for what the writer counts.
class FamilyBytes {
 public:
  FamilyBytes() = default;
  FamilyBytes(const FamilyBytes&) = delete;
  FamilyBytes& operator=(const FamilyBytes&) = delete;

  // The count of a family, which the memtable's writer adds to. Valid as long as this. Cost: an
  // allocation, once for each family that is written.
  WriterCount* Of(const std::string& family) {
    MutexLock lock(&mutex_);
    return &counts_[family];
  }
  std::vector<std::pair<std::string, uint64_t>> Read() const {
    MutexLock lock(&mutex_);
    std::vector<std::pair<std::string, uint64_t>> counts;
    counts.reserve(counts_.size());
    for (const auto& [family, count] : counts_) counts.emplace_back(family, count.Read());
    return counts;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, WriterCount> counts_ ABSL_GUARDED_BY(mutex_);
};

class Memtable final : public RefCounted {
 public:
  // Charges `budget` with its memory until it is destroyed. `expected_prefix` is an expected prefix
  // of the keys: a guess, which makes searches faster if it is right.
  explicit Memtable(std::shared_ptr<MemoryBudget> budget, std::string expected_prefix = {});

  // --- For the writer ---

  // Numbers are learned from so many entries, and a second time from eight times as many.
  static constexpr uint64_t kFirstLesson = 256;
  // The places of several insertions are searched together in memtables of at least so many
  // entries (memtable/group_search.h), and at least one. Smaller ones stay in the nearest caches.
  static constexpr uint64_t kGroupSearch = 2'000;
  // For tests: other numbers, for memtables that are created after the call.
  static void SetFirstLesson(uint64_t n) { first_lesson.store(n, std::memory_order_relaxed); }
  static void SetGroupSearch(uint64_t n) { group_search.store(n, std::memory_order_relaxed); }

  // Adds an entry. `key` must be new: no entry has the same row, column, timestamp and version.
  // Copies the value.
  void Add(std::string_view key, std::string_view value)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The same, but `value` is in `owner`, to which the memtable keeps a reference.
  void AddPinned(std::string_view key, std::string_view value, const RefCounted* owner)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Notes a change of the tablet, beside the entries. If `owner` is not null, the operations are in
  // it and are not copied.
  void NoteChange(const LoggedChange& change, const RefCounted* owner)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Records that an entry has this sequence number. Numbers ascend, except when a sorted log is
  // replayed, where they come in any order.
  void RecordSequence(SequenceNumber sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    const SequenceNumber first = first_sequence();
    if (first == 0 || sequence < first) {
      first_sequence_.store(sequence, std::memory_order_relaxed);
    }
    last_sequence_ = std::max(last_sequence_, sequence);
  }
  // Records that an entry is a deletion, which was written at this time: microseconds since 1970.
  void RecordDeletion(int64_t time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    if (oldest_deletion_ == 0 || time < oldest_deletion_) oldest_deletion_ = time;
  }
  // Records that a batch which has an entry in here ends with this sequence number, in here or in
  // another memtable.
  void RecordBatchEnd(SequenceNumber last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    batch_end_ = std::max(batch_end_, last);
  }

  // --- Any thread ---

  // Keeps a merge at the place of one of its contributions (base/entry_cursor.h).
  void KeepMerge(MergePlace* place, std::unique_ptr<KeptMerge> merge) const;

  bool empty() const { return entries_.load(std::memory_order_acquire) == 0; }
  // The changes that it has noted; null: none. Valid as long as the memtable.
  const ChangeList* changes() const { return changes_.load(std::memory_order_acquire); }
  // Whether there is nothing to flush.
  bool is_unused() const { return empty() && changes() == nullptr; }
  uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }
  // Of its own memory, and of the values outside it that it pins.
  uint64_t bytes() const {
    return arena_.allocated() + pinned_bytes_.load(std::memory_order_relaxed) +
           kept_bytes_.load(std::memory_order_relaxed);
  }
  // What its families have of that, as far as the writer has counted it.
  FamilyBytes* families() { return &families_; }
  const FamilyBytes& families() const { return families_; }
  // Its smallest and its largest key; nullopt if it is empty. They are valid as long as the
  // memtable.
  struct KeyRange {
    std::string_view smallest;
    std::string_view largest;
  };
  std::optional<KeyRange> Keys() const;
  // Keys in order, from the smallest on, and the bytes of the entries from each to the next. With
  // at most `n` entries, each is there. With more, they are the first keys of nodes, of all or of
  // `n` to some 2 * `n` that are chosen by chance, and parts between them count as equal. Valid as
  // long as the memtable.
  struct Sample {
    std::string_view key;
    uint64_t bytes = 0;
  };
  std::vector<Sample> SampleKeys(size_t n) const;
  // The smallest sequence number in it; 0 while it is empty.
  SequenceNumber first_sequence() const { return first_sequence_.load(std::memory_order_relaxed); }
  // The largest. Only for the writer, or once the memtable is immutable.
  SequenceNumber last_sequence() const { return last_sequence_; }
  // The time of the oldest deletion in it; 0: it has none. Only for the writer, or once the
  // memtable is immutable.
  int64_t oldest_deletion() const { return oldest_deletion_; }
  // The last mutation of the batches that have entries in here, or of those in here if that is
  // later. What is kept of this memtable is kept with all mutations up to that one. Only for the
  // writer, or once the memtable is immutable.
  SequenceNumber last_together() const { return std::max(last_sequence_, batch_end_); }

 private:
  friend class MemtableCursor;
  friend class GroupSearch;
  using Entry = MemtableEntry;
  using Node = MemtableNode;
  using Target = MemtableTarget;
  static constexpr size_t kMaxHeight = 18;

  static std::atomic<uint64_t> first_lesson;
  static std::atomic<uint64_t> group_search;

  // Nodes that are in order by these numbers.
  struct alignas(64) List {
    KeyNumbers numbers;
    Node* const head;
    std::atomic<size_t> height{1};

    List(KeyNumbers n, Node* first) : numbers(std::move(n)), head(first) {}
    // Writer only.
    void Raise(size_t node_height) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
      if (node_height <= height.load(std::memory_order_relaxed)) return;
      height.store(node_height, std::memory_order_release);
    }
  };

  // A position among the entries of a node, as they were when it was found.
  struct Position {
    const List* list = nullptr;
    Node* node = nullptr;
    SlotOrder order;
    uint64_t splits = 0;
    size_t index = 0;

    // Whether the node still has these entries in these slots, and no others.
    bool IsCurrent() const {
      return node->order.load(std::memory_order_acquire) == order &&
             node->splits.load(std::memory_order_acquire) == splits;
    }
    // The entry at the position, which is below order.count(); null if the node was split since.
    Entry* Get() const {
      Entry* const entry = node->Entry(order.At(index));
      return node->splits.load(std::memory_order_acquire) == splits ? entry : nullptr;
    }
  };

  ~Memtable() override;

  // --- Writer only ---

  void Insert(std::string_view key, const char* value, size_t value_size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The last node that begins before the target, if near_ begins before it too, and is at most a
  // few nodes away. Then near_ becomes this node. Otherwise null, and near_ is given up.
  Node* FindNear(const Target& target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Whether a key with this number is likely to be inserted at splice_.
  bool IsNearLast(uint64_t number) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    const Node* const last = splice_[0];
    return last != list().head && last->Number(0) <= number &&
           number <= last->link0.number.load(std::memory_order_relaxed);
  }
  // Keeps a reference to what values are in.
  void Pin(const RefCounted* owner, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Charges what the arena has allocated since the last call.
  void ChargeArena() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void ChargeIdle(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Moves the upper half of splice_[0], which is full, to a new node, and inserts the entry.
  void SplitAndInsert(size_t position, uint64_t number, Entry* entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  Entry* NewEntry(std::string_view key, const char* value, size_t value_size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  Node* NewNode(size_t height) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  size_t RandomHeight() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Learns numbers from the entries, or decides whether to use what was learned, when it is time.
  void Learn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  std::vector<Entry*> EntriesInOrder() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void UseLearned(std::span<Entry* const> entries) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Memory outside the arena, without some hundred bytes of a learned list.
  uint64_t IdleBytes() const {
    return sizeof *this + sizeof(List) + lists_[0]->numbers.prefix().capacity();
  }

  // --- Searches. Require a memtable that is not empty. ---

  const List& list() const { return *list_.load(std::memory_order_acquire); }
  Target TargetOf(const List& list, std::string_view key) const {
    return {key, has_numbers_ ? list.numbers.Of(key) : 0};
  }
  // Descends to the last node that begins before the target, and calls note(level, node) with the
  // last such node of each level.
  template <typename Note>
  static Node* Descend(const List& list, const Target& target, Note note);
  // The position of the first entry at or after the target in `node`, or in the last node after it
  // that begins before the target. If that node has no such entry, the index is the number of its
  // entries.
  static Position FindIn(const List& list, Node* node, const Target& target);
  // In the current list.
  Position Find(std::string_view key) const;
  // The position of `key` after a position in the same list or in one before.
  Position FindAgain(const Position& before, std::string_view key) const;
  // The entry at the position of the first entry at or after `key`, or the next one if the node has
  // no such entry; null if there is none. Updates the position to that of the entry.
  Entry* Settle(Position* position, std::string_view key) const;
  // The position of the last entry at the time of the call.
  Position FindLast() const;

  // What readers of every search need, apart from what the writer changes with every entry.
  const std::shared_ptr<MemoryBudget> budget_;
  const bool has_numbers_ = Shortcuts().Has(Shortcut::kMemtableNumbers);  // else all are 0
  const bool has_splice_ = Shortcuts().Has(Shortcut::kMemtableSplice);
  std::atomic<List*> list_ = nullptr;  // the current one

  alignas(64) Arena arena_;
  uint64_t charged_ = 0;
  uint64_t idle_ = 0;  // charged while it is empty; later only for memory outside the arena
  std::vector<std::unique_ptr<List>> lists_;  // the last one is current
  // Writer only.
  const uint64_t first_lesson_ = first_lesson.load(std::memory_order_relaxed);
  uint64_t next_lesson_ ABSL_GUARDED_BY(server_writer);
  int lessons_left_ ABSL_GUARDED_BY(server_writer) = 1;
  std::optional<KeyNumbers> learned_ ABSL_GUARDED_BY(server_writer);  // not in use yet
  // The node of the last insertion, and on each level the last node at or before it. But not of one
  // that began at near_: that adds no node, so nothing comes between these.
  std::array<Node*, kMaxHeight> splice_ ABSL_GUARDED_BY(server_writer);
  const Entry* last_entry_ ABSL_GUARDED_BY(server_writer) = nullptr;  // inserted last
  // A node of the current list where insertions are expected (GroupSearch::Use). May be null.
  Node* near_ ABSL_GUARDED_BY(server_writer) = nullptr;
  const uint64_t group_search_from_;
  uint64_t random_ ABSL_GUARDED_BY(server_writer) = 0x9e3779b97f4a7c15;
  std::vector<Ref<const RefCounted>> owners_ ABSL_GUARDED_BY(server_writer);
  SequenceNumber last_sequence_ = 0;
  int64_t oldest_deletion_ = 0;
  SequenceNumber batch_end_ = 0;
  FamilyBytes families_;
  std::atomic<ChangeList*> changes_{nullptr};  // in the arena

  std::atomic<SequenceNumber> first_sequence_{0};
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> pinned_bytes_{0};
  // All merges that readers have kept, and their bytes.
  mutable std::atomic<const KeptMerge*> kept_{nullptr};
  mutable std::atomic<uint64_t> kept_bytes_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_MEMTABLE_H_
