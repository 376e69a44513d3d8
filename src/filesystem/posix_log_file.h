// LogFile over a file descriptor: a segment of the commit log. One thread writes at a time; Sync
// may be called beside it and from several threads.
//
// What always holds: the file has its full length from the start; it is mapped only where its space
// is really reserved, so that a store into it cannot meet a full disk; after a Sync that failed
// every later one fails.
#ifndef BIGTABLE_FILESYSTEM_POSIX_LOG_FILE_H_
#define BIGTABLE_FILESYSTEM_POSIX_LOG_FILE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "filesystem/posix_io.h"

namespace bigtable {

// Creates the file, or removes it again when that fails half-way. With `reserve` false, the space
// is not reserved and the file not mapped, as on a file system that cannot do it.
absl::StatusOr<std::unique_ptr<LogFile>> NewPosixLogFile(const PosixPath& path, uint64_t size,
                                                         bool reserve);

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_LOG_FILE_H_
