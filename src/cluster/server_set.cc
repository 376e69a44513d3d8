#include "cluster/server_set.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "cache/budget_access.h"
#include "cluster/make_server.h"
#include "cluster/server_directory.h"
#include "read/row_ranges.h"

namespace bigtable {
namespace {

void AddOf(ServerRole role, const std::vector<std::shared_ptr<ServerHost>>& hosts,
           std::vector<std::shared_ptr<ServerHost>>* chosen) {
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(*chosen),
               [&](const auto& host) { return host->role() == role; });
}

std::shared_ptr<ServerHost> FindByName(const std::vector<std::shared_ptr<ServerHost>>& hosts,
                                       std::string_view name, bool read_only) {
  if (name.empty()) return nullptr;
  for (const std::shared_ptr<ServerHost>& host : hosts) {
    // A server that is being started has no name yet.
    const bool has_name = read_only || host->server()->log().started();
    if (has_name && host->server()->name() == name) return host;
  }
  return nullptr;
}

}  // namespace

void ServerSet::Start(int user_servers, MakeHostFunction make_host) {
  make_host_ = std::move(make_host);
  std::vector<std::shared_ptr<ServerHost>> servers;
  for (const ServerRole role : kMetadataRoles) servers.push_back(make_host_(role));
  for (int i = 0; i < user_servers; ++i) servers.push_back(make_host_(ServerRole::kUser));
  MutexLock lock(&mutex_);
  servers_ = std::move(servers);
}

void ServerSet::UpdateSizes(const LiveOptions& live) {
  MutexLock replace_lock(&replace_mutex_);  // a server that is being made may have the old sizes
  for (const std::shared_ptr<ServerHost>& host : All()) {
    TabletEnvironment* const of_tablets = host->server()->mutable_environment();
    of_tablets->most_memtable_size = MostMemtableSize(live, host->role());
    of_tablets->target_file_size = live.target_file_size;
  }
}

absl::Status ServerSet::StartBackground(int compaction_threads, std::function<void()> on_progress) {
  MutexLock replace_lock(&replace_mutex_);  // METADATA's servers may be replaced already
  BT_RETURN_IF_ERROR(
      parts_.background->Start(AllTabletServers(), compaction_threads, std::move(on_progress)));
  for (const auto& host : Users()) {
    BudgetAccess::AddHolder(*parts_.budget, host->write_controller());
  }
  return absl::OkStatus();
}

// --- Servers ---

std::vector<std::shared_ptr<ServerHost>> ServerSet::All() const {
  MutexLock lock(&mutex_);
  return servers_;
}

std::vector<TabletServer*> ServerSet::AllTabletServers() const {
  std::vector<TabletServer*> servers;
  for (const auto& host : All()) servers.push_back(host->server());
  return servers;
}

std::vector<std::shared_ptr<ServerHost>> ServerSet::OfRole(ServerRole role) const {
  std::vector<std::shared_ptr<ServerHost>> chosen;
  MutexLock lock(&mutex_);
  AddOf(role, servers_, &chosen);
  return chosen;
}

std::vector<std::shared_ptr<ServerHost>> ServerSet::OfRoleEver(ServerRole role) const {
  std::vector<std::shared_ptr<ServerHost>> chosen;
  MutexLock lock(&mutex_);
  AddOf(role, servers_, &chosen);
  AddOf(role, ended_, &chosen);
  return chosen;
}

std::shared_ptr<ServerHost> ServerSet::Find(std::string_view name) const {
  return FindByName(All(), name, parts_.read_only);
}

std::shared_ptr<ServerHost> ServerSet::FindEver(std::string_view name) const {
  MutexLock lock(&mutex_);
  std::shared_ptr<ServerHost> found = FindByName(servers_, name, parts_.read_only);
  return found != nullptr ? found : FindByName(ended_, name, parts_.read_only);
}

