#include "sstable/row_index.h"

#include <bit>

#include "absl/base/macros.h"

#include "base/coding.h"

namespace bigtable {

bool RowIndex::Shape::Look(const char* line, uint32_t tag, Answer* answer,
                           Location* location) const {
  if (const uint32_t matches = Matches(line, tag_mask_, tag); matches != 0) {
    const bool is_only = *answer == Answer::kAbsent && (matches & (matches - 1)) == 0;
    const uint32_t slot = SlotOf(line, static_cast<size_t>(std::countr_zero(matches)));
    location->block = slot & ~tag_mask_;
    *answer = is_only && location->block < blocks_ ? Answer::kFound : Answer::kUnknown;
  }
  return !IsFull(line);
}

size_t RowIndexBuilder::size() const {
  // Two thirds of the slots are used. With more, searches continue to a second line too often.
  constexpr size_t kRowsPerLine = RowIndex::kSlots * 2 / 3;
  return (rows_.size() + kRowsPerLine - 1) / kRowsPerLine * HashedLines::kLineSize;
}

int RowIndexBuilder::block_bits() const { return std::bit_width(rows_.back().block); }

void RowIndexBuilder::AppendTo(std::string* out) const {
  ABSL_ASSERT(CanBuild() && "block numbers leave room for tags");
  const size_t begin = out->size();
  out->resize(begin + size());
  char* const slots = out->data() + begin;
  const size_t line_count = size() / HashedLines::kLineSize;
  const size_t slot_count = line_count * RowIndex::kSlots;
  const int bits = block_bits();
  rows_.ForEach([&](const Row& row) {
    size_t slot = HashedLines::NumberOf(row.hash, line_count) * RowIndex::kSlots;
    while (RowIndex::SlotOf(slots, slot) != 0) {
      slot = slot + 1 == slot_count ? 0 : slot + 1;
    }
    StoreFixed32(slots + slot * sizeof(uint32_t),
                 RowIndex::TagOf(row.hash, bits) | static_cast<uint32_t>(row.block));
  });
}

}  // namespace bigtable
