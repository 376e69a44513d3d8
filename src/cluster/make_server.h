// Makes a tablet server of a role, with sizes that fit the memory budget, and connects it to what
// it shares with the other servers of its process.
#ifndef BIGTABLE_CLUSTER_MAKE_SERVER_H_
#define BIGTABLE_CLUSTER_MAKE_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"

#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "cluster/live_options.h"
#include "cluster/server_role.h"
#include "tablet/tablet_state.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

struct ClusterEnvironment;

// TabletEnvironment::most_memtable_size of such a server, with the options as they are now.
uint64_t MostMemtableSize(const LiveOptions& live, ServerRole role);

// All arguments outlive the server. `store` commits the changes of its tablets, and
// `attest_commits` makes sure that damage to these commits is noticed
// (TabletEnvironment::attest_commits).
std::unique_ptr<TabletServer> MakeTabletServer(
    ClusterEnvironment* environment, ServerRole role, TabletStore* store,
    std::function<absl::Status(const CallLimits&)> attest_commits);

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_MAKE_SERVER_H_
