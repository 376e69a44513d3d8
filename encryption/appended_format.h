// The format of an encrypted file that is written once, from start to end.
//
//   +--------+-------+-------+-----+-------+-----+-------+-----+-------+-----+
//   | header | chunk | chunk | ... | chunk | end | chunk | end | chunk | end |
//   +--------+-------+-------+-----+-------+-----+-------+-----+-------+-----+
//            |<-------------- frame ------------>|<-- frame -->|<-- frame -->|
//
// The header is file_header.h's. Each Append that is not empty writes one *frame*: its bytes in
// chunks of kChunkSize bytes, of which the last may be shorter, and a frame end. So after an Append
// the file is whole, and a reader needs no more than its last bytes to know its size. A file
// without an Append is empty, without a header.
//
// Chunk: its bytes, encrypted by AES-256-GCM under the file's key, and the tag of 16 bytes. The
// nonce is u32 0 and u64 the chunk's first position in the contents. Positions only grow, and after
// a failed Append there is no other. So no nonce is ever used for two texts.
//
// Frame end, 48 bytes:
//
//    0  8    "BTFRMEND"
//    8  u64  size of the contents up to here
//   16  u64  size of this frame's contents
//   24  u64  how many frames of this size end here, one after the other: 1 or more
//   32  16   the tag of GCM, which covers the fields above and the position of the frame end in the
//            file as a u64; the nonce is u32 1 and u64 the size of the contents
//
// A reader starts at the last frame end and skips as many frames as it says. A writer of SSTables
// appends pieces of one size, so that two or three frame ends lead to the beginning.
//
// What a crash leaves: the bytes after the last frame end that is intact are those of an Append
// that did not return, or of Appends that were not synced. They are not part of the contents. A
// file that has bytes and no frame end is damaged.
#ifndef BIGTABLE_ENCRYPTION_APPENDED_FORMAT_H_
#define BIGTABLE_ENCRYPTION_APPENDED_FORMAT_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/coding.h"
#include "encryption/ciphers.h"

namespace bigtable {

inline constexpr uint64_t kChunkSize = 4096;
inline constexpr uint64_t kStoredChunkSize = kChunkSize + Gcm::kTagSize;
inline constexpr std::string_view kFrameEndMagic = "BTFRMEND";
inline constexpr uint64_t kFrameEndFields = 32;
inline constexpr uint64_t kFrameEndSize = kFrameEndFields + Gcm::kTagSize;

struct FrameEnd {
  uint64_t size = 0;
  uint64_t frame = 0;
  uint64_t repeated = 0;
};

// The bytes in the file of a frame with `n` bytes of contents.
inline constexpr uint64_t StoredFrameSize(uint64_t n) {
  return n + (n + kChunkSize - 1) / kChunkSize * Gcm::kTagSize + kFrameEndSize;
}

inline Gcm::Nonce NonceOfChunk(uint64_t position) {
  Gcm::Nonce nonce = {};
  StoreFixed64(nonce.data() + 4, position);
  return nonce;
}
inline Gcm::Nonce NonceOfFrameEnd(uint64_t size) {
  Gcm::Nonce nonce = {1};
  StoreFixed64(nonce.data() + 4, size);
  return nonce;
}

}  // namespace bigtable

#endif  // BIGTABLE_ENCRYPTION_APPENDED_FORMAT_H_
