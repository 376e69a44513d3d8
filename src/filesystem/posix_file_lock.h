// FileLock by flock(2): it excludes every other holder in this process and in others, and ends with
// the process that holds it. Any thread.
//
// A child of fork() shares the open file of the lock, and so would hold the lock as long as the
// child lives. Instead it closes its descriptor before fork() returns: only the parent has the
// lock, and it ends with the parent. (Locks of fcntl() are not inherited, but they end when any
// code in the process closes any descriptor of the file, for example after copying it, and they do
// not exclude this process itself.)
//
// While an exclusive lock is held, its file contains the process's number in decimal, for the
// message to processes that are refused; releasing it empties the file.
#ifndef BIGTABLE_FILESYSTEM_POSIX_FILE_LOCK_H_
#define BIGTABLE_FILESYSTEM_POSIX_FILE_LOCK_H_

#include <memory>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "filesystem/posix_io.h"

namespace bigtable {

absl::StatusOr<std::unique_ptr<FileLock>> LockPosixFile(const PosixPath& path,
                                                        FileSystem::LockMode mode);

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_FILE_LOCK_H_
