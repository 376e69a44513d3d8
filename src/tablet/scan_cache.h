// The scan cache (section 6 of the paper): rows as they came out of the merge of memtables and
// SSTables, for those who read the same rows again. It shares the memory and the replacement of the
// block cache.
//
// A row is kept with the moment as of which it was read, and is good for every later moment as long
// as nothing was written to it since. To know that, the last write is noted not for each row but
// for each of some thousands of groups of rows, by the row's hash: so a write costs one store, and
// nothing has to be looked for or removed. What was written into the group by others makes a cached
// row look stale at worst.
//
// Why no read sees a stale row: a write is noted before it becomes visible. A reader takes its
// moment first, and only then looks at the note; what was cached as of a moment before the noted
// write is not used. And a reader that puts a row here, as of its own moment, does not overtake a
// write either: the write is after that moment, and is noted before anybody can miss it.
//
// Thread-safe.
#ifndef BIGTABLE_TABLET_SCAN_CACHE_H_
#define BIGTABLE_TABLET_SCAN_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/types/span.h"

#include "bigtable/memory_budget.h"
#include "bigtable/row.h"

#include "base/checksum.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/stripe.h"
#include "cache/block.h"
#include "tablet/table_layout.h"

namespace bigtable {

// A row in the cache, until its block goes. The cells are read one after another.
class CachedRow {
 public:
  // Requires bytes that MakeCachedRow made.
  explicit CachedRow(std::string_view bytes);

  SequenceNumber as_of() const { return as_of_; }
  std::string_view row() const { return row_; }

  // False at the end. The family is the layout's, the rest lies in the block.
  bool Next(const TableLayout& layout, Cell* cell);

 private:
  SequenceNumber as_of_;
  std::string_view row_;
  const char* next_;
  const char* end_;
};

// Null if the row is too large to be worth it.
Ref<Block> MakeCachedRow(const TableLayout& layout, SequenceNumber as_of, std::string_view row,
                         absl::Span<const Cell> cells);

class ScanCache {
 public:
  // What a read of a moment may use.
  struct Moment {
    SequenceNumber sequence = 0;
    bool is_snapshot = false;  // nothing that was written later
  };

  explicit ScanCache(std::shared_ptr<MemoryBudget> budget);
  ~ScanCache();
  ScanCache(const ScanCache&) = delete;
  ScanCache& operator=(const ScanCache&) = delete;

  // An id for a tablet with one schema: with another schema its rows would look different.
  uint64_t NewId();

  // For the writer, before the mutation becomes visible.
  void NoteWrite(std::string_view row, SequenceNumber sequence) {
    last_writes_[GroupOf(Checksum(row))].store(sequence, std::memory_order_release);
  }

  // Null: it is not here, or not good for the moment.
  Ref<Block> Lookup(uint64_t id, std::string_view row, Moment moment);
  // `row` is what MakeCachedRow made, or null.
  void Insert(uint64_t id, std::string_view row, Ref<Block> cached);

  uint64_t hits() const { return Sum(&Counts::hits); }
  uint64_t misses() const { return Sum(&Counts::misses); }

 private:
  static constexpr size_t kGroupBits = 16;

  struct alignas(kCacheLine) Counts {
    std::atomic<uint64_t> hits{0};
    std::atomic<uint64_t> misses{0};
  };

  static size_t GroupOf(uint64_t row_hash) { return row_hash >> (64 - kGroupBits); }
  uint64_t Sum(std::atomic<uint64_t> Counts::*counter) const;

  const std::shared_ptr<MemoryBudget> budget_;
  std::array<std::atomic<SequenceNumber>, size_t{1} << kGroupBits> last_writes_{};
  std::array<Counts, kStripes> counts_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_SCAN_CACHE_H_
