// The tablet servers of a process, and the tablets that they have: finds them, puts a new server in
// the place of one that has ended, and fences those that have lost their locks.
//
// Tablets are looked for with their servers, not in METADATA: what is found here is served here.
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

  // Makes METADATA's servers, and as many for users' tablets as the options say. None has a log, a
  // lock or a tablet yet. `metadata` has METADATA's rows for users' tablets, and `root_rows` those
  // for METADATA's own; both outlive this.
  void Start(MetadataTable* metadata, MetadataTable* root_rows);
  // Background work on their tablets begins: BackgroundWork::Start.
  absl::Status StartBackground(std::function<void()> on_progress);

  // --- Servers ---

  // Of users' tablets, in the order of their numbers.
  std::vector<std::shared_ptr<ServerHost>> Users() const { return OfRole(ServerRole::kUser); }
  std::vector<std::shared_ptr<ServerHost>> OfRole(ServerRole role) const;
  // With those that have ended.
  std::vector<std::shared_ptr<ServerHost>> OfRoleEver(ServerRole role) const;
  // All, in the order of their roles: each writes to those before it.
  std::vector<std::shared_ptr<ServerHost>> All() const;
  std::vector<TabletServer*> AllTabletServers() const;
  // The server with this name; null if there is none.
  std::shared_ptr<ServerHost> Find(std::string_view name) const;
  // The same, also among those that have ended.
  std::shared_ptr<ServerHost> FindEver(std::string_view name) const;

  // Puts a new server, without tablets, in the place of one that has ended, which stays, empty,
  // until the database is closed, since calls may look at it. The new one accepts no master before
  // this epoch. Nothing, if that was done already.
  void Replace(const std::shared_ptr<ServerHost>& ended, MasterEpoch epoch);
  // Fences the servers that have lost their locks: they never serve again. This is the first step
  // of replacing them, and the only one that callers who wait for writes may wait for: it needs no
  // master, and is to be taken on a thread that waits for nothing.
  void FenceLost();
  // After OK, damage to anything that servers of this role have committed so far, to METADATA or
  // its root, is noticed when it is recovered: call it before what these commits replace is
  // removed. Unavailable while the server that has them in its log is being replaced.
  absl::Status AttestCommitsOf(ServerRole role) const;
  // Waits until everything that was given a sequence number before the call is visible.
  void WaitForWrites() const;

  // How calls reach a server: in place, or through what `services` returns for it, which outlives
  // the last call.
  using Services = std::function<DataService*(ServerHost*)>;
  void SetServices(Services services);
  DataService* ServiceOf(ServerHost* host) const;

  // --- Tablets ---

  // The tablets of a table that are served, in key order.
  std::vector<HostedTablet> TabletsOf(uint64_t table_id) const;
  // The one that has `row`, if it is served.
  HostedTablet FindTablet(uint64_t table_id, std::string_view row) const;
  // Whether no two servers serve a tablet with `row`, at one moment: for assertions.
  bool IsServedOnce(uint64_t table_id, std::string_view row) const;
  // Calls `function` for one tablet of the table after the other, and looks again for those that
  // were superseded. Waits for those that are not served. NotFound if `is_there` says that the
  // table was deleted.
  absl::Status ForEachTablet(uint64_t table_id, const CallLimits& limits,
                             absl::FunctionRef<absl::Status()> is_there,
                             absl::FunctionRef<absl::Status(const HostedTablet&)> function);
  // Once all tablets are served: finds the files that several of them name.
  void CountSharedFiles();

 private:
  std::shared_ptr<ServerHost> MakeHost(ServerRole role);

  ClusterEnvironment* const environment_;
  MetadataTable* metadata_ = nullptr;
  MetadataTable* root_rows_ = nullptr;

  Mutex fence_mutex_;
  Mutex replace_mutex_;  // one server at a time is replaced; before mutex_
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<ServerHost>> servers_ ABSL_GUARDED_BY(mutex_);  // as All()
  std::vector<std::shared_ptr<ServerHost>> ended_ ABSL_GUARDED_BY(mutex_);
  Services services_ ABSL_GUARDED_BY(mutex_);  // null: in place
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_SET_H_
