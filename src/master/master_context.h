// What all parts of a master share: its lock, the servers that it commands, and what it reports to.
#ifndef BIGTABLE_MASTER_MASTER_CONTEXT_H_
#define BIGTABLE_MASTER_MASTER_CONTEXT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"

#include "background/background_work.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/status.h"
#include "cluster/closing_state.h"
#include "cluster/local_metadata.h"
#include "cluster/server_set.h"
#include "cluster/unserved_tablets.h"
#include "master/master_lock.h"
#include "monitoring/listener_queue.h"
#include "tablet/tablet_id.h"

namespace bigtable {

// Thread-safe. Outlives the parts.
struct MasterContext {
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
  // For callers that wait for users' tablets. What a master fails to do because it has lost its
  // lock is no reason for them to stop waiting: the next master tries again.
  void RecordFailedLoad(const TabletId& id, std::string_view table, std::string_view begin_row,
                        const absl::Status& status) const {
    if (active()) unserved->RecordFailure(id, table, begin_row, status);
  }
  void RecordAssignment(const absl::Status& assigned) const {
    if (assigned.ok() || active()) unserved->RecordAssignment(assigned);
  }
  // Whether waiting calls must end, because the database is being closed.
  bool IsStopping() const { return closing->is_closing || is_stopping; }

  const std::unique_ptr<MasterLock> lock;
  // These outlive the master.
  ServerSet* const servers;
  LocalMetadata* const metadata;
  BackgroundWork* const background;  // of the servers
  UnservedTablets* const unserved;
  const ClosingState* const closing;
  InfoLog* const info_log;
  ListenerQueue* const events;  // null: there is no listener
  const bool read_only;         // of the database
  // Wakes the master's threads, because there may be work for them. Cheap. From any thread.
  const std::function<void()> wake;
  std::atomic<bool> is_stopping{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_CONTEXT_H_
