// A list that only grows, in chunks. Elements are never copied to make room, so even while it grows
// the list takes no more memory than its elements need, except for a part of the last chunk. For
// plain values. One thread at a time.
#ifndef BIGTABLE_SSTABLE_CHUNKED_LIST_H_
#define BIGTABLE_SSTABLE_CHUNKED_LIST_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "absl/base/macros.h"

namespace bigtable {

template <typename T>
class ChunkedList {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  void push_back(const T& value) {
    if (left_ == 0) [[unlikely]]
      AddChunk();
    chunks_.back().values[chunks_.back().size++] = value;
    --left_;
    ++size_;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& back() const {
    ABSL_ASSERT(!empty() && "there is a last one");
    return chunks_.back().values[chunks_.back().size - 1];
  }
  template <typename F>
  void ForEach(F f) const {
    for (const Chunk& chunk : chunks_) {
      for (size_t i = 0; i < chunk.size; ++i) f(chunk.values[i]);
    }
  }
  size_t memory() const { return capacity_ * sizeof(T) + chunks_.capacity() * sizeof(Chunk); }

 private:
  struct Chunk {
    std::unique_ptr<T[]> values;
    size_t size;
  };

  void AddChunk() {
    constexpr size_t kSmallest = 64, kLargest = 8192;
    left_ = std::clamp(size_, kSmallest, kLargest);
    capacity_ += left_;
    chunks_.push_back({std::make_unique_for_overwrite<T[]>(left_), 0});
  }

  std::vector<Chunk> chunks_;
  size_t left_ = 0;  // free slots in the last chunk
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_CHUNKED_LIST_H_
