// The index of an open SSTable, or a part of it: which data block holds a key, and the block's
// offset. Immutable, thread-safe.
//
// The common prefix of all keys is stored once. The next eight bytes of each key, as a
// big-endian number, are in a sorted array. Above it are arrays of every eighth, sixty-fourth, ...
// number, so a search reads one cache line a level and counts the numbers in it that are smaller
// than the target, without branches. Whole keys are compared only among equal numbers.
//
// The key of a block is its last key, or was shortened (index_writer.h); then it is between the
// last key of the block and the first key of the next. The block that is found has the first entry
// at or after the target, or ends before the target, and the next one begins with that entry.
#ifndef BIGTABLE_BLOCKS_BLOCK_INDEX_H_
#define BIGTABLE_BLOCKS_BLOCK_INDEX_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "base/prefetch.h"
#include "blocks/stored_block.h"

namespace bigtable {

// The offsets of many adjacent pieces. The lower halves of the numbers are in one array, so that
// they take few cache lines; the pieces at which the upper half grows are listed apart. A random
// read looks up one offset, which is rarely in the CPU cache, before it can request the piece
// itself.
//
// Immutable once all are added; then thread-safe.
class BlockOffsets {
 public:
  // `offset` is not before the one that was added last.
  void Add(uint64_t offset) {
    ABSL_ASSERT((size() == 0 || (*this)[size() - 1] <= offset) && "offsets ascend");
    for (uint64_t wraps = offset >> 32; wraps > wraps_.size();) wraps_.push_back(lower_.size());
    lower_.push_back(static_cast<uint32_t>(offset));
  }
  void Reserve(size_t offsets) { lower_.reserve(offsets); }
  void ShrinkToFit() { lower_.shrink_to_fit(); }

  size_t size() const { return lower_.size(); }
  uint64_t operator[](size_t i) const {
    ABSL_ASSERT(i < size() && "there is such an offset");
    const uint64_t lower = lower_[i];
    return wraps_.empty() ? lower : lower + (WrapsUpTo(i) << 32);
  }
  // Prefetches offset `i` and those after it.
  BIGTABLE_ONLY_PREFETCHES void Prefetch(size_t i) const { PrefetchLine(lower_.data() + i); }
  size_t memory() const {
    return lower_.capacity() * sizeof(uint32_t) + wraps_.capacity() * sizeof(size_t);
  }

 private:
  uint64_t WrapsUpTo(size_t i) const {
    return static_cast<uint64_t>(std::upper_bound(wraps_.begin(), wraps_.end(), i) -
                                 wraps_.begin());
  }

  std::vector<uint32_t> lower_;
  std::vector<size_t> wraps_;
};

class BlockIndex {
 public:
  // The index of no file; to be assigned to.
  BlockIndex() = default;
  // From the index (index_writer.h), or all of its parts, of a file whose data blocks take
  // `data_size` bytes, block trailers included. DataLoss, without the name of the file, if the
  // parts are not an index.
  static absl::StatusOr<BlockIndex> Load(absl::Span<const std::string_view> parts,
                                         uint64_t data_size);
  static absl::StatusOr<BlockIndex> Load(std::string_view index, uint64_t data_size) {
    return Load({&index, 1}, data_size);
  }
  // From one part, whose data blocks are from `begin` to `end` in the file. The last of them may
  // say that its row continues in a block of the next part.
  static absl::StatusOr<BlockIndex> LoadPart(std::string_view part, uint64_t begin, uint64_t end);

  // The number of data blocks.
  size_t size() const {
    ABSL_ASSERT(offsets_.size() > 0 && "the index of a file has the end of its blocks");
    return offsets_.size() - 1;
  }
  // The first block whose key is at or after `target`; size() if there is none.
  size_t Find(std::string_view target) const;
  BlockHandle handle(size_t i) const {
    ABSL_ASSERT(i < size() && "the file has such a block");
    const uint64_t offset = offsets_[i];
    return {offset, offsets_[i + 1] - offset - kBlockTrailerSize};
  }
  // The end of the blocks from `i` on that begin within `bytes` of it; `i` is one of them.
  size_t EndOfStretch(size_t i, uint64_t bytes) const {
    const uint64_t limit = offsets_[i] + bytes;
    size_t end = i + 1;
    while (end < size() && offsets_[end] < limit) ++end;
    return end;
  }
  // The key of block `i`: its last key unless it was shortened. Costs an allocation.
  std::string KeyOf(size_t i) const { return prefix_ + std::string(KeyRest(i)); }
  bool IsShortened(size_t i) const { return HasBit(shortened_, i); }
  // Whether the key of block `i` begins with `prefix`. So does its last key if it ends in the row
  // with this prefix and the row continues in the next block.
  bool KeyBeginsWith(size_t i, std::string_view prefix) const {
    return prefix_.starts_with(prefix.substr(0, prefix_.size())) &&
           (prefix.size() <= prefix_.size() ||
            KeyRest(i).starts_with(prefix.substr(prefix_.size())));
  }
  // Whether the row in which block `i` ends also has entries in the next block.
  bool RowContinues(size_t i) const { return HasBit(continued_rows_, i); }
  size_t memory() const;

 private:
  static constexpr size_t kFanOut = 8;
  struct alignas(64) Line {
    std::array<uint64_t, kFanOut> numbers;
  };

  static absl::StatusOr<BlockIndex> LoadParts(absl::Span<const std::string_view> parts,
                                              uint64_t begin, uint64_t end);
  // Sets prefix_, and allocates memory for what follows.
  absl::Status Prepare(absl::Span<const std::string_view> parts, uint64_t data_size);
  // The entries of one part.
  absl::Status Add(std::string_view part, uint64_t data_end);
  static bool HasBit(const std::vector<uint64_t>& bits, size_t i) {
    return i / 64 < bits.size() && (bits[i / 64] >> (i % 64) & 1) != 0;
  }
  void AddOffsets(uint64_t offset, size_t key_begin);
  void BuildLevels();
  // The first position whose number is not below `number`; requires that there is one.
  size_t LowerBound(uint64_t number) const;
  BIGTABLE_ONLY_PREFETCHES void PrefetchEntries(size_t first) const {
    offsets_.Prefetch(first);
    key_begins_.Prefetch(first);
    key_begins_.Prefetch(std::min(first + kFanOut, key_begins_.size() - 1));
  }
  uint64_t NumberAt(size_t i) const {
    return lines_[levels_.back() + i / kFanOut].numbers[i % kFanOut];
  }
  // The first position in [low, high) whose key without the prefix is at or after `rest`; or
  // `high`.
  size_t FindBetween(size_t low, size_t high, std::string_view rest) const;
  std::string_view KeyRest(size_t i) const {
    ABSL_ASSERT(i < size() && "the file has such a block");
    return std::string_view(keys_).substr(key_begins_[i], key_begins_[i + 1] - key_begins_[i]);
  }

  std::string prefix_;       // common to all keys
  std::string keys_;         // the rests after the prefix, concatenated
  BlockOffsets offsets_;     // of the blocks in the file, and the end of the last block
  BlockOffsets key_begins_;  // of the rests in keys_, and their end
  // A bit for each block, up to the last that is set.
  std::vector<uint64_t> continued_rows_;
  std::vector<uint64_t> shortened_;
  std::vector<Line> lines_;        // the levels, from the highest, which is one line, to the lowest
  std::vector<uint32_t> levels_;   // the first line of each level in lines_
  uint64_t largest_ = UINT64_MAX;  // of the numbers; UINT64_MAX without levels
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_INDEX_H_
