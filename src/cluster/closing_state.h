// How far the closing of a database has come, for calls and threads that wait for something.
#ifndef BIGTABLE_CLUSTER_CLOSING_STATE_H_
#define BIGTABLE_CLUSTER_CLOSING_STATE_H_

#include <atomic>

namespace bigtable {

// Thread-safe. Each flag is set once, by Cluster.
struct ClosingState {
  // The database is being closed: calls no longer wait for unserved tablets or background work.
  std::atomic<bool> is_closing{false};
  // There is no master any more: calls no longer wait for METADATA either.
  std::atomic<bool> is_ending{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_CLOSING_STATE_H_
