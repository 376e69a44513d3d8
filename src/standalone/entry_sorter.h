// Encoded entries in memory, added in any order, then sorted. One thread at a time; what is sorted
// can be read by any.
#ifndef BIGTABLE_STANDALONE_ENTRY_SORTER_H_
#define BIGTABLE_STANDALONE_ENTRY_SORTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
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
    friend class SortedEntries;
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
  uint64_t bytes() const { return arena_.allocated() + entries_.capacity() * sizeof(Entry); }

  // Afterwards nothing is added.
  void Sort();
  // In order, after Sort.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  friend class SortedEntries;

  // What all keys begin with.
  size_t CommonSize() const;
  void Number(size_t common);

  Arena arena_;
  std::vector<Entry> entries_;
  size_t common_ = 0;  // of which the numbers are, after Sort
};

// Several of them that are sorted, as one sequence. Few, as each step looks at all. Any thread.
class SortedEntries {
 public:
  // They outlive this.
  explicit SortedEntries(std::vector<EntrySorter*> sorted);

  // Row prefixes at which up to `parts` parts of about the same size begin; the first is empty.
  std::vector<std::string_view> DivideByRows(int parts) const;
  // Calls `use` for each entry in [begin, end), in order, until it returns an error. An empty end
  // is none.
  absl::Status Read(std::string_view begin, std::string_view end,
                    absl::FunctionRef<absl::Status(const EntrySorter::Entry&)> use) const;

 private:
  std::vector<EntrySorter*> sorted_;  // none is empty
};

}  // namespace bigtable

#endif  // BIGTABLE_STANDALONE_ENTRY_SORTER_H_
