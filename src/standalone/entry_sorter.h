// Encoded entries in memory, added in any order, then sorted. One thread at a time; what is sorted
// can be read by any.
#ifndef BIGTABLE_STANDALONE_ENTRY_SORTER_H_
#define BIGTABLE_STANDALONE_ENTRY_SORTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "base/arena.h"
#include "base/prefetch.h"

namespace bigtable {

class EntrySorter {
 public:
  class Entry {
   public:
    std::string_view key() const { return {at_ + 2 * sizeof(uint32_t), Size(0)}; }
    std::string_view value() const { return {key().data() + Size(0), Size(1)}; }

    // Into the cache of the processor. In sorted order, entries are anywhere in memory.
    BIGTABLE_ONLY_PREFETCHES void Prefetch() const {
      constexpr size_t kUsualSize = 192;
      bigtable::Prefetch({at_, kUsualSize});
    }

   private:
    friend class EntrySorter;
    uint32_t Size(size_t i) const;

    uint64_t number_ = 0;       // of the part of the key behind what all keys have in common
    const char* at_ = nullptr;  // two sizes, the key, the value
  };

  EntrySorter() = default;
  EntrySorter(const EntrySorter&) = delete;
  EntrySorter& operator=(const EntrySorter&) = delete;

  // Copies an entry. No two have the same key.
  void Add(std::string_view key, std::string_view value);
  bool empty() const { return entries_.empty(); }
  // Of memory.
  uint64_t bytes() const { return arena_->allocated() + entries_.capacity() * sizeof(Entry); }
  // Frees everything.
  void Clear();

  // Sorts them, with up to so many threads. Afterwards nothing is added. Returns where parts of
  // about the same size begin, the first one at 0, no row in two of them: up to `threads`, so that
  // as many threads can each write a part.
  absl::Status Sort(int threads, std::vector<size_t>* parts);
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  // Few entries are sorted by one thread.
  static constexpr size_t kLeastForThread = 1 << 14;

  size_t CommonSize() const;
  std::vector<size_t> DivideByRows(int parts);

  std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
  std::vector<Entry> entries_;
};

}  // namespace bigtable

#endif  // BIGTABLE_STANDALONE_ENTRY_SORTER_H_
