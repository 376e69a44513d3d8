// A hash table from the rows of a file to its data blocks (FilterKind::kRowIndex). It does what a
// Bloom filter does, and if the row may be in the file, it also names the block. A read of one row
// reads one cache line of it instead of the filter's line and a search in the block index. The key
// of a lookup is the Checksum of a row prefix (base/entry_key.h).
//
// In the file: lines of sixteen slots, each a u32, little-endian, in pages (filter_pages.h). The
// properties hold `block_bits`.
//
//    31   30 ... block_bits   block_bits - 1 ... 0
//   +---+-------------------+----------------------+
//   | 1 | tag               | block                |      an empty slot is 0
//   +---+-------------------+----------------------+
//
// * Tag: the lowest 31 - block_bits bits of the hash. Block: the one in which the row begins.
// * Line: as in hashed_lines.h. A row goes into the first free slot at or after the start of its
//   line; the first line follows the last. So a search passes only full lines before it reaches the
//   row.
//
// Worked example: one line, 2 bits for the block, hash 5, block 3: the first slot is 17 00 00 80.
#ifndef BIGTABLE_SSTABLE_ROW_INDEX_H_
#define BIGTABLE_SSTABLE_ROW_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/prefetch.h"
#include "sstable/chunked_list.h"
#include "sstable/hashed_lines.h"

namespace bigtable {

// Immutable and thread-safe. A default one returns kUnknown for every row.
class RowIndex {
 public:
  static constexpr size_t kSlots = 16;
  static_assert(kSlots * sizeof(uint32_t) == HashedLines::kLineSize);
  static constexpr int kMostBlockBits = 28;  // at least three are left for the tag

  enum class Answer : uint8_t {
    kAbsent,   // the row is not in the file: certain
    kFound,    // if the row is in the file, it is in this block
    kUnknown,  // search the block index
  };

  struct Location {
    size_t block = 0;
  };

  // What a lookup must know besides the lines.
  class Shape {
   public:
    Shape() = default;
    // `blocks`: how many the file has.
    Shape(int block_bits, size_t blocks)
        : block_bits_(block_bits), tag_mask_(~((uint32_t{1} << block_bits) - 1)), blocks_(blocks) {}

    // Find in `count` lines, of which `line_at` returns one by its number; null: unknown.
    template <typename LineAt>
    Answer Find(uint64_t hash, uint64_t count, Location* location, LineAt line_at) const {
      size_t number = HashedLines::NumberOf(hash, count);
      const uint32_t tag = TagOf(hash, block_bits_);
      // The usual case: the file does not have the row.
      const char* line = line_at(number);
      if (line == nullptr) return Answer::kUnknown;
      if (Matches(line, tag_mask_, tag) == 0 && !IsFull(line)) return Answer::kAbsent;
      Answer answer = Answer::kAbsent;
      for (uint64_t looked_at = 0; looked_at < count; ++looked_at) {
        if (Look(line, tag, &answer, location)) break;
        number = number + 1 == count ? 0 : number + 1;
        line = line_at(number);
        if (line == nullptr) return Answer::kUnknown;
      }
      return answer;
    }

   private:
    // Returns whether the search ends with this line.
    bool Look(const char* line, uint32_t tag, Answer* answer, Location* location) const;

    int block_bits_ = 0;
    uint32_t tag_mask_ = 0;
    size_t blocks_ = 0;
  };

  RowIndex() = default;
  RowIndex(HashedLines lines, Shape shape) : lines_(std::move(lines)), shape_(shape) {}
  static bool IsWellFormed(uint64_t block_bits) { return block_bits <= uint64_t{kMostBlockBits}; }

  Answer Find(uint64_t hash, Location* location) const {
    if (lines_.empty()) return Answer::kUnknown;
    return shape_.Find(hash, lines_.count(), location,
                       [this](size_t number) { return lines_[number]; });
  }
  bool empty() const { return lines_.empty(); }
  // Prefetches the line that Find(hash) reads.
  BIGTABLE_ONLY_PREFETCHES void Prefetch(uint64_t hash) const { lines_.Prefetch(hash); }
  size_t memory() const { return lines_.memory(); }

 private:
  friend class RowIndexBuilder;

  // The bits of a row's slot other than the block.
  static uint32_t TagOf(uint64_t hash, int block_bits) {
    constexpr uint32_t kTaken = uint32_t{1} << 31;
    return kTaken | (static_cast<uint32_t>(hash) << block_bits & ~kTaken);
  }
  static uint32_t SlotOf(const char* line, size_t i) {
    return LoadFixed32(line + i * sizeof(uint32_t));
  }
  // The slots of a line are filled in order.
  static bool IsFull(const char* line) { return SlotOf(line, kSlots - 1) != 0; }
  // A bit for each slot of a line that equals `value` in the bits of `mask`.
  static uint32_t Matches(const char* line, uint32_t mask, uint32_t value) {
#ifdef __SSE2__
    const __m128i masks = _mm_set1_epi32(static_cast<int>(mask));
    const __m128i values = _mm_set1_epi32(static_cast<int>(value));
    const auto equal = [&](size_t i) {
      const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(line) + i);
      return _mm_cmpeq_epi32(_mm_and_si128(four, masks), values);
    };
    const __m128i low = _mm_packs_epi32(equal(0), equal(1));
    const __m128i high = _mm_packs_epi32(equal(2), equal(3));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
    uint32_t matches = 0;
    for (size_t i = 0; i < kSlots; ++i) {
      matches |= uint32_t{(SlotOf(line, i) & mask) == value} << i;
    }
    return matches;
#endif
  }

  HashedLines lines_;
  Shape shape_;
};

// Gathers rows and builds the table from them. One thread at a time.
class RowIndexBuilder {
 public:
  // `block`: the number of the data block in which the row begins.
  void Add(uint64_t hash, uint64_t block) {
    ABSL_ASSERT((rows_.empty() || rows_.back().block <= block) &&
                "the last row has the last block");
    rows_.push_back({hash, block});
  }
  // False if there is nothing to build, or there are too many blocks to leave room for tags.
  bool CanBuild() const {
    return !rows_.empty() && rows_.back().block < uint64_t{1} << RowIndex::kMostBlockBits;
  }
  size_t size() const;  // of the table
  int block_bits() const;
  // Requires CanBuild().
  void AppendTo(std::string* out) const;
  size_t memory() const { return rows_.memory(); }

 private:
  struct Row {
    uint64_t hash;
    uint64_t block;
  };
  ChunkedList<Row> rows_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_ROW_INDEX_H_
