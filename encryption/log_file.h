// An encrypted log file (log_format.h): the file that is written, and the same file as it is read
// later. The writer is for one thread at a time, but for Sync; the reader is thread-safe. Both
// outlive the file system.
#ifndef BIGTABLE_ENCRYPTION_LOG_FILE_H_
#define BIGTABLE_ENCRYPTION_LOG_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "bigtable/encrypted_file_system.h"
#include "bigtable/file_system.h"

#include "encryption/ciphers.h"

namespace bigtable {

// Creates the file in `base`. If that does not map log files, the result holds the file open for
// reading too.
absl::StatusOr<std::unique_ptr<LogFile>> NewEncryptedLogFile(FileSystem* base, std::string path,
                                                             uint64_t size, KeyProvider* keys);

// `base` has a header with this key and size. DataLoss if the file is shorter than that.
absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenEncryptedLogFile(
    std::string path, std::unique_ptr<RandomAccessFile> base, uint64_t size, const DataKey& key);

// If the first 4096 bytes of `base` are zeros, the file that it stands for. Null otherwise.
absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenUnsyncedLogFile(std::string path,
                                                                      const RandomAccessFile& base);

}  // namespace bigtable

#endif  // BIGTABLE_ENCRYPTION_LOG_FILE_H_
