// How many bytes two texts have in common at their start: what prefix compression and searches in
// prefix-compressed keys are made of. Pure functions.
#ifndef BIGTABLE_SSTABLE_COMMON_PREFIX_H_
#define BIGTABLE_SSTABLE_COMMON_PREFIX_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string_view>

#include "base/coding.h"

namespace bigtable {

inline size_t CommonPrefix(const char* a, const char* b, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint64_t difference = LoadFixed64(a + i) ^ LoadFixed64(b + i);
    if (difference != 0) return i + static_cast<size_t>(std::countr_zero(difference)) / 8;
  }
  while (i < n && a[i] == b[i]) ++i;
  return i;
}
inline size_t CommonPrefix(std::string_view a, std::string_view b) {
  return CommonPrefix(a.data(), b.data(), std::min(a.size(), b.size()));
}

// Whether a < b, given their common prefix.
inline bool LessBehind(std::string_view a, std::string_view b, size_t common) {
  if (common == b.size()) return false;
  return common == a.size() ||
         static_cast<unsigned char>(a[common]) < static_cast<unsigned char>(b[common]);
}

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_COMMON_PREFIX_H_
