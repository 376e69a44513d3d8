// LogFile over a file descriptor: a segment of the commit log. One thread writes at a time; Sync
// may be called concurrently and from several threads.
//
// Invariants: the file has its full length from the start. It is mapped only if its space is
// reserved, so that a store into it cannot fail because the disk is full. After a failed Sync every
// later one fails.
#ifndef BIGTABLE_FILESYSTEM_POSIX_LOG_FILE_H_
#define BIGTABLE_FILESYSTEM_POSIX_LOG_FILE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "filesystem/posix_io.h"

namespace bigtable {

// Creates the file; if that fails part way, removes it. With `reserve` false, the space is not
// reserved and the file is not mapped, as on a file system that cannot do it.
absl::StatusOr<std::unique_ptr<LogFile>> NewPosixLogFile(const PosixPath& path, uint64_t size,
                                                         bool reserve);

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_LOG_FILE_H_
