// Errors of accesses outside a file, with the same text for every file system. Any thread.
#ifndef BIGTABLE_FILESYSTEM_FILE_ERRORS_H_
#define BIGTABLE_FILESYSTEM_FILE_ERRORS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "base/strings.h"

namespace bigtable {

// For a read of bytes at or after the file's end `size`, in part or as a whole.
inline absl::Status FileTooShort(std::string_view path, uint64_t offset, uint64_t n,
                                 uint64_t size) {
  return absl::DataLossError(
      Cat(path, ": read of ", n, " bytes at offset ", offset, ": the file ends at offset ", size));
}

// OK if [offset, offset + n) lies in a log file of `size` bytes.
inline absl::Status CheckLogWrite(std::string_view path, uint64_t offset, uint64_t n,
                                  uint64_t size) {
  if (offset <= size && n <= size - offset) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(path, ": write of ", n, " bytes at offset ", offset,
                                        ": the log file has ", size, " bytes"));
}

inline absl::Status FileIsClosed(std::string_view path) {
  return absl::FailedPreconditionError(Cat(path, ": write: the file is closed"));
}

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_FILE_ERRORS_H_
