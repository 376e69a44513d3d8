#include "routing/database_impl.h"

#include <algorithm>

#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "cluster/directory.h"
#include "cluster/environment.h"
#include "cluster/open_directory.h"
#include "filesystem/file_log_sink.h"

namespace bigtable {

namespace {

// Creates the directory if it is missing and the options allow that.
absl::Status CreateIfMissing(std::string_view path, const DatabaseOptions& options) {
  FileSystem* const file_system = options.file_system;
  if (options.read_only || !options.create_if_missing || file_system->FileExists(path)) {
    return absl::OkStatus();
  }
  BT_RETURN_IF_ERROR(file_system->CreateDirectory(path));
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return file_system->SyncDirectory(".");
  return file_system->SyncDirectory(path.substr(0, std::max<size_t>(slash, 1)));
}

}  // namespace

absl::Status DatabaseImpl::HoldDirectory(std::string_view path, DatabaseOptions* options) {
  BT_RETURN_IF_ERROR(CreateIfMissing(path, *options));
  auto held = GuardedFileSystem::Hold(options->file_system, path);
  if (absl::IsNotFound(held.status())) {
    return absl::NotFoundError(Cat(path, ": there is no database here"));
  }
  BT_RETURN_IF_ERROR(held.status());
  file_system = *std::move(held);
  options->file_system = file_system.get();
  BT_RETURN_IF_ERROR(CheckDirectory(DatabaseDirectory(path), *options));
  if (options->log_sink == nullptr && !options->read_only) {
    options->log_sink = std::make_shared<FileLogSink>(file_system.get(), Cat(path, "/LOG"));
  }
  return absl::OkStatus();
}

void DatabaseImpl::TakeParts() {
  ClusterEnvironment* const environment = cluster->environment();
  parts = {.read_only = environment->read_only(),
           .live = &environment->live,
           .clock = environment->options.clock,
           .budget = environment->options.shared_memory_budget,
           .sequences = &environment->sequences,
           .snapshots = environment->snapshots,
           .unserved = &environment->unserved,
           .quotas = &environment->quotas,
           .batch_writer = environment->batches.writer.get(),
           .background = &environment->background,
           .storage = &environment->storage,
           .closing = &environment->closing,
           .info_log = &environment->info_log};
  option_changes = std::make_unique<OptionChanges>(
      OptionChanges::Parts{.opened = &environment->options,
                           .live = &environment->live,
                           .directory = &environment->storage.directory,
                           .servers = cluster->servers(),
                           .compactions = &environment->rate_limiter,
                           .background = &environment->background,
                           .info_log = &environment->info_log});
}

absl::Status DatabaseImpl::Open(std::string_view path, DatabaseOptions options, OpenFiles* files) {
  BT_RETURN_IF_ERROR(HoldDirectory(path, &options));
  log_sink = options.log_sink;
  tracer.LogTo(log_sink);
  const auto forget = [this](const Tablet& tablet) { locations.Forget(tablet); };
  BT_ASSIGN_OR_RETURN(cluster, Cluster::Open(path, options, forget, files));
  ClusterEnvironment* const environment = cluster->environment();
  TakeParts();
  locations.SetCluster(cluster.get());
  BT_ASSIGN_OR_RETURN(session, environment->coordination.lock_service->OpenSession(
                                   {.owner = "client", .lease = absl::InfiniteDuration()}));
  schemas = std::make_unique<SchemaStore>(session.get());
  if (!options.read_only) {
    if (absl::Status checked = schemas->CheckPolicies(); !checked.ok()) {
      cluster->AbandonOpening();
      return checked;
    }
  }
  history = options.read_only ? DatabaseHistory::Read(session.get())
                              : DatabaseHistory::ReadOrBegin(session.get());
  if (!options.read_only && !history.ok()) {
    cluster->AbandonOpening();
    return history.status();
  }
  access_lists = std::make_unique<AccessListStore>(session.get());
  masters =
      std::make_unique<MasterRunner>(cluster.get(), &environment->closing, parts.info_log,
                                     options.read_only, [this] { locations.DeleteRetired(); });
  if (const absl::Status started = masters->Start(); !started.ok()) {
    masters->Abandon();
    cluster->AbandonOpening();
    masters.reset();
    return started;
  }
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> tables, schemas->Tables());
  option_changes->RecordOpening();
  parts.info_log->Info("opened ", path, " with ", tables.size(), " tables",
                       options.read_only ? ", read-only" : "",
                       history.ok() ? Cat(", identity ", NameOfIdentity(history->latest())) : "");
  if (ListenerQueue* const events = environment->events.get()) {
    events->Push(&EventListener::OnDatabaseOpened,
                 {.time = absl::Now(), .path = environment->storage.directory.path()});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::set<uint64_t>> DatabaseImpl::FileNumbers() const {
  std::set<uint64_t> numbers;
  cluster->environment()->coordination.root.AddFiles(&numbers);
  BT_RETURN_IF_ERROR(cluster->metadata()->table()->AddFiles(&numbers));
  return numbers;
}

absl::Status DatabaseImpl::ClosedError() const {
  if (!is_forked()) return absl::FailedPreconditionError("the database is closed");
  return absl::FailedPreconditionError(
      Cat("the database was opened by process ", process, ", which process ", ::getpid(),
          " was forked from; only the process that opened a database can use it"));
}

absl::Status DatabaseImpl::Close() {
  ClusterEnvironment* const environment = cluster->environment();
  absl::Status status = masters->Shutdown();
  if (status.ok() && !parts.read_only) status = cluster->Shutdown();
  if (ListenerQueue* const events = environment->events.get()) {
    events->Push(
        &EventListener::OnDatabaseClosed,
        {.time = absl::Now(), .path = environment->storage.directory.path(), .status = status});
  }
  if (!status.ok()) parts.info_log->Error("closing: ", ToStd(status.message()));
  option_changes.reset();
  masters.reset();
  access_lists.reset();
  schemas.reset();
  session.reset();
  parts = {};
  cluster.reset();
  return status;
}

absl::Status DatabaseImpl::ForEachTablet(
    std::string_view table, const CallLimits& limits,
    absl::FunctionRef<absl::Status(const HostedTablet&)> function) {
  const CallGate::LongPass pass(&gate);
  if (!pass) return ClosedError();
  BT_RETURN_IF_ERROR(CheckWritable(limits));
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      schemas->Read(table, limits));
  const auto is_there = [&]() -> absl::Status {
    BT_ASSIGN_OR_RETURN(const bool found, schemas->Has(table, layout->table_id, limits));
    return found ? absl::OkStatus() : absl::NotFoundError(Cat("table ", table, " was deleted"));
  };
  return cluster->servers()->ForEachTablet(
      layout->table_id, RowRange::All(), limits, is_there,
      [&](const HostedTablet& hosted, const RowRange& /*rows*/) { return function(hosted); });
}

absl::Status DatabaseImpl::CheckWritable(const CallLimits& limits) const {
  BT_RETURN_IF_ERROR(limits.Check());
  if (!parts.read_only) return absl::OkStatus();
  return absl::FailedPreconditionError("the database was opened read-only");
}

}  // namespace bigtable
