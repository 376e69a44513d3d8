// Locks a database's directory, and creates the database's files if there is no database yet. The
// file "root" of the lock service is created last, so its presence means that the database is
// complete.
#ifndef BIGTABLE_CLUSTER_OPEN_DIRECTORY_H_
#define BIGTABLE_CLUSTER_OPEN_DIRECTORY_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/options.h"

#include "cluster/directory.h"
#include "metadata/root_tablet.h"

namespace bigtable {

// Whether OpenDirectory may go on, as far as it can be known before anything in the directory is
// written or locked. NotFound: there is no database, and the options forbid creating one.
// FailedPrecondition: there is none, and files of something else, which the options do not allow.
// DataLoss: there are SSTables, but no root.
absl::Status CheckDirectory(const DatabaseDirectory& directory, const DatabaseOptions& options);

// Returns the lock: shared if the options say read_only, otherwise exclusive. Errors of
// FileSystem::LockFile and of CheckDirectory. AlreadyExists: there is a database, and
// options.error_if_exists is set. `root` is that of the directory.
absl::StatusOr<std::unique_ptr<FileLock>> OpenDirectory(const DatabaseDirectory& directory,
                                                        const DatabaseOptions& options,
                                                        RootTablet* root);

// Makes every later OpenDirectory for writing FailedPrecondition: writes the file FENCED, durably.
// FailedPrecondition: a process has the directory locked. NotFound: there is no database.
absl::Status FenceDirectory(const DatabaseDirectory& directory, FileSystem* file_system);

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_OPEN_DIRECTORY_H_
