// Bytes that will be looked at soon are asked for from memory now, so that the wait for them
// overlaps with other work. Has no other effect.
//
// Whatever calls these and does nothing else must be inlined by force as they are: to GCC a
// function that only prefetches is one without effects, whose calls can go.
#ifndef BIGTABLE_BASE_PREFETCH_H_
#define BIGTABLE_BASE_PREFETCH_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace bigtable {

#define BIGTABLE_ONLY_PREFETCHES [[gnu::always_inline]]

// The cache line of `p`.
BIGTABLE_ONLY_PREFETCHES inline void PrefetchLine(const void* p) { __builtin_prefetch(p); }

// The beginning of `bytes`, as much as is worth it: of longer ones the processor sees by itself
// that they are read on.
BIGTABLE_ONLY_PREFETCHES inline void Prefetch(std::string_view bytes, size_t most = 1024) {
  constexpr size_t kLine = 64;
  const char* const end = bytes.data() + std::min(bytes.size(), most);
  for (const char* p = bytes.data(); p < end; p += kLine) PrefetchLine(p);
}

// The same for bytes that are some hundred nanoseconds away: into a larger cache than the nearest,
// which has no room for them yet.
BIGTABLE_ONLY_PREFETCHES inline void PrefetchFar(std::string_view bytes) {
  constexpr size_t kLine = 64;
  const char* const end = bytes.data() + bytes.size();
  for (const char* p = bytes.data(); p < end; p += kLine) __builtin_prefetch(p, 0, 2);
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_PREFETCH_H_
