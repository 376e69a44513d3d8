// The master: assigns tablets to servers, has the tablets of lost servers served by others, splits,
// moves and merges tablets, and creates, changes and deletes tables (section 5.2 of the paper). It
// is not on the path of any read or write, and keeps no state that it could not find again: schemas
// are in the lock service, tablets in METADATA, and the servers know their own tablets. So a master
// may die at any point. The next master goes through these steps:
//
//  1. it takes the lock that only one master can hold (master_lock.h)
//  2. it finds the servers
//  3. it queries the tablets of each server; after that the server accepts no earlier master
//  4. it looks in METADATA for tablets that no server has, and has them loaded
//
// Steps 3 and 4 are done for METADATA's root tablet first, then for METADATA's other tablets, whose
// locations are in the root tablet, and then for users' tablets (cluster/server_role.h). As soon as
// a role's tablets are assigned, a thread watches the role's servers. It never waits for servers of
// later roles. So the thread that replaces a METADATA server does not depend on any thread that
// waits for that server. The first master of a process finds that no server has any tablet, and
// finds the logs of all earlier servers: opening a database is step 4 with all tablets. Each step
// that others can see is a file of the lock service, a mutation of METADATA, or a command to a
// server (cluster/server_host.h), and each of these is atomic. Before each step the master checks
// that it has its lock.
//
// Its parts, each of which knows only those above it:
//
//   TableCatalogue   the existing tables and their schemas
//   Assignment       assigns tablets to servers, and replaces lost servers
//   TableChanges     creates, changes and deletes tables and access lists
//   Ingestion        adds files that were written elsewhere to tablets
//   TabletChanges    splits, merges and moves tablets, and finds those to ingest into
//   Sweeper          removes garbage
//   Upkeep           the thread that splits, merges, balances and sweeps by itself
//   LivenessThread   the threads that replace lost servers, one for each role
#ifndef BIGTABLE_MASTER_MASTER_H_
#define BIGTABLE_MASTER_MASTER_H_

#include <array>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "cluster/cluster.h"
#include "cluster/server_role.h"
#include "master/assignment.h"
#include "master/ingestion.h"
#include "master/liveness.h"
#include "master/master_context.h"
#include "master/master_lock.h"
#include "master/sweep.h"
#include "master/table_catalogue.h"
#include "master/table_changes.h"
#include "master/tablet_changes.h"
#include "master/upkeep.h"

namespace bigtable {

// Thread-safe.
class Master {
 public:
  struct Options {
    // This is the first master of its process: files that no tablet names are swept.
    bool opening = false;
    // For tests: called before each step.
    std::function<void()> on_step = nullptr;
  };

  // Step 1. Unavailable if another master has the lock. `cluster` outlives the master.
  static absl::StatusOr<std::shared_ptr<Master>> Create(Cluster* cluster, Options options);
  // Steps 2 to 4. Another thread must call ServerSet::FenceLost meanwhile: a command that an
  // earlier master gave to a lost server ends only after that, and until then this server does not
  // respond.
  absl::Status Begin();
  ~Master();
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  // Starts the threads. Until then the master does nothing by itself.
  absl::Status StartThreads();
  // Requests the threads to end. Does not wait for them.
  void BeginStopThreads();
  // Ends the upkeep thread. The thread that replaces users' servers runs until FinishThreads, since
  // the upkeep thread may wait for it. Those of METADATA's servers run until the destructor.
  void StopThreads();
  void FinishThreads();
  // Wakes the threads, because there may be work for them. Cheap. From any thread.
  void Wake();

  // False: it has given up, or lost its lock, and another master must replace it.
  bool active() const { return context_.active(); }
  MasterEpoch epoch() const { return context_.epoch(); }

  TableChanges* tables() { return &tables_; }
  TabletChanges* tablets() { return &tablets_; }
  Assignment* assignment() { return &assignment_; }
  Sweeper* sweeper() { return &sweeper_; }
  Upkeep* upkeep() { return &upkeep_; }
  // Database::Resume.
  absl::Status Resume(const CallLimits& limits);

 private:
  // `environment`: of the cluster; the master gives its parts what they use of it.
  Master(Cluster* cluster, ClusterEnvironment* environment, bool opening,
         std::unique_ptr<MasterLock> lock);

  // Step 3.
  absl::Status QueryServers(ServerRole role);
  // Steps 3 and 4 for METADATA's tablets of one role.
  absl::Status BeginRole(ServerRole role);
  // Whether an error ends this master. When a database is not being opened, a master must begin in
  // spite of errors, so that it can replace the lost server that causes them.
  bool IsFatal(const absl::Status& assigned) const {
    return !assigned.ok() && (opening_ || !active());
  }
  LivenessThread* LivenessOf(ServerRole role) { return &liveness_[static_cast<size_t>(role)]; }

  const bool opening_;
  Cluster* const cluster_;
  SequenceSource* const sequences_;
  MasterContext context_;
  TableCatalogue catalogue_;
  Assignment assignment_;
  TableChanges tables_;
  Ingestion ingestion_;
  TabletChanges tablets_;
  Sweeper sweeper_;
  Upkeep upkeep_;
  std::array<LivenessThread, kServerRoles.size()> liveness_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_H_
