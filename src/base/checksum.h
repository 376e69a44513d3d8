// The one checksum of this project: XXH3, 64 bits. The seed ties bytes to their place, so that a
// sound block in the wrong place is as wrong as a flipped bit.
#ifndef BIGTABLE_BASE_CHECKSUM_H_
#define BIGTABLE_BASE_CHECKSUM_H_

#include <cstdint>
#include <string_view>
#include <xxhash.h>

namespace bigtable {

inline uint64_t Checksum(std::string_view bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CHECKSUM_H_
