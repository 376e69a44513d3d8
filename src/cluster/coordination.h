// What coordinates the servers and the masters of a database: the lock service, the state of the
// root tablet, which is a file of it, and the names of servers.
#ifndef BIGTABLE_CLUSTER_COORDINATION_H_
#define BIGTABLE_CLUSTER_COORDINATION_H_

#include <memory>

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "cluster/directory.h"
#include "cluster/server_directory.h"
#include "lockservice/local_lock_service.h"
#include "lockservice/small_files.h"
#include "metadata/root_tablet.h"

namespace bigtable {

// A plain struct, and thread-safe as its parts are.
struct ClusterCoordination {
  // `file_system` and `sequences` outlive this.
  ClusterCoordination(FileSystem* file_system, const DatabaseDirectory& directory,
                      SequenceSource* sequences)
      : server_names(sequences),
        small_files(file_system, directory.lock_service(), directory.copies_of_lock_service()),
        root(&small_files) {}
  ClusterCoordination(const ClusterCoordination&) = delete;
  ClusterCoordination& operator=(const ClusterCoordination&) = delete;

  ServerNames server_names;
  SmallFiles small_files;  // those of the lock service, which `root` reads before it is opened
  RootTablet root;
  // Null until the directory is locked.
  std::unique_ptr<LocalLockService> lock_service;
  std::unique_ptr<LockSession> session;  // not of a server, a master or a client
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_COORDINATION_H_
