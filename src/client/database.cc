#include "bigtable/database.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "admission/quota_store.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"
#include "connected/connected_database.h"
#include "connected/connected_table.h"
#include "options/check_options.h"
#include "routing/database_impl.h"
#include "routing/observers.h"
#include "schema/family_changes.h"
#include "schema/schema_checks.h"

namespace bigtable {

// Each call enters the gate, or is refused; and refused too if the database is connected, and a
// service has no such call (connected/table_service.h). Some calls take long, so they have a
// LongPass; none uses what a LongPass does not protect (TableRoute::Get).
#define BT_ENTER()                                                             \
  if (impl_ == nullptr) return NotConnectedError(Cat("Database::", __func__)); \
  const CallGate::LongPass bt_pass(&impl_->gate);                              \
  if (!bt_pass) return impl_->ClosedError()

// Gets the master, for changes that only a master may make.
#define BT_ENTER_MASTER(options)                    \
  const CallLimits limits = LimitsOf(options);      \
  BT_ENTER();                                       \
  BT_RETURN_IF_ERROR(impl_->CheckWritable(limits)); \
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, impl_->masters->Get(limits))

Database::Database(std::shared_ptr<DatabaseImpl> impl) : impl_(std::move(impl)) {}
Database::Database(std::unique_ptr<ConnectedDatabase> connected)
    : connected_(std::move(connected)) {}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(std::string_view path,
                                                         const DatabaseOptions& options) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  BT_ASSIGN_OR_RETURN(const DatabaseOptions checked, CheckedOptions(path, options));
  auto impl = std::make_shared<DatabaseImpl>(checked);
  BT_RETURN_IF_ERROR(impl->Open(path, checked));
  std::unique_ptr<Database> database(new Database(std::move(impl)));
  database->impl_->owner = database.get();
  return database;
}

Database::~Database() {
  Close().IgnoreError();
  // In a child process the parent's resources stay untouched.
  if (impl_ != nullptr && impl_->is_forked()) (void)new std::shared_ptr<DatabaseImpl>(impl_);
}

absl::Status Database::Close() {
  if (connected_ != nullptr) return connected_->Close();
  if (impl_->is_forked()) return impl_->ClosedError();
  MutexLock lock(&impl_->mutex);
  if (impl_->closed) return impl_->close_status;
  impl_->closed = true;
  impl_->cluster->BeginClosing();
  impl_->gate.CloseAndWait();
  // On a thread of its own: a database that is a static object is closed after the main thread's
  // thread-local objects, such as compression contexts, are destroyed.
  const auto close = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { impl_->close_status = impl_->Close(); };
  if (absl::StatusOr<std::thread> closer = StartThread(close); closer.ok()) {
    closer->join();
  } else {
    close();
  }
  return impl_->close_status;
}

// --- Tables ---

absl::Status Database::CreateTable(std::string_view name, const TableSchema& schema,
                                   const CreateTableOptions& options) {
  if (connected_ != nullptr) return connected_->service()->CreateTable(name, schema, options);
  const CallOptions call{options.deadline, options.cancellation};
  BT_ENTER_MASTER(call);
  BT_RETURN_IF_ERROR(CheckObserversAreKnown(schema.observers));
  return master->tables()->CreateTable(name, schema, options.split_rows, limits);
}

absl::Status Database::DeleteTable(std::string_view name, const CallOptions& options) {
  if (connected_ != nullptr) return connected_->service()->DeleteTable(name, options);
  BT_ENTER_MASTER(options);
  return master->tables()->DeleteTable(name, limits);
}

absl::StatusOr<Table*> Database::OpenOrCreateTable(std::string_view name, const TableSchema& schema,
                                                   const CreateTableOptions& options) {
  const OpenTableOptions of_opening{.deadline = options.deadline,
                                    .cancellation = options.cancellation};
  if (connected_ == nullptr) {
    // Not by OpenTable, whose error names other tables.
    const CallLimits limits = LimitsOf(options);
    BT_ENTER();
    BT_ASSIGN_OR_RETURN(const auto layout, impl_->schemas->Find(name, limits));
    if (layout != nullptr) return OpenTable(name, of_opening);
  } else {
    absl::StatusOr<Table*> table = OpenTable(name, of_opening);
    if (!absl::IsNotFound(table.status())) return table;
  }
  const absl::Status created = CreateTable(name, schema, options);
  // Another thread may have created it first.
  if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
  return OpenTable(name, of_opening);
}

