// A table of cache lines in memory, in which a hash selects a line. The Bloom filter and the row
// index consist of one. Immutable and thread-safe.
//
// Line: the upper 32 bits of the hash, times the number of lines, shifted down by 32.
#ifndef BIGTABLE_SSTABLE_HASHED_LINES_H_
#define BIGTABLE_SSTABLE_HASHED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/base/macros.h"

#include "base/prefetch.h"

namespace bigtable {

class HashedLines {
 public:
  static constexpr size_t kLineSize = 64;

  HashedLines() = default;  // without lines
  // `count` lines, at least one, whose bytes the caller sets.
  explicit HashedLines(uint64_t count)
      : buffer_(std::make_unique_for_overwrite<char[]>((count + 1) * kLineSize)), count_(count) {
    ABSL_ASSERT(count > 0 && count <= UINT32_MAX && "the caller has checked it");
    const uintptr_t begin = reinterpret_cast<uintptr_t>(buffer_.get());
    lines_ = buffer_.get() + (kLineSize - begin % kLineSize) % kLineSize;
  }
  // A copy of these lines, at least one.
  explicit HashedLines(std::string_view lines) : HashedLines(lines.size() / kLineSize) {
    Set(0, lines);
  }
  // Sets the lines from the one with this number on.
  void Set(uint64_t number, std::string_view lines) {
    ABSL_ASSERT(lines.size() % kLineSize == 0 && "whole lines");
    ABSL_ASSERT(number + lines.size() / kLineSize <= count_ && "there are such lines");
    std::memcpy(lines_ + number * kLineSize, lines.data(), lines.size());
  }

  bool empty() const { return count_ == 0; }
  uint64_t count() const { return count_; }
  size_t memory() const { return empty() ? 0 : (count_ + 1) * kLineSize; }

  // The number of the line that a hash selects.
  size_t NumberOf(uint64_t hash) const { return NumberOf(hash, count_); }
  static size_t NumberOf(uint64_t hash, uint64_t count) {
    return static_cast<size_t>((hash >> 32) * count >> 32);
  }
  const char* operator[](size_t number) const {
    ABSL_ASSERT(number < count_ && "there is such a line");
    return lines_ + number * kLineSize;
  }
  // Prefetches the line that `hash` selects.
  BIGTABLE_ONLY_PREFETCHES void Prefetch(uint64_t hash) const {
    if (!empty()) PrefetchLine((*this)[NumberOf(hash)]);
  }

 private:
  std::unique_ptr<char[]> buffer_;
  char* lines_ = nullptr;  // in the buffer, at the start of a cache line
  uint64_t count_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_HASHED_LINES_H_
