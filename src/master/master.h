// The master: decides which server has which tablet, has tablets of servers that are lost served by
// others, splits, moves and merges tablets, and creates, changes and deletes tables (section 5.2 of
// the paper). It is on the way of no read and no write, and keeps nothing that it could not find
// again: schemas are in the lock service, tablets in METADATA, and which server has which tablet
// the servers know. So a master may die at any point; the next one goes through these steps:
//
//  1. it takes the lock that makes it the only one (master_lock.h)
//  2. it finds the servers
//  3. it asks each which tablets it has; from then on the server accepts no earlier master
//  4. it looks for tablets in METADATA that no server has, and has them loaded
//
// Steps 3 and 4 are done for METADATA's root tablet first, then for METADATA's other tablets, which
// are found there, and then for users' tablets (cluster/server_role.h). As soon as a role's tablets
// are assigned, a thread looks after its servers, and never waits for those of the roles behind it:
// so whatever waits for a server of METADATA, the thread that replaces it does not. The first one
// of a process finds that no server has any tablet, and the logs of all servers that there were:
// opening a database is step 4 with all tablets. Each step that others can see is a file of the
// lock service, a mutation of METADATA, or a command to a server (cluster/server_host.h), whole or
// not at all; and before each the master looks whether it has its lock.
//
// Its parts, each of which knows only those before it:
//
//   TableCatalogue   the tables that there are, and their schemas
//   Assignment       which server loads which tablet; lost servers are replaced
//   TableChanges     tables and access lists are created, changed and deleted
//   TabletChanges    tablets are split, merged and moved
//   Sweeper          garbage is removed
//   Upkeep           the thread that splits, merges, balances and sweeps by itself
//   LivenessThread   the threads that replace lost servers, one for each role
#ifndef BIGTABLE_MASTER_MASTER_H_
#define BIGTABLE_MASTER_MASTER_H_

#include <array>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cluster/cluster.h"
#include "cluster/server_role.h"
#include "master/assignment.h"
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
    // The first one of its process: files that no tablet names are swept.
    bool opening = false;
    // For tests: called before each step.
    std::function<void()> on_step = nullptr;
  };

  // The first step. Unavailable if another master has the lock. `cluster` outlives it.
  static absl::StatusOr<std::shared_ptr<Master>> Create(Cluster* cluster, Options options);
  // The others. Meanwhile another thread has to call ServerSet::FenceLost: a command of an earlier
  // master to a server that is lost is done only after that, and until then that server does not
  // answer.
  absl::Status Begin();
  ~Master();
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  // Its threads begin: until then it looks after nothing by itself.
  absl::Status StartThreads();
  // They are to end; does not wait for it.
  void BeginStopThreads();
  // They end. The threads that look after lost servers go on until FinishThreads: the other may
  // wait for them. Those of METADATA's servers go on until the destructor.
  void StopThreads();
  void FinishThreads();
  // There may be something to do for them. Cheap; from any thread.
  void Wake();

  // False: it has given up, or lost its lock, and another one is to take its place.
  bool active() const { return context_.active(); }
  MasterEpoch epoch() const { return context_.epoch(); }

  TableChanges* tables() { return &tables_; }
  TabletChanges* tablets() { return &tablets_; }
  Assignment* assignment() { return &assignment_; }
  Sweeper* sweeper() { return &sweeper_; }
  Upkeep* upkeep() { return &upkeep_; }
  // Database::Resume.
  absl::Status Resume();

 private:
  Master(Cluster* cluster, bool opening, std::unique_ptr<MasterLock> lock);

  // Step 3.
  absl::Status QueryServers(ServerRole role);
  // Steps 3 and 4 for METADATA's tablets of one role.
  absl::Status BeginRole(ServerRole role);
  // Whether an error keeps it from going on: a later master must begin to be able to do something
  // about a server that was lost, which is in the way until one is there that replaces it.
  bool IsFatal(const absl::Status& assigned) const {
    return !assigned.ok() && (opening_ || !active());
  }
  LivenessThread* LivenessOf(ServerRole role) { return &liveness_[static_cast<size_t>(role)]; }

  const bool opening_;
  MasterContext context_;
  TableCatalogue catalogue_;
  Assignment assignment_;
  TableChanges tables_;
  TabletChanges tablets_;
  Sweeper sweeper_;
  Upkeep upkeep_;
  std::array<LivenessThread, kServerRoles.size()> liveness_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_H_
