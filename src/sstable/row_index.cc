#include "sstable/row_index.h"

#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/coding.h"

namespace bigtable {
namespace {

constexpr uint32_t kTaken = uint32_t{1} << 31;

// What the slot of a row holds beside the place.
uint32_t TagOf(uint64_t hash, int block_bits) {
  return kTaken | (static_cast<uint32_t>(hash) << (block_bits + 1) & ~kTaken);
}

uint32_t SlotOf(const char* line, size_t i) { return LoadFixed32(line + i * sizeof(uint32_t)); }

// A bit for each slot of a line that holds `value` where `mask` has bits.
uint32_t Matches(const char* line, uint32_t mask, uint32_t value) {
  uint32_t matches = 0;
#ifdef __SSE2__
  const __m128i masks = _mm_set1_epi32(static_cast<int>(mask));
  const __m128i values = _mm_set1_epi32(static_cast<int>(value));
  const auto equal = [&](size_t i) {
    const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(line) + i);
    return _mm_cmpeq_epi32(_mm_and_si128(four, masks), values);
  };
  const __m128i low = _mm_packs_epi32(equal(0), equal(1));
  const __m128i high = _mm_packs_epi32(equal(2), equal(3));
  matches = static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
  for (size_t i = 0; i < RowIndex::kSlots; ++i) {
    const bool is_match = (SlotOf(line, i) & mask) == value;
    matches |= (is_match ? uint32_t{1} : 0) << i;
  }
#endif
  return matches;
}

}  // namespace

RowIndex::RowIndex(std::string_view lines, int block_bits, size_t blocks)
    : buffer_(std::make_unique_for_overwrite<char[]>(lines.size() + kLineSize)),
      line_count_(lines.size() / kLineSize),
      block_bits_(block_bits),
      blocks_(blocks) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(buffer_.get());
  char* const aligned = buffer_.get() + (kLineSize - begin % kLineSize) % kLineSize;
  std::memcpy(aligned, lines.data(), lines.size());
  lines_ = aligned;
}

RowIndex::Answer RowIndex::Find(uint64_t hash, Place* place) const {
  if (line_count_ == 0) return Answer::kUnknown;
  const uint32_t goes_on = uint32_t{1} << block_bits_;
  const uint32_t place_mask = 2 * goes_on - 1;
  const uint32_t tag = TagOf(hash, block_bits_);
  Answer answer = Answer::kAbsent;
  size_t number = LineOf(hash, line_count_);
  for (size_t looked_at = 0; looked_at < line_count_; ++looked_at) {
    const char* const line = lines_ + number * kLineSize;
    if (const uint32_t matches = Matches(line, ~place_mask, tag); matches != 0) {
      const bool is_only = answer == Answer::kAbsent && (matches & (matches - 1)) == 0;
      const uint32_t slot = SlotOf(line, static_cast<size_t>(std::countr_zero(matches)));
      *place = {slot & (goes_on - 1), (slot & goes_on) != 0};
      answer = is_only && place->block < blocks_ ? Answer::kFound : Answer::kUnknown;
    }
    // A line is filled from its first slot on.
    if (SlotOf(line, kSlots - 1) == 0) break;
    number = number + 1 == line_count_ ? 0 : number + 1;
  }
  return answer;
}

size_t RowIndexBuilder::size() const {
  // Two thirds of the slots are taken: more, and searches go on to a second line too often.
  constexpr size_t kRowsPerLine = RowIndex::kSlots * 2 / 3;
  return (rows_.size() + kRowsPerLine - 1) / kRowsPerLine * RowIndex::kLineSize;
}

int RowIndexBuilder::block_bits() const { return std::bit_width(rows_.back().block); }

void RowIndexBuilder::AppendTo(std::string* out) const {
  const size_t begin = out->size();
  out->resize(begin + size());
  char* const slots = out->data() + begin;
  const size_t line_count = size() / RowIndex::kLineSize;
  const size_t slot_count = line_count * RowIndex::kSlots;
  const int bits = block_bits();
  for (const Row& row : rows_) {
    size_t slot = RowIndex::LineOf(row.hash, line_count) * RowIndex::kSlots;
    while (SlotOf(slots, slot) != 0) {
      slot = slot + 1 == slot_count ? 0 : slot + 1;
    }
    const auto place = static_cast<uint32_t>(row.goes_on << bits | row.block);
    StoreFixed32(slots + slot * sizeof(uint32_t), TagOf(row.hash, bits) | place);
  }
}

}  // namespace bigtable
