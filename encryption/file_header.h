// The header of an encrypted file, which both formats have: what the file is, and its key,
// encrypted under a master key. Any thread.
//
//     0  8    "BTENCRYP"
//     8  u32  version of the format: 1
//    12  u32  1: written once (appended_format.h); 2: log file (log_format.h)
//    16  u64  size of a log file's contents; 0 in a file written once
//    24  u8   length of the master key's id, 1 to 127
//    25       the id, in clear; then zeros
//   164  12   nonce, random
//   176  64   the file's key, encrypted by AES-256-GCM under the master key
//   240  16   the tag, which covers the bytes [0, 164) too
//   256
//
// The bytes [0, 512) of a file are in one sector of a disk, so that a power loss leaves a header or
// none.
#ifndef BIGTABLE_ENCRYPTION_FILE_HEADER_H_
#define BIGTABLE_ENCRYPTION_FILE_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/encrypted_file_system.h"

#include "encryption/ciphers.h"

namespace bigtable {

inline constexpr size_t kFileHeaderSize = 256;

enum class FileKind : uint32_t { kAppended = 1, kLog = 2 };

struct FileHeader {
  FileKind kind = FileKind::kAppended;
  uint64_t size = 0;
  DataKey key;
};

// A header with a new key, encrypted under the provider's current one. `path` is for messages.
// Errors of the provider.
absl::StatusOr<FileHeader> NewFileHeader(std::string_view path, FileKind kind, uint64_t size,
                                         KeyProvider* keys, std::string* bytes);

// Whether `bytes`, the beginning of a file, has the magic of an encrypted file.
bool IsEncrypted(std::string_view bytes);
// The id of the master key. FailedPrecondition: not encrypted, or of an unknown version. DataLoss:
// cut off, or no id.
absl::StatusOr<std::string> KeyIdOf(std::string_view path, std::string_view bytes);
// The errors of EncryptedFileSystem. `bytes` is the beginning of the file.
absl::StatusOr<FileHeader> ReadFileHeader(std::string_view path, std::string_view bytes,
                                          KeyProvider* keys);

}  // namespace bigtable

#endif  // BIGTABLE_ENCRYPTION_FILE_HEADER_H_
