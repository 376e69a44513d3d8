// The rows of the scan cache (cache/scan_cache.h): their cells after the merge and garbage
// collection, before the filter. MakeCachedRow is thread-safe.
//
// After the CachedRowHead, for each cell, in the machine's byte order:
//
//   | timestamp, index of its family in the layout, two sizes | qualifier | value |
#ifndef BIGTABLE_READ_CACHED_ROW_H_
#define BIGTABLE_READ_CACHED_ROW_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/ref_counted.h"
#include "base/sequence.h"
#include "cache/block.h"
#include "cache/block_memory.h"
#include "schema/table_layout.h"

namespace bigtable {

// For ScanCache::Insert. Null if the row is too large to be cached, or there is no memory.
Ref<Block> MakeCachedRow(BlockMemory* memory, const TableLayout& layout, SequenceNumber as_of,
                         std::string_view row, absl::Span<const Cell> cells);

// The cells of a cached row, in order: a source of filter_evaluator.h. One thread at a time.
class CachedRow {
 public:
  // Both outlive this and the cells, which are views of them. The layout must be the one that the
  // row was made with.
  CachedRow(const Block* cached, const TableLayout* layout);

  std::string_view row() const { return row_; }
  // False at the end.
  bool Next(Cell* cell) {
    if (next_ == end_) return false;
    CellHead head;
    std::memcpy(&head, Take(sizeof head).data(), sizeof head);
    ABSL_ASSERT(head.family < layout_->families.size() &&
                "it is read with the layout it was made with");
    cell->family = layout_->families[head.family].name;
    cell->timestamp = Timestamp(head.timestamp);
    cell->qualifier = Take(head.qualifier_size);
    cell->value = Take(head.value_size);
    ABSL_ASSERT(next_ <= end_ && "the bytes were written by this process");
    return true;
  }
  const RefCounted* owner() const { return cached_; }

 private:
  friend Ref<Block> MakeCachedRow(BlockMemory* memory, const TableLayout& layout,
                                  SequenceNumber as_of, std::string_view row,
                                  absl::Span<const Cell> cells);

  struct CellHead {
    int64_t timestamp;
    uint32_t family;  // index in the layout
    uint32_t qualifier_size;
    size_t value_size;
  };

  std::string_view Take(size_t size) {
    const std::string_view text(next_, size);
    next_ += size;
    return text;
  }

  const Block* const cached_;
  const TableLayout* const layout_;
  std::string_view row_;
  const char* next_;
  const char* end_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_CACHED_ROW_H_
