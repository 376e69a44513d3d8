// The errors of a caller who asks a file for what it does not have, worded alike by every file
// system. Any thread.
#ifndef BIGTABLE_FILESYSTEM_FILE_ERRORS_H_
#define BIGTABLE_FILESYSTEM_FILE_ERRORS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "base/strings.h"

namespace bigtable {

// A read of bytes that lie, in part, at or after the file's end `size`.
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
