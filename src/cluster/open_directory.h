// Locks a database's directory, and creates the database's files if there is no database yet. The
// file "root" of the lock service is created last, so its presence means that the database is
// complete.
#ifndef BIGTABLE_CLUSTER_OPEN_DIRECTORY_H_
#define BIGTABLE_CLUSTER_OPEN_DIRECTORY_H_

#include <memory>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/options.h"

#include "cluster/directory.h"
#include "lockservice/small_files.h"
#include "metadata/root_tablet.h"

namespace bigtable {

// Returns the lock: shared if the options say read_only, otherwise exclusive. Errors of
// FileSystem::LockFile. NotFound: there is no database, and the options forbid creating one.
// AlreadyExists: there is a database, and options.error_if_exists is set. DataLoss: there are
// SSTables, but no root. `lock_files` and `root` are those of the directory.
absl::StatusOr<std::unique_ptr<FileLock>> OpenDirectory(const DatabaseDirectory& directory,
                                                        const DatabaseOptions& options,
                                                        const SmallFiles& lock_files,
                                                        RootTablet* root);

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_OPEN_DIRECTORY_H_
