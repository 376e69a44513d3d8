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
  // A copy. Requires IsWellFormed(lines).
  explicit HashedLines(std::string_view lines)
      : buffer_(std::make_unique_for_overwrite<char[]>(lines.size() + kLineSize)),
        count_(lines.size() / kLineSize) {
    ABSL_ASSERT(IsWellFormed(lines) && "the caller has checked it");
    const uintptr_t begin = reinterpret_cast<uintptr_t>(buffer_.get());
    char* const aligned = buffer_.get() + (kLineSize - begin % kLineSize) % kLineSize;
    std::memcpy(aligned, lines.data(), lines.size());
    lines_ = aligned;
  }
  static bool IsWellFormed(std::string_view lines) {
    return !lines.empty() && lines.size() % kLineSize == 0 &&
           lines.size() / kLineSize <= UINT32_MAX;
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
  const char* lines_ = nullptr;  // in the buffer, at the start of a cache line
  uint64_t count_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_HASHED_LINES_H_
