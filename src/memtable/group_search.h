// Finds the places of several insertions into memtables at once, so that their waits for memory
// overlap.
//
// A search in a memtable that is larger than the processor's caches waits for memory at almost each
// node, and knows the next node only then. The searches of a group of writes do not depend on each
// other: here they take turns. Each goes on to the next node, asks for its memory, and lets the
// others go on meanwhile. An insertion then begins at the node where its search has ended, and so
// finds the same place as from the top.
//
// Only for the writer of the memtables.
#ifndef BIGTABLE_MEMTABLE_GROUP_SEARCH_H_
#define BIGTABLE_MEMTABLE_GROUP_SEARCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/prefetch.h"
#include "base/thread_roles.h"
#include "memtable/memtable.h"

namespace bigtable {

class GroupSearch {
 public:
  // As many keys are worthwhile at once: each needs some ten cache lines.
  static constexpr size_t kMost = 16;

  // Adds a key that will be inserted into the memtable, or the beginning of such keys. At most
  // kMost since the last Clear. Nothing is searched if the memtable is small, or the key is likely
  // to follow the last one.
  void Add(Memtable* memtable, std::string_view key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void Run() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The next insertions into the memtable of key `i`, which still exists, begin where the key's
  // search has ended, if they are near.
  void Use(size_t i) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void Clear() { count_ = 0; }

 private:
  struct Search {
    Memtable* memtable;  // null: nothing is searched
    const Memtable::List* list;
    MemtableNode* node;
    size_t level;
    uint64_t number;
  };
  // Continues to the next node that may not be in the caches. False: the search has ended.
  static bool Step(Search* search);
  BIGTABLE_ONLY_PREFETCHES static void PrefetchFirstBehind(const Search& search);

  std::array<Search, kMost> searches_;
  size_t count_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_GROUP_SEARCH_H_
