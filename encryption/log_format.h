// The format of an encrypted log file, which is written in place, in any order and again.
//
//   +--------+-------+------+------+-----+------+
//   | header | zeros | unit | unit | ... | unit |      each unit of 512 bytes, the last maybe
//   shorter
//   +--------+-------+------+------+-----+------+
//   0       256     4096
//
// The header is file_header.h's; it has the size of the contents. They begin at 4096, so that they
// are aligned to pages and sectors as in a file that is not encrypted, and are filled with zeros to
// a multiple of 16.
//
// Unit: AES-256-XTS under the file's key, with the number of the unit as a little-endian tweak.
// Each block of 16 bytes is encrypted by itself, and units are whole blocks, so no ciphertext is
// stolen. A block of 16 zeros is not encrypted: it stands for 16 zeros, so that a new file needs
// not be written. (A block that is encrypted to zeros has the probability 2^-128.) This shows how
// much of a file was ever written.
//
// A write changes the blocks that it touches. A block that it touches in part is written with its
// other bytes as they were. It stays in its sector, which a disk writes as a whole or not at all.
// So a write that a power loss cuts off damages no byte beside its own.
//
// No byte is authenticated: whoever can write to the disk can make any block other, unknown bytes,
// 16 zeros, or the bytes that it had earlier. The checksums of a log's records, over the plain
// bytes, find damage; they are no defence against an attacker.
//
// A file whose first 4096 bytes are zeros is a log file that was not synced before a crash of the
// machine. It reads as zeros.
#ifndef BIGTABLE_ENCRYPTION_LOG_FORMAT_H_
#define BIGTABLE_ENCRYPTION_LOG_FORMAT_H_

#include <cstdint>

#include "absl/status/status.h"

#include "encryption/ciphers.h"

namespace bigtable {

inline constexpr uint64_t kLogContentsAt = 4096;

// The bytes of the units of a log file with `size` bytes of contents.
inline constexpr uint64_t StoredLogSize(uint64_t size) {
  return (size + Xts::kBlock - 1) / Xts::kBlock * Xts::kBlock;
}

// Decrypts units in place. `position`, a multiple of Xts::kUnit, is that of the first one in the
// contents; `n` is a multiple of Xts::kBlock. `xts` decrypts with the file's key.
absl::Status DecryptUnits(Xts* xts, uint64_t position, char* bytes, size_t n);

}  // namespace bigtable

#endif  // BIGTABLE_ENCRYPTION_LOG_FORMAT_H_
