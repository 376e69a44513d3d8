// Starts to load bytes from memory that will be read soon, so that the wait overlaps with other
// work. Has no other effect.
//
// A function that only calls these must be forced inline, as these are: GCC takes a function that
// only prefetches for one without effects, and removes calls to it.
#ifndef BIGTABLE_BASE_PREFETCH_H_
#define BIGTABLE_BASE_PREFETCH_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace bigtable {

#define BIGTABLE_ONLY_PREFETCHES [[gnu::always_inline]]

// The cache line of `p`.
BIGTABLE_ONLY_PREFETCHES inline void PrefetchLine(const void* p) { __builtin_prefetch(p); }

// The beginning of `bytes`, as much as is worthwhile: for longer ranges the processor itself
// detects a sequential read.
BIGTABLE_ONLY_PREFETCHES inline void Prefetch(std::string_view bytes, size_t most = 1024) {
  constexpr size_t kLine = 64;
  const char* const end = bytes.data() + std::min(bytes.size(), most);
  for (const char* p = bytes.data(); p < end; p += kLine) PrefetchLine(p);
}

// The same for bytes that will be needed in some hundred nanoseconds: into a cache that is larger
// than the nearest one.
BIGTABLE_ONLY_PREFETCHES inline void PrefetchFar(std::string_view bytes) {
  constexpr size_t kLine = 64;
  const char* const end = bytes.data() + bytes.size();
  for (const char* p = bytes.data(); p < end; p += kLine) __builtin_prefetch(p, 0, 2);
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_PREFETCH_H_