void ServerSet::Replace(const std::shared_ptr<ServerHost>& ended, MasterEpoch epoch) {
  ABSL_ASSERT(ended->server()->state().ended() && ended->server()->tablets().size() == 0 &&
              "a server ends before it is replaced");
  MutexLock replace_lock(&replace_mutex_);
  const std::shared_ptr<ServerHost> successor = make_host_(ended->role());
  successor->Accept(epoch).IgnoreError();
  {
    MutexLock lock(&mutex_);
    const auto found = std::find(servers_.begin(), servers_.end(), ended);
    if (found == servers_.end()) return;
    *found = successor;
    ended_.push_back(ended);
    // Under the mutex: a master that no longer finds the server must also find that its name is not
    // live. Otherwise it would load the tablets without the server's log.
    parts_.coordination->server_names.Remove(ended->server()->name());
  }
  if (ended->role() == ServerRole::kUser) {
    BudgetAccess::RemoveHolder(*parts_.budget, ended->write_controller());
    BudgetAccess::AddHolder(*parts_.budget, successor->write_controller());
  }
  parts_.background->SetServers(AllTabletServers());
}

void ServerSet::FenceLost() {
  MutexLock lock(&fence_mutex_);
  ServerDirectory servers(parts_.storage->file_system, parts_.coordination->session.get(),
                          parts_.storage->directory);
  for (const std::shared_ptr<ServerHost>& host : All()) {
    TabletServer* const server = host->server();
    if (server->state().serving() || server->state().ended()) continue;
    if (const absl::Status fenced = servers.Fence(server->name()); fenced.ok()) {
      server->state().MarkEnded();
      // When the database ends, servers release their locks themselves.
      if (parts_.events != nullptr && !parts_.closing->is_ending) {
        parts_.events->Push(&EventListener::OnServerLost, {absl::Now(), server->name()});
      }
    } else {
      // The server may have its lock again.
      parts_.info_log->Warning("server ", server->name(),
                               " has lost its lock and is not replaced: ", ToStd(fenced.message()));
    }
  }
}

absl::Status ServerSet::AttestCommitsOf(ServerRole role, const CallLimits& limits) const {
  // The root's commits go to a file of the lock service, which is either complete or missing.
  if (role == ServerRole::kRoot) return absl::OkStatus();
  const ServerRole above = role == ServerRole::kUser ? ServerRole::kMetadata : ServerRole::kRoot;
  for (const std::shared_ptr<ServerHost>& host : OfRoleEver(above)) {
    BT_RETURN_IF_ERROR(host->server()->log().Attest(limits));
  }
  return absl::OkStatus();
}

absl::Status ServerSet::AwaitMetadata(const CallLimits& limits) const {
  for (const ServerRole role : kMetadataRoles) {
    for (const std::shared_ptr<ServerHost>& host : OfRole(role)) {
      BT_RETURN_IF_ERROR(host->server()->AwaitTurn(limits));
    }
  }
  return absl::OkStatus();
}

void ServerSet::SetServices(Services services) {
  MutexLock lock(&mutex_);
  services_ = std::move(services);
}

DataService* ServerSet::ServiceOf(ServerHost* host) const {
  MutexLock lock(&mutex_);
  return services_ ? services_(host) : host->data_service();
}

// --- Tablets ---

std::vector<HostedTablet> ServerSet::TabletsOf(uint64_t table_id) const {
  std::vector<HostedTablet> tablets;
  for (const std::shared_ptr<ServerHost>& host : Users()) {
    for (std::shared_ptr<Tablet>& tablet : host->server()->tablets().Of(table_id)) {
      tablets.push_back({std::move(tablet), host});
    }
  }
  std::sort(tablets.begin(), tablets.end(), [](const HostedTablet& a, const HostedTablet& b) {
    return a.tablet->id() < b.tablet->id();
  });
  return tablets;
}

HostedTablet ServerSet::FindTablet(uint64_t table_id, std::string_view row) const {
  for (const std::shared_ptr<ServerHost>& host : OfRole(RoleOf(table_id, row))) {
    if (auto tablet = host->server()->tablets().Find(table_id, row))
      return {std::move(tablet), host};
  }
  return {};
}