absl::StatusOr<Table*> Database::OpenTable(std::string_view name, const OpenTableOptions& options) {
  if (connected_ != nullptr) return connected_->OpenTable(name, options);
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  if (options.caller.has_value()) BT_RETURN_IF_ERROR(CheckCallerName(*options.caller));
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      impl_->schemas->Read(name, limits));
  const std::lock_guard<std::mutex> lock(tables_mutex_);
  auto& handles = tables_[layout->table_id];
  if (const auto open = handles.find(options.caller); open != handles.end()) {
    return open->second.get();
  }
  auto monitor = handles.empty() ? std::make_shared<TableMonitor>(&impl_->tracer, std::string(name))
                                 : handles.begin()->second->impl_->shared_monitor;
  std::unique_ptr<Table>& table = handles[options.caller];
  table.reset(new Table(
      std::make_shared<TableImpl>(impl_, impl_->locations.RouteOf(layout->table_id),
                                  std::move(monitor), std::string(name), options.caller)));
  table->impl_->handle = table.get();
  if (!layout->observers.empty()) table->impl_->route->SetObserved(true);
  return table.get();
}

absl::StatusOr<std::vector<std::string>> Database::ListTables(const CallOptions& options) {
  if (connected_ != nullptr) return connected_->service()->ListTables(options);
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  return impl_->schemas->Tables(limits);
}

absl::StatusOr<TableSchema> Database::GetSchema(std::string_view table,
                                                const CallOptions& options) {
  if (connected_ != nullptr) return connected_->service()->GetSchema(table, options);
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      impl_->schemas->Read(table, limits));
  return layout->ToSchema();
}

absl::Status Database::ModifyFamilies(std::string_view table,
                                      const std::vector<FamilyChange>& changes,
                                      const CallOptions& options) {
  if (connected_ != nullptr) return connected_->service()->ModifyFamilies(table, changes, options);
  BT_ENTER_MASTER(options);
  return master->tables()->ChangeTable(table, limits, [&](TableLayout* layout) {
    return ChangeFamilies(changes, master->tables()->TakeSequence(), layout);
  });
}

absl::Status Database::AddFamily(std::string_view table, std::string_view name,
                                 const Family& family, const CallOptions& options) {
  return ModifyFamilies(table, {FamilyChange::Add(std::string(name), family)}, options);
}

absl::Status Database::DropFamily(std::string_view table, std::string_view name,
                                  const CallOptions& options) {
  return ModifyFamilies(table, {FamilyChange::Drop(std::string(name))}, options);
}

absl::Status Database::UpdateFamily(std::string_view table, std::string_view name,
                                    const FamilyUpdate& update, const CallOptions& options) {
  return ModifyFamilies(table, {FamilyChange::Update(std::string(name), update)}, options);
}

absl::Status Database::SetLocalityGroup(std::string_view table, std::string_view name,
                                        const LocalityGroup& group, const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckLocalityGroup(name, group));
  BT_RETURN_IF_ERROR(CheckPolicyIsKnown(name, group));
  return master->tables()->ChangeTable(table, limits, [&](TableLayout* layout) {
    if (const GroupLayout* found = layout->FindGroup(name)) {
      layout->groups[layout->GroupIndex(found->id)].options = group;
    } else {
      layout->groups.push_back({layout->next_group_id++, std::string(name), group});
    }
    return absl::OkStatus();
  });
}

absl::Status Database::SetSplitRule(std::string_view table, const SplitRule& rule,
                                    const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckSplitRule(rule));
  return master->tables()->ChangeTable(table, limits, [&](TableLayout* layout) {
    layout->split = rule;
    return absl::OkStatus();
  });
}

absl::Status Database::SetObservers(std::string_view table,
                                    const std::vector<std::string>& observers,
                                    const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckObservers(observers));
  BT_RETURN_IF_ERROR(CheckObserversAreKnown(observers));
  return master->tables()->ChangeTable(table, limits, [&](TableLayout* layout) {
    if (layout->observers == observers) return absl::OkStatus();
    layout->observers = observers;
    layout->observers_id = observers.empty() ? 0 : master->tables()->TakeSequence();
    return absl::OkStatus();
  });
}

// --- Access lists ---

