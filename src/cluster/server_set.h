// The tablet servers of a process and their tablets: finds them, replaces servers that have ended,
// and fences servers that have lost their locks.
//
// Tablets are looked up at their servers, not in METADATA: a tablet that is found here is served
// here.
#ifndef BIGTABLE_CLUSTER_SERVER_SET_H_
#define BIGTABLE_CLUSTER_SERVER_SET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "cluster/environment.h"
#include "cluster/server_host.h"
#include "cluster/server_role.h"
#include "metadata/metadata_table.h"
#include "rpc/data_service.h"

namespace bigtable {

// Thread-safe after Start().
class ServerSet {
 public:
  // `environment` outlives this.
  explicit ServerSet(ClusterEnvironment* environment) : environment_(environment) {}
  ServerSet(const ServerSet&) = delete;
  ServerSet& operator=(const ServerSet&) = delete;

  // Makes METADATA's servers, and as many servers for users' tablets as the options say. None has a
  // log, a lock or a tablet yet. `metadata` has METADATA's rows for users' tablets, and `root_rows`
  // those for METADATA's own tablets. Both outlive this.
  void Start(MetadataTable* metadata, MetadataTable* root_rows);
  // Passes the sizes in ClusterEnvironment::live, which were changed, to all servers.
  void UpdateSizes();
  // Starts background work on their tablets: BackgroundWork::Start.
  absl::Status StartBackground(std::function<void()> on_progress);

  // --- Servers ---

  // The servers of users' tablets, in the order of their numbers.
  std::vector<std::shared_ptr<ServerHost>> Users() const { return OfRole(ServerRole::kUser); }
  std::vector<std::shared_ptr<ServerHost>> OfRole(ServerRole role) const;
  // Including those that have ended.
  std::vector<std::shared_ptr<ServerHost>> OfRoleEver(ServerRole role) const;
  // All servers, in the order of their roles: each writes to those before it.
  std::vector<std::shared_ptr<ServerHost>> All() const;
  std::vector<TabletServer*> AllTabletServers() const;
  // The server with this name; null if there is none.
  std::shared_ptr<ServerHost> Find(std::string_view name) const;
  // The same, also among servers that have ended.
  std::shared_ptr<ServerHost> FindEver(std::string_view name) const;

  // Replaces a server that has ended by a new one without tablets. The old one stays, empty, until
  // the database is closed, since calls may still use it. The new server accepts no master before
  // this epoch. Does nothing if the server was replaced already.
  void Replace(const std::shared_ptr<ServerHost>& ended, MasterEpoch epoch);
  // Fences the servers that have lost their locks, so that they never serve again. This is the
  // first step of replacing them, and the only step that callers who wait for writes may wait for.
  // It needs no master. Call it on a thread that waits for nothing else.
  void FenceLost();
  // After OK, recovery notices damage to any commit that servers of this role have made so far, to
  // METADATA or its root. Call it before removing what these commits replace. Unavailable while the
  // server that has the commits in its log is being replaced.
  absl::Status AttestCommitsOf(ServerRole role, const CallLimits& limits = {}) const;
  // To be called before a change that writes to METADATA and cannot be given up: waits for the
  // present turns of METADATA's servers. Errors of the limits.
  absl::Status AwaitMetadata(const CallLimits& limits) const;

  // Sets how calls reach a server: in place, or through the DataService that `services` returns for
  // it, which outlives the last call.
  using Services = std::function<DataService*(ServerHost*)>;
  void SetServices(Services services);
  DataService* ServiceOf(ServerHost* host) const;

  // --- Tablets ---

  // The served tablets of a table, in key order.
  std::vector<HostedTablet> TabletsOf(uint64_t table_id) const;
  // The tablet that has `row`, if it is served.
  HostedTablet FindTablet(uint64_t table_id, std::string_view row) const;
  // Whether no two servers serve a tablet with `row` at the same time: for assertions.
  bool IsServedOnce(uint64_t table_id, std::string_view row) const;
  // Calls `function` for one tablet after the other that has some of `rows`, in key order, with
  // those that are not done yet. If the tablet is superseded meanwhile, they are not done, and a
  // later call has rows from the same one on. Waits for unserved tablets. NotFound if `is_there`
  // reports that the table was deleted.
  using TabletFunction = absl::FunctionRef<absl::Status(const HostedTablet&, const RowRange& rows)>;
  absl::Status ForEachTablet(uint64_t table_id, const RowRange& rows, const CallLimits& limits,
                             absl::FunctionRef<absl::Status()> is_there, TabletFunction function);
  // Once all tablets are served: finds the files that several tablets name.
  void CountSharedFiles();

 private:
  std::shared_ptr<ServerHost> MakeHost(ServerRole role);

  ClusterEnvironment* const environment_;
  MetadataTable* metadata_ = nullptr;
  MetadataTable* root_rows_ = nullptr;

  Mutex fence_mutex_;
  Mutex replace_mutex_;  // serializes Replace(); before mutex_
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<ServerHost>> servers_ ABSL_GUARDED_BY(mutex_);  // as All()
  std::vector<std::shared_ptr<ServerHost>> ended_ ABSL_GUARDED_BY(mutex_);
  Services services_ ABSL_GUARDED_BY(mutex_);  // null: in place
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_SET_H_
