// The two ends of an encrypted file that is written once (appended_format.h). The writer is for one
// thread at a time, the reader thread-safe. Both outlive the file system.
#ifndef BIGTABLE_ENCRYPTION_APPENDED_FILE_H_
#define BIGTABLE_ENCRYPTION_APPENDED_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "bigtable/encrypted_file_system.h"
#include "bigtable/file_system.h"

#include "encryption/ciphers.h"

namespace bigtable {

// `base` is empty.
absl::StatusOr<std::unique_ptr<WritableFile>> NewAppendedFile(std::string path,
                                                              std::unique_ptr<WritableFile> base,
                                                              KeyProvider* keys);

// `base` has a header with this key. DataLoss: no frame end, or frames that do not fit together.
absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenAppendedFile(
    std::string path, std::unique_ptr<RandomAccessFile> base, const DataKey& key);

}  // namespace bigtable

#endif  // BIGTABLE_ENCRYPTION_APPENDED_FILE_H_
