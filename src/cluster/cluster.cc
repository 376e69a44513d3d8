#include "cluster/cluster.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "cache/budget_access.h"
#include "cluster/environment.h"
#include "cluster/make_server.h"
#include "commitlog/log_directory.h"

namespace bigtable {

Cluster::Cluster(std::unique_ptr<ClusterEnvironment> environment,
                 ServerHost::SupersededFunction on_superseded)
    : environment_(std::move(environment)),
      on_superseded_(std::move(on_superseded)),
      metadata_({.servers = &servers_,
                 .root = &environment_->coordination.root,
                 .snapshots = environment_->snapshots.get(),
                 .clock = environment_->options.clock,
                 .directory_lock = environment_->read_only()
                                       ? nullptr
                                       : environment_->storage.directory_lock.get(),
                 .closing = &environment_->closing}),
      servers_({.read_only = environment_->read_only(),
                .storage = &environment_->storage,
                .coordination = &environment_->coordination,
                .budget = environment_->options.shared_memory_budget.get(),
                .background = &environment_->background,
                .unserved = &environment_->unserved,
                .closing = &environment_->closing,
                .info_log = &environment_->info_log,
                .events = environment_->events.get()}) {
  environment_->quotas.SetStorage([this] { return AddUpStorage(); });
}

Cluster::~Cluster() { StopBackground(); }

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Open(std::string_view path,
                                                       const DatabaseOptions& options,
                                                       ServerHost::SupersededFunction on_superseded,
                                                       OpenFiles* files) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<ClusterEnvironment> environment,
                      ClusterEnvironment::Open(path, options, files));
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(environment), std::move(on_superseded)));
  cluster->servers_.Start(options.tablet_servers, [made_by = cluster.get()](ServerRole role) {
    return made_by->MakeHost(role);
  });
  return cluster;
}

std::shared_ptr<ServerHost> Cluster::MakeHost(ServerRole role) {
  ClusterEnvironment* const shared = environment_.get();
  MetadataTable* const of_users = metadata_.table();
  TabletStore* const store =
      role == ServerRole::kRoot ? static_cast<TabletStore*>(&shared->coordination.root) : of_users;
  std::unique_ptr<TabletServer> server = MakeTabletServer(
      shared, role, store,
      [this, role](const CallLimits& limits) { return servers_.AttestCommitsOf(role, limits); });
  ServerHost::Parts parts{.read_only = shared->read_only(),
                          .storage = &shared->storage,
                          .coordination = &shared->coordination,
                          .background = &shared->background,
                          .sequences = &shared->sequences,
                          .layouts = &shared->layouts,
                          .inherited_counters = &shared->inherited_counters,
                          .notify_superseded = on_superseded_,
                          .budget = shared->options.shared_memory_budget.get(),
                          .access = shared->access.get(),
                          .quotas = &shared->quotas,
                          .info_log = &shared->info_log,
                          .events = shared->events.get()};
  return std::make_shared<ServerHost>(std::move(parts), role,
                                      role == ServerRole::kUser ? of_users : metadata_.root_rows(),
                                      std::move(server));
}

absl::Status Cluster::StartBackground(std::function<void()> on_progress) {
  return servers_.StartBackground(
      environment_->options.compaction_threads, [this, on_progress = std::move(on_progress)] {
        BudgetAccess::NotifyProgress(*environment_->options.shared_memory_budget);
        on_progress();
      });
}

void Cluster::SetServices(ServerSet::Services services) {
  servers_.SetServices(std::move(services));
  metadata_.ForgetLocations();
}

// --- Ending ---

void Cluster::BeginClosing() {
  environment_->closing.is_closing = true;
  environment_->background.BeginClosing();
}

void Cluster::BeginEnding() { environment_->closing.is_ending = true; }

void Cluster::StopBackground() {
  // Before the threads stop: a writer that waits may be waiting for a compaction.
  RemoveHolders();
  environment_->background.Stop();
  RemoveHolders();  // of servers that have replaced others meanwhile
}

void Cluster::RemoveHolders() {
  for (const auto& host : servers_.Users()) {
    BudgetAccess::RemoveHolder(*environment_->options.shared_memory_budget,
                               host->write_controller());
  }
}

std::vector<TabletServer*> Cluster::InOrderOfEnding() const {
  std::vector<TabletServer*> servers = servers_.AllTabletServers();
  std::reverse(servers.begin(), servers.end());
  return servers;
}

absl::Status Cluster::Shutdown() {
  BeginEnding();
  for (TabletServer* server : InOrderOfEnding()) BT_RETURN_IF_ERROR(EndServer(server));
  environment_->info_log.Info("closed ", environment_->storage.directory.path());
  return absl::OkStatus();
}

absl::Status Cluster::EndServer(TabletServer* server) {
  if (!server->log().started()) return absl::OkStatus();
  BT_RETURN_IF_ERROR(server->write_error().status());
  server->rotation().RotateEverything();
  BT_RETURN_IF_ERROR(environment_->background.FlushNow(server));
  BT_RETURN_IF_ERROR(server->environment()->attest_commits({}));
  BT_RETURN_IF_ERROR(server->log().Close());
  BT_RETURN_IF_ERROR(server->state().Release());
  // Its segments are closed before they are removed, unless a reader still pins them.
  server->log().Drop();
  return RemoveLog(environment_->storage.file_system,
                   environment_->storage.directory.log_of(server->name()));
}

void Cluster::AbandonOpening() {
  if (environment_->read_only()) return;
  BeginEnding();
  for (TabletServer* server : InOrderOfEnding()) {
    if (const absl::Status ended = EndServer(server); !ended.ok()) {
      environment_->info_log.Warning("the log of server ", server->name(),
                                     " is left to the next opening: ", ToStd(ended.message()));
    }
  }
}

// --- Errors ---

absl::Status Cluster::Resume(const CallLimits& limits) {
  BackgroundWork& background = environment_->background;
  // Before new logs are started, which keep no part of these batches.
  BT_RETURN_IF_ERROR(environment_->batches.void_batches->WritePending(limits));
  std::vector<TabletServer*> failed = servers_.AllTabletServers();
  std::erase_if(failed, [](TabletServer* server) {
    // A server that has ended will be replaced.
    return server->write_error().status().ok() || server->state().ended();
  });
  const absl::Cleanup end = [&] {
    for (TabletServer* server : failed) server->write_error().EndResume();
  };
  // All of them first: a batch may have parts in the logs of several
  // (commit/batch_log_sync.h).
  for (TabletServer* server : failed) BT_RETURN_IF_ERROR(server->BeginResume(limits));
  for (TabletServer* server : failed) {
    BT_RETURN_IF_ERROR(background.FlushNow(server, limits));
    BT_RETURN_IF_ERROR(server->FinishResume(limits));
    environment_->info_log.Info("server ", server->name(), " takes writes again");
  }
  for (TabletServer* server : servers_.AllTabletServers()) {
    if (!server->state().ended() && background.IsFlushFailing(server)) {
      BT_RETURN_IF_ERROR(background.FlushNow(server, limits));
    }
  }
  background.ClearError();
  if (environment_->events != nullptr) {
    environment_->events->Push(
        &EventListener::OnResumed,
        {.time = absl::Now(), .path = environment_->storage.directory.path()});
  }
  return absl::OkStatus();
}

absl::Status Cluster::background_error() const {
  for (TabletServer* server : servers_.AllTabletServers()) {
    // An ended server will be replaced. It ended before it had an error that says so.
    absl::Status error = server->write_error().status();
    if (!error.ok() && !server->state().ended()) return error;
  }
  return environment_->background.compaction_error();
}

}  // namespace bigtable
