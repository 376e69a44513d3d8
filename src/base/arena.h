// Memory that is allocated in small pieces and freed all at once. One thread allocates; any thread
// may read the allocated memory.
#ifndef BIGTABLE_BASE_ARENA_H_
#define BIGTABLE_BASE_ARENA_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/macros.h"

namespace bigtable {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns `bytes` bytes, aligned to 8.
  char* Allocate(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > left_) [[unlikely]]
      return AllocateChunk(bytes);
    char* const result = next_;
    next_ += bytes;
    left_ -= bytes;
    ABSL_ASSERT(reinterpret_cast<uintptr_t>(result) % 8 == 0 && "pieces are aligned");
    return result;
  }

  // Bytes of all chunks. Any thread may call it.
  uint64_t allocated() const { return allocated_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kFirstChunk = 512;
  static constexpr size_t kLargestChunk = 256 << 10;

  // A large piece gets a chunk of its own, and the current chunk stays in use.
  char* AllocateChunk(size_t bytes) {
    const bool own = bytes > kLargestChunk / 4;
    const size_t size = own ? bytes : std::max(bytes, NextChunkSize());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    allocated_.fetch_add(size, std::memory_order_relaxed);
    char* const result = chunks_.back().get();
    if (!own) {
      next_ = result + bytes;
      left_ = size - bytes;
    }
    return result;
  }
  size_t NextChunkSize() const {
    return std::clamp<size_t>(allocated_.load(std::memory_order_relaxed), kFirstChunk,
                              kLargestChunk);
  }

  char* next_ = nullptr;
  size_t left_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::atomic<uint64_t> allocated_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_ARENA_H_
