// A block as stored in the file: optionally compressed, with a block trailer.
//
//   +---------------+----------+-------------------------------------------------+
//   | bytes         | encoding | checksum: XXH3 of bytes and encoding, seeded    |
//   |               | u8       | with (identity of the file XOR offset of bytes) |
//   +---------------+----------+-------------------------------------------------+
//                   |<- block trailer of 9 bytes ------------------------------->|
//
// * The identity is random for each file, so a sound block from another file or from another
//   offset of this one does not verify.
// * Encodings: 0 the block itself; 1 a zstd frame that states its content size; 2 the same, with
//   the file's dictionary.
//
// Worked example: the block "abc" at offset 100 of the file with identity 7:
//   61 62 63 | 00 | XXH3("abc\0", seed 7 ^ 100), little-endian
//
// Thread-safe: pure functions.
#ifndef BIGTABLE_BLOCKS_STORED_BLOCK_H_
#define BIGTABLE_BLOCKS_STORED_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/coding.h"

namespace bigtable {

enum class BlockEncoding : uint8_t { kRaw = 0, kZstd = 1, kZstdDictionary = 2 };

inline constexpr size_t kBlockTrailerSize = 1 + 8;

// The offset and size of a block in the file.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;  // without the block trailer

  friend bool operator==(const BlockHandle&, const BlockHandle&) = default;
};

// Its bytes in the file, block trailer included.
inline size_t StoredSize(const BlockHandle& block) {
  return static_cast<size_t>(block.size) + kBlockTrailerSize;
}

// Appends the block trailer to the block that begins at `begin` in `out`.
inline void AppendBlockTrailer(std::string* out, size_t begin, BlockEncoding encoding,
                               uint64_t identity, uint64_t offset) {
  out->push_back(static_cast<char>(encoding));
  AppendFixed64(out, Checksum(std::string_view(*out).substr(begin), identity ^ offset));
}

// Whether the block trailer after the `size` bytes at `block` is valid for them.
inline bool BlockTrailerHolds(const char* block, size_t size, uint64_t identity, uint64_t offset) {
  const uint64_t expected = LoadFixed64(block + size + 1);
  return static_cast<uint8_t>(block[size]) <=
             static_cast<uint8_t>(BlockEncoding::kZstdDictionary) &&
         Checksum({block, size + 1}, identity ^ offset) == expected;
}

inline BlockEncoding EncodingOf(const char* block, size_t size) {
  return static_cast<BlockEncoding>(block[size]);
}

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_STORED_BLOCK_H_
