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

#include "bigtable/memory_budget.h"

#include "background/background_work.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "cluster/closing_state.h"
#include "cluster/coordination.h"
#include "cluster/live_options.h"
#include "cluster/server_host.h"
#include "cluster/server_role.h"
#include "cluster/storage.h"
#include "cluster/unserved_tablets.h"
#include "monitoring/listener_queue.h"
#include "rpc/data_service.h"

namespace bigtable {

// Thread-safe after Start().
class ServerSet {
 public:
  // What it uses besides the servers.
  struct Parts {
    bool read_only = false;
    ClusterStorage* storage = nullptr;
    ClusterCoordination* coordination = nullptr;
    MemoryBudget* budget = nullptr;        // of the memtables of users' servers
    BackgroundWork* background = nullptr;  // of the servers
    const UnservedTablets* unserved = nullptr;
    const ClosingState* closing = nullptr;
    InfoLog* info_log = nullptr;
    ListenerQueue* events = nullptr;  // null: there is no listener
  };
  // Makes a server without a log, a lock or a tablet.
  using MakeHostFunction = std::function<std::shared_ptr<ServerHost>(ServerRole role)>;

  // All outlive this.
  explicit ServerSet(const Parts& parts) : parts_(parts) {}
  ServerSet(const ServerSet&) = delete;
  ServerSet& operator=(const ServerSet&) = delete;

  // Makes METADATA's servers, and so many servers for users' tablets. Those that replace them are
  // made by the same function.
  void Start(int user_servers, MakeHostFunction make_host);
  // Passes the sizes in `live`, which were changed, to all servers.
  void UpdateSizes(const LiveOptions& live);
  // Starts background work on their tablets: BackgroundWork::Start.
  absl::Status StartBackground(int compaction_threads, std::function<void()> on_progress);

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
  // A tablet that is being moved, from before it leaves its server until another server has loaded
  // it, or could not.
  class Moving {
   public:
    Moving(ServerSet* servers, std::shared_ptr<Tablet> tablet);
    ~Moving();
    Moving(const Moving&) = delete;
    Moving& operator=(const Moving&) = delete;

   private:
    ServerSet* const servers_;
    const std::shared_ptr<Tablet> tablet_;
  };
  // The tablets of users that are served or being moved, for sums over all of them. One that has
  // just arrived may be there twice, as it was and as it is; both have the same files.
  std::vector<std::shared_ptr<Tablet>> AllOfUsers() const;
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
  const Parts parts_;
  MakeHostFunction make_host_;

  Mutex fence_mutex_;
  Mutex replace_mutex_;  // serializes Replace(); before mutex_
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<ServerHost>> servers_ ABSL_GUARDED_BY(mutex_);  // as All()
  std::vector<std::shared_ptr<ServerHost>> ended_ ABSL_GUARDED_BY(mutex_);
  Services services_ ABSL_GUARDED_BY(mutex_);  // null: in place
  std::vector<std::shared_ptr<Tablet>> moving_ ABSL_GUARDED_BY(mutex_);
  uint64_t moved_ ABSL_GUARDED_BY(mutex_) = 0;  // how many have been in moving_
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_SET_H_
