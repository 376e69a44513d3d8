// Gives tests access to the inside of a database, for example to end its servers and sessions.
#ifndef BIGTABLE_TESTS_SUPPORT_DATABASE_PEER_H_
#define BIGTABLE_TESTS_SUPPORT_DATABASE_PEER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/bigtable.h"

#include "client/embedded_database.h"
#include "cluster/environment.h"
#include "support/expect_status.h"

namespace bigtable {

class DatabasePeer {
 public:
  explicit DatabasePeer(Database* database) : impl_(EmbeddedDatabase::ImplOf(database)) {}

  // All servers of user tablets, including former ones.
  std::vector<TabletServer*> ServersEver() const {
    std::vector<TabletServer*> servers;
    for (const auto& host : impl_->cluster->servers()->OfRoleEver(ServerRole::kUser))
      servers.push_back(host->server());
    return servers;
  }
  // The current servers of user tablets that have tablets or had some.
  std::vector<TabletServer*> Servers() const {
    std::vector<TabletServer*> servers;
    for (TabletServer* server : ServersEver()) {
      if (server->log().started() && server->state().serving()) servers.push_back(server);
    }
    return servers;
  }
  // Simulates the death of the process of the server.
  void Kill(TabletServer* server) {
    server->state().Abandon();
    impl_->parts.background->Wake();
  }
  // Ends the lease of the server, which may acquire its lock again or be replaced.
  void Expire(const TabletServer* server) { ExpireSessionOf(server->name()); }
  // Ends the session of the master, so that another master starts.
  void KillMaster() { ExpireSessionOf(MasterLock::kOwner); }
  // Calls this before each step of a master.
  void OnMasterStep(std::function<void()> on_step) {
    impl_->masters->SetOnStep(std::move(on_step));
  }
  // The present master; null if there is none.
  std::shared_ptr<Master> PresentMaster() const { return impl_->masters->Find(); }
  // Starts a second master.
  absl::Status StartMaster() { return Master::Create(impl_->cluster.get(), {}).status(); }
  Cluster* cluster() const { return impl_->cluster.get(); }
  BackgroundWork* background() const { return impl_->parts.background; }
  // For changes of the lock service that the database is not informed of.
  LockSession* session() const { return impl_->session.get(); }
  size_t RetiredRoutes() const { return impl_->locations.retired(); }
  // Sends the calls to each server through the service that `services` returns for it: calls to
  // METADATA at once, calls to a user tablet after the next lookup of its location.
  void UseServices(ServerSet::Services services) {
    impl_->cluster->SetServices(std::move(services));
    impl_->locations.SetRemote();
  }
  absl::StatusOr<std::vector<uint64_t>> TablesOfMetadata() const {
    return impl_->cluster->metadata()->table()->Tables();
  }
  // The servers of a role that have a log and serve.
  std::vector<TabletServer*> ServersOf(ServerRole role) const {
    std::vector<TabletServer*> servers;
    for (const auto& host : impl_->cluster->servers()->OfRole(role)) {
      TabletServer* const server = host->server();
      if (server->log().started() && server->state().serving()) servers.push_back(server);
    }
    return servers;
  }
  std::vector<std::shared_ptr<ServerHost>> HostsOf(ServerRole role) const {
    return impl_->cluster->servers()->OfRole(role);
  }
  // Splits the tablet of METADATA that contains the METADATA row `row`.
  absl::Status SplitMetadata(std::string_view row) {
    const auto master = impl_->masters->Get({});
    if (!master.ok()) return master.status();
    const std::shared_ptr<ServerHost> host =
        impl_->cluster->servers()->OfRole(ServerRole::kMetadata)[0];
    return host->Split((*master)->epoch(), kMetadataTableId, row, {});
  }
  // The first rows of the tablets of METADATA, without the root tablet.
  std::vector<std::string> MetadataTablets() const {
    std::vector<std::string> rows;
    for (TabletServer* server : ServersOf(ServerRole::kMetadata)) {
      for (const auto& tablet : server->tablets().All()) rows.push_back(tablet->rows().begin());
    }
    return rows;
  }
  std::vector<std::shared_ptr<ServerHost>> Hosts() const {
    return impl_->cluster->servers()->Users();
  }
  void ReplaceLostServers(ServerRole role = ServerRole::kUser) {
    const auto master = impl_->masters->Get({});
    if (master.ok()) (*master)->assignment()->ReplaceLost(role).IgnoreError();
  }

  // The quotas of rates are by this clock, which must not go backwards. Before there are any.
  void SetQuotaClock(Clock* clock) {
    impl_->parts.quotas->SetNow([clock] { return absl::ToUnixNanos(clock->Now()); });
  }

  absl::Status SweepFiles() {
    const auto master = impl_->masters->Get({});
    return master.ok() ? (*master)->sweeper()->SweepFiles() : master.status();
  }

  // The names of two servers that may both write to the same row, or "".
  std::string ServedTwice() const {
    struct Served {
      TabletServer* server;
      std::shared_ptr<Tablet> tablet;
      bool now() const {
        return server->state().serving() && !tablet->flags().stopped() &&
               !tablet->flags().superseded() && !tablet->flags().removed();
      }
    };
    std::vector<Served> all;
    for (const ServerRole role : kServerRoles) {
      for (const auto& host : impl_->cluster->servers()->OfRoleEver(role)) {
        for (std::shared_ptr<Tablet>& tablet : host->server()->tablets().All()) {
          all.push_back({host->server(), std::move(tablet)});
        }
      }
    }
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j) {
        const Tablet& a = *all[i].tablet;
        const Tablet& b = *all[j].tablet;
        if (&a == &b || a.table_id() != b.table_id()) continue;
        if (a.id().EndsBefore(b.rows().begin()) || b.id().EndsBefore(a.rows().begin())) continue;
        // The first one serves both before and after the check of the second: so both do at once.
        if (all[i].now() && all[j].now() && all[i].now()) {
          return Cat(all[i].server->name(), " and ", all[j].server->name());
        }
      }
    }
    return "";
  }

 private:
  void ExpireSessionOf(std::string_view owner) {
    LocalLockService* const service =
        impl_->cluster->environment()->coordination.lock_service.get();
    for (const LocalLockService::SessionInfo& session : service->Sessions()) {
      // It may have ended since.
      if (session.owner == owner) service->ExpireSession(session.id).IgnoreError();
    }
  }

  DatabaseImpl* const impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_DATABASE_PEER_H_