absl::Status Database::SetAccessList(std::string_view name, const AccessList& list,
                                     const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckAccessList(name, list));
  return master->tables()->SetAccessList(name, list, limits);
}

absl::Status Database::DeleteAccessList(std::string_view name, const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckAccessListName(name));
  return master->tables()->DeleteAccessList(name, limits);
}

absl::StatusOr<AccessList> Database::GetAccessList(std::string_view name,
                                                   const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  return impl_->access_lists->Read(name, limits);
}

absl::StatusOr<std::vector<std::string>> Database::ListAccessLists(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  return impl_->access_lists->Names(limits);
}

// --- Quotas ---

absl::Status Database::SetTableQuota(std::string_view table, const Quota& quota,
                                     const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tables()->SetTableQuota(table, quota, limits);
}

absl::Status Database::SetCallerQuota(std::string_view caller, const Quota& quota,
                                      const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckCallerName(caller));
  return master->tables()->SetCallerQuota(caller, quota, limits);
}

absl::StatusOr<Quota> Database::GetTableQuota(std::string_view table, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      impl_->schemas->Read(table, limits));
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(impl_->session.get()).Read(limits));
  const auto found = quotas.tables.find(layout->table_id);
  return found == quotas.tables.end() ? Quota() : found->second.quota;
}

absl::StatusOr<Quota> Database::GetCallerQuota(std::string_view caller,
                                               const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_RETURN_IF_ERROR(CheckCallerName(caller));
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(impl_->session.get()).Read(limits));
  const auto found = quotas.callers.find(caller);
  return found == quotas.callers.end() ? Quota() : found->second;
}

absl::StatusOr<std::map<std::string, Quota>> Database::ListTableQuotas(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(impl_->session.get()).Read(limits));
  std::map<std::string, Quota> listed;
  for (const auto& [id, table] : quotas.tables) {
    BT_ASSIGN_OR_RETURN(const bool is_there, impl_->schemas->Has(table.name, id, limits));
    if (is_there) listed[table.name] = table.quota;
  }
  return listed;
}

absl::StatusOr<std::map<std::string, Quota>> Database::ListCallerQuotas(
    const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(impl_->session.get()).Read(limits));
  return std::map<std::string, Quota>(quotas.callers.begin(), quotas.callers.end());
}

// --- Tablets ---

absl::StatusOr<std::vector<TabletInfo>> Database::ListTablets(std::string_view table,
                                                              const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, impl_->masters->Get(limits));
  return master->tablets()->Tablets(table, limits);
}

absl::Status Database::SplitTablet(std::string_view table, std::string_view row,
                                   const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tablets()->SplitTablet(table, row, limits);
}

absl::Status Database::MergeTablets(std::string_view table, std::string_view row,
                                    const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tablets()->MergeTablets(table, row, limits);
}

absl::Status Database::MoveTablet(std::string_view table, std::string_view row, int server,
                                  const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tablets()->MoveTablet(table, row, server, limits);
}

// --- Time ---

absl::StatusOr<std::shared_ptr<const Snapshot>> Database::TakeSnapshot() {
  BT_ENTER();
  const std::shared_ptr<SnapshotList>& snapshots = impl_->environment()->snapshots;
  snapshots->AddUser();
  auto snapshot = std::make_shared<const SnapshotImpl>(snapshots, snapshots->Take(), true);
  return std::shared_ptr<const Snapshot>(std::move(snapshot));
}

// --- Background work ---

absl::Status Database::Flush(std::string_view table, const CallOptions& options) {
  if (impl_ == nullptr) return NotConnectedError("Database::Flush");
  const CallLimits limits = LimitsOf(options);
  return impl_->ForEachTablet(table, limits, [&](const HostedTablet& tablet) {
    return impl_->environment()->background.FlushTablet(tablet.host->server(), tablet.tablet,
                                                        limits);
  });
}

absl::Status Database::Compact(std::string_view table, const CallOptions& options) {
  if (impl_ == nullptr) return NotConnectedError("Database::Compact");
  const CallLimits limits = LimitsOf(options);
  absl::Status damaged;  // does not stop compactions of the other tablets
  BT_RETURN_IF_ERROR(impl_->ForEachTablet(table, limits, [&](const HostedTablet& tablet) {
    const absl::Status compacted = impl_->environment()->background.CompactTablet(
        tablet.host->server(), tablet.tablet, limits);
    if (!absl::IsDataLoss(compacted)) return compacted;
    damaged.Update(compacted);
    return absl::OkStatus();
  }));
  {
    const CallGate::LongPass pass(&impl_->gate);
    if (!pass) return impl_->ClosedError();
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                        impl_->schemas->Read(table, limits));
    for (const auto& host : impl_->cluster->servers()->Users()) {
      BackgroundWork& background = impl_->environment()->background;
      damaged.Update(background.EraseOldLog(host->server(), layout->table_id, limits));
    }
  }
  return damaged;
}

