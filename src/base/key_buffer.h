// A string in which keys are built. Its bytes are inside the object unless they are longer than
// usual, so a read allocates no memory for the keys that it works with.
#ifndef BIGTABLE_BASE_KEY_BUFFER_H_
#define BIGTABLE_BASE_KEY_BUFFER_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/macros.h"

namespace bigtable {

// Copies of a few bytes, without a function call.
//
// Like std::memcpy, but faster for up to 32 bytes if the compiler does not know the number.
inline void CopyShort(char* to, const char* from, size_t n) {
  const auto both_ends = [&](auto width) {
    constexpr size_t kWidth = decltype(width)::value;
    char head[kWidth], tail[kWidth];
    std::memcpy(head, from, kWidth);
    std::memcpy(tail, from + n - kWidth, kWidth);
    std::memcpy(to, head, kWidth);
    std::memcpy(to + n - kWidth, tail, kWidth);
  };
  if (n > 32) {
    std::memcpy(to, from, n);
  } else if (n >= 16) {
    both_ends(std::integral_constant<size_t, 16>());
  } else if (n >= 8) {
    both_ends(std::integral_constant<size_t, 8>());
  } else if (n >= 4) {
    both_ends(std::integral_constant<size_t, 4>());
  } else {
    for (size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

class KeyBuffer {
 public:
  KeyBuffer() = default;
  KeyBuffer(const KeyBuffer&) = delete;
  KeyBuffer& operator=(const KeyBuffer&) = delete;

  std::string_view view() const { return {data_, size_}; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }

  void clear() { size_ = 0; }
  // `text` must not be in this buffer.
  [[gnu::always_inline]] void assign(std::string_view text) {
    size_ = 0;
    append(text);
  }
  [[gnu::always_inline]] void append(std::string_view text) {
    ABSL_ASSERT((text.empty() || text.data() < data_ || text.data() >= data_ + capacity_) &&
                "the text is not in this buffer");
    if (size_ + text.size() > capacity_) [[unlikely]] {
      Grow(size_ + text.size());
    }
    CopyShort(data_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  void push_back(char c) { append({&c, 1}); }

 private:
  static constexpr size_t kInside = 112;

  [[gnu::cold, gnu::noinline]] void Grow(size_t least) {
    const size_t capacity = std::max(least, 2 * capacity_);
    auto grown = std::make_unique_for_overwrite<char[]>(capacity);
    std::memcpy(grown.get(), data_, size_);
    outside_ = std::move(grown);
    data_ = outside_.get();
    capacity_ = capacity;
  }

  char* data_ = inside_;
  size_t size_ = 0;
  size_t capacity_ = kInside;
  std::unique_ptr<char[]> outside_;
  char inside_[kInside];
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_KEY_BUFFER_H_
