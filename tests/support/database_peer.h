// What tests do to the inside of a database: its servers die, and its sessions end.
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

#include "client/database_impl.h"
#include "support/expect_status.h"

namespace bigtable {

class DatabasePeer {
 public:
  explicit DatabasePeer(Database* database) : impl_(DatabaseImpl::Of(database)) {}

  // Of user tablets, present and past.
  std::vector<TabletServer*> ServersEver() const {
    std::vector<TabletServer*> servers;
    for (const auto& host : impl_->cluster->servers()->OfRoleEver(ServerRole::kUser))
      servers.push_back(host->server());
    return servers;
  }
  // Present ones that have tablets, or had.
  std::vector<TabletServer*> Servers() const {
    std::vector<TabletServer*> servers;
    for (TabletServer* server : ServersEver()) {
      if (server->has_log() && server->serving()) servers.push_back(server);
    }
    return servers;
  }
  // As if its process had died.
  void Kill(TabletServer* server) {
    server->Abandon();
    impl_->environment()->background.Wake();
  }
  // The lease ends: the server may get its lock back, or be replaced.
  void Expire(const TabletServer* server) { ExpireSessionOf(server->name()); }
  // The master loses its lock, and another one begins.
  void KillMaster() { ExpireSessionOf(MasterLock::kOwner); }
  // Calls this before each step of a master.
  void OnMasterStep(std::function<void()> on_step) {
    impl_->masters->SetOnStep(std::move(on_step));
  }
  // Beside the one that there is.
  absl::Status StartMaster() { return Master::Create(impl_->cluster.get(), {}).status(); }
  // What is in the lock service may be changed behind everybody's back.
  LockSession* session() const { return impl_->session.get(); }
  size_t RetiredRoutes() const { return impl_->locations.retired(); }
  // Calls go through what this says for each server: METADATA's from now on, those of users from
  // their first one on.
  void UseServices(ServerSet::Services services) {
    impl_->cluster->SetServices(std::move(services));
    impl_->locations.SetRemote();
  }
  absl::StatusOr<std::vector<uint64_t>> TablesOfMetadata() const {
    return impl_->cluster->metadata()->table()->Tables();
  }
  // Those of one role that serve; of METADATA's one at most.
  std::vector<TabletServer*> ServersOf(ServerRole role) const {
    std::vector<TabletServer*> servers;
    for (const auto& host : impl_->cluster->servers()->OfRole(role)) {
      TabletServer* const server = host->server();
      if (server->has_log() && server->serving()) servers.push_back(server);
    }
    return servers;
  }
  std::vector<std::shared_ptr<ServerHost>> HostsOf(ServerRole role) const {
    return impl_->cluster->servers()->OfRole(role);
  }
  // Splits the tablet of METADATA that has this row of its.
  absl::Status SplitMetadata(std::string_view row) {
    const auto master = impl_->masters->Get({});
    if (!master.ok()) return master.status();
    const std::shared_ptr<ServerHost> host =
        impl_->cluster->servers()->OfRole(ServerRole::kMetadata)[0];
    return host->Split((*master)->epoch(), kMetadataTableId, row, {});
  }
  // The first rows of METADATA's tablets, but for the root.
  std::vector<std::string> MetadataTablets() const {
    std::vector<std::string> rows;
    for (TabletServer* server : ServersOf(ServerRole::kMetadata)) {
      for (const auto& tablet : server->Tablets()) rows.push_back(tablet->rows().begin());
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

  absl::Status SweepFiles() {
    const auto master = impl_->masters->Get({});
    return master.ok() ? (*master)->sweeper()->SweepFiles() : master.status();
  }

  // Two servers that may both write to the same row: their names, or "".
  std::string ServedTwice() const {
    struct Served {
      TabletServer* server;
      std::shared_ptr<Tablet> tablet;
      bool now() const {
        return server->serving() && !tablet->stopped() && !tablet->superseded() &&
               !tablet->removed();
      }
    };
    std::vector<Served> all;
    for (const ServerRole role : kServerRoles) {
      for (const auto& host : impl_->cluster->servers()->OfRoleEver(role)) {
        for (std::shared_ptr<Tablet>& tablet : host->server()->Tablets()) {
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
        // The one before and after the other: so both at once.
        if (all[i].now() && all[j].now() && all[i].now()) {
          return Cat(all[i].server->name(), " and ", all[j].server->name());
        }
      }
    }
    return "";
  }

 private:
  void ExpireSessionOf(std::string_view owner) {
    LocalLockService* const service = impl_->environment()->lock_service.get();
    for (const LocalLockService::SessionInfo& session : service->Sessions()) {
      // It may have ended meanwhile.
      if (session.owner == owner) service->ExpireSession(session.id).IgnoreError();
    }
  }

  DatabaseImpl* const impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_DATABASE_PEER_H_