bool ServerSet::IsServedOnce(uint64_t table_id, std::string_view row) const {
  std::vector<HostedTablet> all;
  for (const std::shared_ptr<ServerHost>& host : OfRoleEver(RoleOf(table_id, row))) {
    if (auto tablet = host->server()->tablets().Find(table_id, row)) {
      all.push_back({std::move(tablet), host});
    }
  }
  const auto is_served = [](const HostedTablet& hosted) {
    return hosted.host->server()->state().serving() && !hosted.tablet->flags().stopped() &&
           !hosted.tablet->flags().superseded() && !hosted.tablet->flags().removed();
  };
  // A tablet that moves between the two looks is counted on both servers in at most one order of
  // looking. So the servers are looked at in both orders.
  return std::count_if(all.begin(), all.end(), is_served) <= 1 ||
         std::count_if(all.rbegin(), all.rend(), is_served) <= 1;
}

absl::Status ServerSet::ForEachTablet(uint64_t table_id, const RowRange& rows,
                                      const CallLimits& limits,
                                      absl::FunctionRef<absl::Status()> is_there,
                                      TabletFunction function) {
  const UnservedTablets& unserved = *parts_.unserved;
  RowRange left = rows;
  while (!left.empty()) {
    const std::string& row = left.begin();
    const HostedTablet hosted = FindTablet(table_id, row);
    if (!hosted) {
      BT_RETURN_IF_ERROR(unserved.Explain(limits.Check(), table_id, row));
      BT_RETURN_IF_ERROR(is_there());
      bool is_over;
      const absl::Status why = unserved.Why(table_id, row, &is_over);
      if (is_over) return why;
      if (parts_.closing->is_closing) {
        return absl::FailedPreconditionError("the database is being closed");
      }
      parts_.background->WaitForProgress(absl::Milliseconds(1));
      continue;
    }
    const RowRange& of_tablet = hosted.tablet->rows();
    BT_RETURN_IF_ERROR(function(hosted, Intersection(left, of_tablet)));
    if (hosted.tablet->flags().superseded()) continue;
    if (!of_tablet.end().has_value()) break;
    left = Intersection(left, RowRange::StartingAt(*of_tablet.end()));
  }
  return absl::OkStatus();
}

ServerSet::Moving::Moving(ServerSet* servers, std::shared_ptr<Tablet> tablet)
    : servers_(servers), tablet_(std::move(tablet)) {
  MutexLock lock(&servers_->mutex_);
  servers_->moving_.push_back(tablet_);
}

ServerSet::Moving::~Moving() {
  MutexLock lock(&servers_->mutex_);
  std::erase(servers_->moving_, tablet_);
  ++servers_->moved_;
}

std::vector<std::shared_ptr<Tablet>> ServerSet::AllOfUsers() const {
  constexpr int kMostTries = 10;  // of moves that end one after the other
  std::vector<std::shared_ptr<Tablet>> tablets;
  for (int i = 0; i < kMostTries; ++i) {
    tablets.clear();
    uint64_t moved_before;
    {
      MutexLock lock(&mutex_);
      moved_before = moved_;
    }
    for (const auto& host : Users()) {
      for (std::shared_ptr<Tablet>& tablet : host->server()->tablets().All()) {
        tablets.push_back(std::move(tablet));
      }
    }
    MutexLock lock(&mutex_);
    tablets.insert(tablets.end(), moving_.begin(), moving_.end());
    // Otherwise one may have gone from a server that was not asked yet to one that was.
    if (moved_ == moved_before) break;
  }
  return tablets;
}

void ServerSet::CountSharedFiles() {
  std::set<uint64_t> named;
  for (const TabletServer* server : AllTabletServers()) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      std::set<uint64_t> files;
      tablet->State().AddFiles(&files);
      for (const uint64_t number : files) {
        if (!named.insert(number).second) parts_.storage->shared_files.Share(number);
      }
    }
  }
}

}  // namespace bigtable
