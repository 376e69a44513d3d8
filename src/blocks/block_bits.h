// A bit for each block of a file, for what is known about it.
//
// Thread-safe. A thread that finds a bit set also sees what the thread that set it wrote before.
#ifndef BIGTABLE_BLOCKS_BLOCK_BITS_H_
#define BIGTABLE_BLOCKS_BLOCK_BITS_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/macros.h"

namespace bigtable {

class BlockBits {
 public:
  // All are clear.
  explicit BlockBits(size_t blocks)
      : words_((blocks + 63) / 64), bits_(std::make_unique<std::atomic<uint64_t>[]>(words_)) {}
  BlockBits(const BlockBits&) = delete;
  BlockBits& operator=(const BlockBits&) = delete;

  bool Test(size_t i) const {
    ABSL_ASSERT(i / 64 < words_ && "the file has such a block");
    return (bits_[i / 64].load(std::memory_order_acquire) >> (i % 64) & 1) != 0;
  }
  // Returns whether it was set before.
  bool Set(size_t i) {
    if (Test(i)) return true;  // without taking the cache line from other readers
    const uint64_t bit = uint64_t{1} << (i % 64);
    return (bits_[i / 64].fetch_or(bit, std::memory_order_release) & bit) != 0;
  }
  // The same.
  bool Clear(size_t i) {
    if (!Test(i)) return false;
    const uint64_t bit = uint64_t{1} << (i % 64);
    return (bits_[i / 64].fetch_and(~bit, std::memory_order_relaxed) & bit) != 0;
  }
  // Not atomic as a whole: a bit that is set meanwhile may stay or not.
  void ClearAll() {
    for (size_t k = 0; k < words_; ++k) bits_[k].store(0, std::memory_order_relaxed);
  }
  size_t Count() const {
    size_t count = 0;
    for (size_t k = 0; k < words_; ++k) {
      count += static_cast<size_t>(std::popcount(bits_[k].load(std::memory_order_relaxed)));
    }
    return count;
  }

  // A block whose bit is set, among some thousands of blocks from a place that `seed` spreads over
  // the file, even if the seeds ascend. kNone if none of these is set.
  static constexpr size_t kNone = SIZE_MAX;
  size_t Sample(size_t seed) const {
    constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    constexpr size_t kMostWords = 64;
    if (words_ == 0) return kNone;
    const size_t first = (seed * kGoldenRatio) % words_;
    for (size_t k = 0; k < words_ && k < kMostWords; ++k) {
      const size_t word = (first + k) % words_;
      const uint64_t bits = bits_[word].load(std::memory_order_relaxed);
      if (bits != 0) return word * 64 + static_cast<size_t>(std::countr_zero(bits));
    }
    return kNone;
  }

  size_t memory() const { return words_ * sizeof(uint64_t); }

 private:
  const size_t words_;
  const std::unique_ptr<std::atomic<uint64_t>[]> bits_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_BITS_H_