absl::Status Database::WaitUntilQuiet(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  while (true) {
    BT_RETURN_IF_ERROR(impl_->environment()->background.WaitUntilQuiet(limits));
    if (impl_->environment()->options.read_only) return absl::OkStatus();
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, impl_->masters->Get(limits));
    BT_RETURN_IF_ERROR(master->tables()->FinishDeletions(limits));
    Upkeep* const upkeep = master->upkeep();
    if (upkeep->ChangeTablets(limits)) continue;
    if (!upkeep->UndoDropSplits(absl::ZeroDuration(), limits)) return absl::OkStatus();
  }
}

void Database::PauseCompactions() {
  if (impl_ == nullptr) return;
  const CallGate::LongPass pass(&impl_->gate);
  if (pass) impl_->environment()->background.PauseCompactions();
}

void Database::ContinueCompactions() {
  if (impl_ == nullptr) return;
  const CallGate::LongPass pass(&impl_->gate);
  if (pass) impl_->environment()->background.ContinueCompactions();
}

void Database::CancelCompactions() {
  if (impl_ == nullptr) return;
  const CallGate::LongPass pass(&impl_->gate);
  if (pass) impl_->environment()->background.CancelCompactions();
}

void Database::SetCompactionRate(uint64_t bytes_per_second) {
  if (impl_ == nullptr) return;
  const CallGate::LongPass pass(&impl_->gate);
  if (pass) impl_->option_changes.SetCompactionRate(impl_->cluster.get(), bytes_per_second);
}

absl::Status Database::SetOptions(const std::map<std::string, std::string>& values) {
  BT_ENTER();
  return impl_->option_changes.Set(impl_->cluster.get(), values);
}

std::map<std::string, std::string> Database::ChangeableOptions() const {
  if (impl_ == nullptr) return {};
  const CallGate::LongPass pass(&impl_->gate);
  return pass ? OptionChanges::Get(*impl_->environment()) : std::map<std::string, std::string>();
}

absl::Status Database::Resume(const CallOptions& options) {
  if (connected_ != nullptr) return connected_->service()->Resume(options);
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(impl_->CheckWritable(limits));
  const absl::StatusOr<std::shared_ptr<Master>> master = impl_->masters->Get(limits);
  if (master.ok()) return (*master)->Resume(limits);
  BT_RETURN_IF_ERROR(limits.Check());
  // The error to be resumed may be what keeps a master from starting.
  BT_RETURN_IF_ERROR(impl_->cluster->Resume(limits));
  return impl_->masters->Get(limits).status();
}

DatabaseStatistics Database::Statistics() {
  if (impl_ == nullptr) {
    DatabaseStatistics none;
    none.background_error = NotConnectedError("Database::Statistics");
    return none;
  }
  const CallGate::LongPass pass(&impl_->gate);
  if (!pass) {
    DatabaseStatistics closed;
    closed.background_error = impl_->ClosedError();
    return closed;
  }
  DatabaseStatistics statistics = impl_->cluster->Statistics();
  statistics.locations = impl_->locations.statistics();
  const MetadataLookups lookups = impl_->cluster->metadata()->lookups();
  statistics.locations.root_tablet_lookups = lookups.root_tablet;
  statistics.locations.root_file_lookups = lookups.root_file;
  const std::lock_guard<std::mutex> lock(tables_mutex_);
  // A table whose schema is being written is there.
  const CallLimits at_once{.deadline = Deadline::In(absl::ZeroDuration())};
  for (const auto& [id, handles] : tables_) {
    const TableImpl& impl = *handles.begin()->second->impl_;
    const absl::StatusOr<bool> is_there = impl_->schemas->Has(impl.name, id, at_once);
    if (!is_there.ok() || *is_there) statistics.calls[impl.name] = impl.monitor.counters.Read();
  }
  return statistics;
}

}  // namespace bigtable
