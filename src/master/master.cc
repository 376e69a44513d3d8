#include "master/master.h"

#include <utility>

#include "base/limited_mutex.h"
#include "base/status.h"
#include "cluster/environment.h"

namespace bigtable {

Master::Master(Cluster* cluster, ClusterEnvironment* environment, bool opening,
               std::unique_ptr<MasterLock> lock)
    : opening_(opening),
      cluster_(cluster),
      sequences_(&environment->sequences),
      context_{.lock = std::move(lock),
               .servers = cluster->servers(),
               .metadata = cluster->metadata(),
               .background = &environment->background,
               .unserved = &environment->unserved,
               .closing = &environment->closing,
               .info_log = &environment->info_log,
               .events = environment->events.get(),
               .read_only = environment->read_only(),
               .wake = [this] { Wake(); }},
      catalogue_(context_.lock->session()),
      assignment_({.storage = &environment->storage,
                   .coordination = &environment->coordination,
                   .sequences = &environment->sequences,
                   .batch_log_sync = &environment->batches.log_sync,
                   .void_batches = environment->batches.void_batches.get(),
                   .budget = environment->options.shared_memory_budget.get(),
                   .read_mode = environment->options.read_mode},
                  &context_, &catalogue_, opening),
      tables_({.sequences = &environment->sequences,
               .clock = environment->options.clock,
               .quotas = &environment->quotas,
               .inherited_counters = &environment->inherited_counters,
               .shared_files = &environment->storage.shared_files,
               .ingestion = &environment->ingestion,
               .change_readers = &environment->change_readers},
              &context_, &catalogue_, &assignment_),
      ingestion_({.sequences = &environment->sequences,
                  .batches = environment->batches.writer.get(),
                  .shared_files = &environment->storage.shared_files,
                  .mutex = &environment->ingestion},
                 &context_),
      tablets_(&context_, &catalogue_, &assignment_, &ingestion_),
      sweeper_(&context_, &environment->storage, &environment->coordination),
      upkeep_(&context_, &environment->live, &catalogue_, &tables_, &tablets_, &sweeper_),
      liveness_{LivenessThread(&assignment_, ServerRole::kRoot),
                LivenessThread(&assignment_, ServerRole::kMetadata),
                LivenessThread(&assignment_, ServerRole::kUser)} {}

Master::~Master() {
  context_.lock->GiveUp();
  StopThreads();
  FinishThreads();
  LivenessOf(ServerRole::kMetadata)->Stop();
  LivenessOf(ServerRole::kRoot)->Stop();
}

absl::StatusOr<std::shared_ptr<Master>> Master::Create(Cluster* cluster, Options options) {
  ClusterEnvironment* const environment = cluster->environment();
  BT_ASSIGN_OR_RETURN(std::unique_ptr<MasterLock> lock,
                      MasterLock::Acquire(environment->coordination.lock_service.get(),
                                          environment->read_only(), std::move(options.on_step)));
  return std::shared_ptr<Master>(
      new Master(cluster, environment, options.opening, std::move(lock)));
}

absl::Status Master::Begin() {
  for (const ServerRole role : kMetadataRoles) BT_RETURN_IF_ERROR(BeginRole(role));
  BT_RETURN_IF_ERROR(QueryServers(ServerRole::kUser));
  {
    MutexLock lock(&catalogue_.change_mutex());
    BT_RETURN_IF_ERROR(catalogue_.Read(sequences_));
    BT_RETURN_IF_ERROR(tables_.Finish());
    const absl::Status assigned = assignment_.AssignUsers();
    if (IsFatal(assigned)) return assigned;
    assignment_.FinishOpening();
  }
  if (!opening_ || context_.read_only) return absl::OkStatus();
  context_.servers->CountSharedFiles();
  return sweeper_.SweepLeftovers();
}

absl::Status Master::QueryServers(ServerRole role) {
  for (const std::shared_ptr<ServerHost>& host : context_.servers->OfRole(role)) {
    BT_RETURN_IF_ERROR(context_.Step());
    BT_RETURN_IF_ERROR(host->Accept(epoch()).status());
  }
  return absl::OkStatus();
}

absl::Status Master::BeginRole(ServerRole role) {
  BT_RETURN_IF_ERROR(QueryServers(role));
  const absl::Status assigned = assignment_.AssignMetadata(role);
  if (IsFatal(assigned)) return assigned;
  return context_.read_only ? absl::OkStatus() : LivenessOf(role)->Start();
}

// --- Threads ---

absl::Status Master::StartThreads() {
  BT_RETURN_IF_ERROR(upkeep_.Start());
  return LivenessOf(ServerRole::kUser)->Start();
}

void Master::BeginStopThreads() {
  context_.is_stopping = true;
  upkeep_.Wake();
}

void Master::StopThreads() {
  BeginStopThreads();
  upkeep_.Join();
}

void Master::FinishThreads() { LivenessOf(ServerRole::kUser)->Stop(); }

void Master::Wake() {
  upkeep_.Wake();
  for (LivenessThread& thread : liveness_) thread.Wake();
}

// --- Errors ---

absl::Status Master::Resume(const CallLimits& limits) {
  LimitedLock lock(&catalogue_.change_mutex(), limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(tables_.RestoreSchemas(limits));
  BT_RETURN_IF_ERROR(cluster_->Resume(limits));
  for (LivenessThread& thread : liveness_) thread.WakeNow();
  sweeper_.Sweep(limits);  // SSTables of changes whose commit to METADATA was uncertain
  return absl::OkStatus();
}

}  // namespace bigtable
