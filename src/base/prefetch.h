// Bytes that will be looked at soon are asked for from memory now, so that the wait for them
// overlaps with other work. Has no other effect.
#ifndef BIGTABLE_BASE_PREFETCH_H_
#define BIGTABLE_BASE_PREFETCH_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace bigtable {

// Inlined by force: to the compiler a function that only prefetches does nothing, and its calls
// could go.
//
// The beginning of `bytes`, as much as is worth it: of longer ones the processor sees by itself
// that they are read on.
[[gnu::always_inline]] inline void Prefetch(std::string_view bytes) {
  constexpr size_t kLine = 64;
  constexpr size_t kMost = 1024;
  const char* const end = bytes.data() + std::min(bytes.size(), kMost);
  for (const char* p = bytes.data(); p < end; p += kLine) __builtin_prefetch(p);
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_PREFETCH_H_
