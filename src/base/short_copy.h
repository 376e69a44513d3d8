// Copies of a few bytes, without a function call.
#ifndef BIGTABLE_BASE_SHORT_COPY_H_
#define BIGTABLE_BASE_SHORT_COPY_H_

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace bigtable {

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

}  // namespace bigtable

#endif  // BIGTABLE_BASE_SHORT_COPY_H_
