// FileLock by flock(2): it keeps out every other holder in this process and in others, and goes
// with the process that holds it. Any thread.
//
// A child of fork() shares the open file that the lock is on, and so would hold it for as long as
// it lives. It closes its descriptor instead before fork() returns: the lock is the parent's alone,
// and ends with it. (Locks of fcntl() are not inherited, but go when anybody in the process closes
// any descriptor of the file, if only to copy it, and do not keep out this process itself.)
//
// While an exclusive lock is held, its file holds the process's number in decimal, for the message
// to whom it is refused; a released one leaves the file empty.
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
