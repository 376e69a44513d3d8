#include "base/checksum.h"

#include <xxhash.h>

// The library's dispatching functions detect the processor's features, once, and use the widest
// vectors. Not every build of the library has them, and static ones rarely do: hence weak.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>
#pragma weak XXH3_64bits_withSeed_dispatch
#define BIGTABLE_MAY_DISPATCH
#endif

namespace bigtable {

uint64_t Checksum(std::string_view bytes, uint64_t seed) {
#ifdef BIGTABLE_MAY_DISPATCH
  if (XXH3_64bits_withSeed_dispatch != nullptr) [[likely]] {
    return XXH3_64bits_withSeed_dispatch(bytes.data(), bytes.size(), seed);
  }
#endif
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace bigtable
