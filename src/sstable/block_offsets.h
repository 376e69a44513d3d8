// The offsets of many adjacent pieces. The lower halves of the numbers are in one array, so that
// they take few cache lines; the pieces at which the upper half grows are listed apart. A random
// read looks up one offset, which is rarely in the CPU cache, before it can request the piece
// itself.
//
// Immutable once all are added; then thread-safe.
#ifndef BIGTABLE_SSTABLE_BLOCK_OFFSETS_H_
#define BIGTABLE_SSTABLE_BLOCK_OFFSETS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/macros.h"

#include "base/prefetch.h"

namespace bigtable {

class BlockOffsets {
 public:
  // `offset` is not before the one that was added last.
  void Add(uint64_t offset) {
    ABSL_ASSERT((size() == 0 || (*this)[size() - 1] <= offset) && "offsets ascend");
    for (uint64_t wraps = offset >> 32; wraps > wraps_.size();) wraps_.push_back(lower_.size());
    lower_.push_back(static_cast<uint32_t>(offset));
  }
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

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_BLOCK_OFFSETS_H_
