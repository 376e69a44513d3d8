// Comparison of keys: the length of the common prefix of two texts, which prefix compression and
// searches in prefix-compressed keys use; and comparisons of short texts without a function call.
// Pure functions.
#ifndef BIGTABLE_BASE_COMPARE_H_
#define BIGTABLE_BASE_COMPARE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/macros.h"

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
  ABSL_ASSERT(common <= std::min(a.size(), b.size()) &&
              "a common prefix is not longer than either");
  if (common == b.size()) return false;
  return common == a.size() ||
         static_cast<unsigned char>(a[common]) < static_cast<unsigned char>(b[common]);
}

// The first eight bytes as a number that compares like the bytes; a shorter text is padded with
// zeros. Unequal numbers decide the comparison; equal numbers do not.
inline uint64_t KeyNumber(std::string_view key) {
  if (key.size() >= 8) [[likely]]
    return LoadBigEndian64(key.data());
  char padded[8] = {};
  for (size_t i = 0; i < key.size(); ++i) padded[i] = key[i];
  return LoadBigEndian64(padded);
}

// The same for the bytes after `prefix`, for keys that mostly begin with it: 0 for keys before all
// those with the prefix, and the largest number for keys after them. Keys with the prefix may have
// these numbers too.
inline uint64_t KeyNumberBehind(std::string_view prefix, std::string_view key) {
  const size_t common = CommonPrefix(prefix, key);
  if (common == prefix.size()) [[likely]]
    return KeyNumber(key.substr(common));
  return LessBehind(prefix, key, common) ? UINT64_MAX : 0;
}

// a < b, without a function call: for keys that differ early.
inline bool Less(std::string_view a, std::string_view b) {
  const size_t n = std::min(a.size(), b.size());
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint64_t x = LoadBigEndian64(a.data() + i);
    const uint64_t y = LoadBigEndian64(b.data() + i);
    if (x != y) return x < y;
  }
  for (; i < n; ++i) {
    if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
  }
  return a.size() < b.size();
}
// Whether `n` bytes are equal, without a function call: for a few bytes.
inline bool SameBytes(const char* a, const char* b, size_t n) {
  if (n >= 8) {
    for (size_t i = 0; i + 8 < n; i += 8) {
      if (LoadFixed64(a + i) != LoadFixed64(b + i)) return false;
    }
    return LoadFixed64(a + n - 8) == LoadFixed64(b + n - 8);
  }
  if (n >= 4) {
    return LoadFixed32(a) == LoadFixed32(b) && LoadFixed32(a + n - 4) == LoadFixed32(b + n - 4);
  }
  for (size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Whether `text` begins with `prefix`, without a function call: for short prefixes.
inline bool BeginsWith(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && SameBytes(text.data(), prefix.data(), prefix.size());
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_COMPARE_H_
