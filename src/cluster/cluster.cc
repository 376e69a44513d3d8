#include "cluster/cluster.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "cache/budget_access.h"
#include "commitlog/log_directory.h"

namespace bigtable {

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Open(
    std::string_view path, const DatabaseOptions& options,
    ClusterEnvironment::SupersededFunction on_superseded) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<ClusterEnvironment> environment,
                      ClusterEnvironment::Open(path, options, std::move(on_superseded)));
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(environment)));
  cluster->servers_.Start(cluster->metadata_.table(), cluster->metadata_.root_rows());
  return cluster;
}

absl::Status Cluster::StartBackground(std::function<void()> on_progress) {
  return servers_.StartBackground([this, on_progress = std::move(on_progress)] {
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
    if (!server->state().ended())
      BT_RETURN_IF_ERROR(server->write_error().status());  // an ended server will be replaced
  }
  return environment_->background.compaction_error();
}

}  // namespace bigtable
