// What all parts of a master share: the servers that it commands, and its lock.
#ifndef BIGTABLE_MASTER_MASTER_CONTEXT_H_
#define BIGTABLE_MASTER_MASTER_CONTEXT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"

#include "base/call_limits.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "master/master_lock.h"

namespace bigtable {

// Thread-safe. Outlives the parts.
struct MasterContext {
  MasterContext(Cluster* c, std::unique_ptr<MasterLock> l, std::function<void()> w)
      : cluster(c),
        environment(c->environment()),
        servers(c->servers()),
        metadata(c->metadata()),
        lock(std::move(l)),
        wake(std::move(w)) {}

  // False: it has given up, or lost its lock, and another master must replace it.
  bool active() const { return lock->held(); }
  MasterEpoch epoch() const { return lock->epoch(); }
  // Call it before each step that others can see. Unavailable once the lock is lost.
  absl::Status Step() const { return lock->Step(); }
  // The caller's limits, which also end when the master gives up.
  CallLimits WithEnd(CallLimits limits) const {
    limits.given_up = lock->given_up();
    return limits;
  }
  // To be called before a change that cannot be given up: waits for the writes of METADATA and of
  // the lock service that are under way. Errors of the limits.
  absl::Status AwaitChanges(const CallLimits& limits) const {
    BT_RETURN_IF_ERROR(servers->AwaitMetadata(limits));
    return lock->session()->AwaitWrites(limits);
  }
  // Whether waiting calls must end, because the database is being closed.
  bool IsStopping() const { return environment->closing.is_closing || is_stopping; }

  Cluster* const cluster;
  ClusterEnvironment* const environment;
  ServerSet* const servers;
  LocalMetadata* const metadata;
  const std::unique_ptr<MasterLock> lock;
  // Wakes the master's threads, because there may be work for them. Cheap. From any thread.
  const std::function<void()> wake;
  std::atomic<bool> is_stopping{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_CONTEXT_H_
