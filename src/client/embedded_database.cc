#include "client/embedded_database.h"

#include <thread>
#include <utility>

#include "admission/quota_store.h"
#include "backend/option_limits.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"
#include "recording/call_builder.h"
#include "recording/recorded_table.h"
#include "recording/recorder_access.h"
#include "routing/snapshot_impl.h"
#include "routing/table_impl.h"
#include "schema/family_changes.h"
#include "schema/mutation_check.h"
#include "schema/schema_checks.h"
#include "transaction/batch_call.h"
#include "transaction/observed_write.h"
#include "transaction/observers.h"
#include "transaction/transaction_impl.h"
#include "transfer/checkpoint.h"

namespace bigtable {

// Each call enters the gate, or is refused. Some calls take long, so they have a LongPass; none
// uses what a LongPass does not protect (TableRoute::Get).
#define BT_ENTER()                                \
  const CallGate::LongPass bt_pass(&impl_->gate); \
  if (!bt_pass) return impl_->ClosedError()

// Gets the master, for changes that only a master may make.
#define BT_ENTER_MASTER(options)                    \
  const CallLimits limits = LimitsOf(options);      \
  BT_ENTER();                                       \
  BT_RETURN_IF_ERROR(impl_->CheckWritable(limits)); \
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, impl_->masters->Get(limits))

EmbeddedDatabase::EmbeddedDatabase(std::shared_ptr<DatabaseImpl> impl)
    : impl_(std::move(impl)), domain_(std::make_shared<TransactionDomain>(impl_, this)) {}

absl::StatusOr<std::unique_ptr<EmbeddedDatabase>> EmbeddedDatabase::Open(
    std::string_view path, const DatabaseOptions& options, OpenFiles* files) {
  RecordingFile* const recording =
      options.recorder != nullptr ? RecorderAccess::FileOf(*options.recorder) : nullptr;
  if (recording != nullptr && !recording->Claim()) {
    return absl::FailedPreconditionError(
        "DatabaseOptions::recorder has recorded a database before, or has ended; each opening needs"
        " one of its own");
  }
  auto impl = std::make_shared<DatabaseImpl>(options);
  if (absl::Status opened = impl->Open(path, options, files); !opened.ok()) {
    if (recording != nullptr) recording->Release();
    return opened;
  }
  return std::unique_ptr<EmbeddedDatabase>(new EmbeddedDatabase(std::move(impl)));
}

absl::StatusOr<std::set<uint64_t>> EmbeddedDatabase::FileNumbers() {
  BT_ENTER();
  return impl_->FileNumbers();
}

EmbeddedDatabase::~EmbeddedDatabase() {
  // In a child process the parent's resources stay untouched.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory the child ends
  if (impl_->is_forked()) (void)new std::shared_ptr<TransactionDomain>(domain_);
}

absl::Status EmbeddedDatabase::Close() {
  if (impl_->is_forked()) return impl_->ClosedError();
  MutexLock lock(&impl_->mutex);
  if (impl_->closed) return impl_->close_status;
  impl_->closed = true;
  impl_->cluster->BeginClosing();
  impl_->gate.CloseAndWait();
  // Those that wait find that it is closed.
  impl_->async_overlapped.Stop();
  impl_->async_alone.Stop();
  impl_->async_elsewhere.Stop();
  EndRecording();
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

absl::Status EmbeddedDatabase::CreateTable(std::string_view name, const TableSchema& schema,
                                           const CreateTableOptions& options) {
  const CallOptions call{options.deadline, options.cancellation};
  BT_ENTER_MASTER(call);
  BT_RETURN_IF_ERROR(CheckObserversAreKnown(schema.observers));
  return master->tables()->CreateTable(name, schema, options.split_rows, limits);
}

absl::Status EmbeddedDatabase::DeleteTable(std::string_view name, const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tables()->DeleteTable(name, limits);
}

// Not by OpenTable, whose error names other tables.
absl::StatusOr<Table*> EmbeddedDatabase::FindTable(std::string_view name,
                                                   const OpenTableOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_ASSIGN_OR_RETURN(const auto layout, impl_->schemas->Find(name, limits));
  if (layout == nullptr) return nullptr;
  return OpenTable(name, options);
}

absl::StatusOr<Table*> EmbeddedDatabase::OpenTable(std::string_view name,
                                                   const OpenTableOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  if (options.caller.has_value()) BT_RETURN_IF_ERROR(CheckCallerName(*options.caller));
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      impl_->schemas->Read(name, limits));
  MutexLock lock(&tables_mutex_);
  auto& opened = tables_[layout->table_id];
  if (const auto found = opened.find(options.caller); found != opened.end()) {
    return found->second.table.get();
  }
  auto monitor = opened.empty() ? std::make_shared<TableMonitor>(&impl_->tracer, std::string(name))
                                : opened.begin()->second.backend->shared_monitor;
  auto backend =
      std::make_shared<EmbeddedTable>(domain_, impl_->locations.RouteOf(layout->table_id),
                                      std::move(monitor), std::string(name), options.caller);
  OpenedTable& added = opened[options.caller];
  added.backend = backend.get();
  added.table = TableBackend::NewTable(Recorded(std::move(backend), *layout));
  added.backend->public_table = added.table.get();
  if (!layout->observers.empty()) added.backend->route->SetObserved(true);
  return added.table.get();
}

void EmbeddedDatabase::EndRecording() const {
  if (impl_->recorder == nullptr) return;
  const absl::Status finished = impl_->recorder->Finish();
  const RecordingCounts counts = impl_->recorder->Counts();
  if (finished.ok() && counts.lost_calls == 0) return;
  impl_->parts.info_log->Warning("the recording of calls has ", counts.calls, " calls, and lost ",
                                 counts.lost_calls, finished.ok() ? "" : ": ",
                                 ToStd(finished.message()));
}

std::shared_ptr<TableBackend> EmbeddedDatabase::Recorded(std::shared_ptr<TableBackend> table,
                                                         const TableLayout& layout) const {
  if (impl_->recorder == nullptr) return table;
  const uint64_t number =
      RecorderAccess::FileOf(*impl_->recorder)->DefineTable(layout.name, layout.Encode());
  return std::make_shared<RecordedTable>(std::move(table), impl_->recorder, number);
}

void EmbeddedDatabase::RecordChange(std::string_view table, const CallLimits& limits) const {
  if (impl_->recorder == nullptr) return;
  const auto layout = impl_->schemas->Read(table, limits);
  if (!layout.ok()) return;  // it was deleted
  RecorderAccess::FileOf(*impl_->recorder)->DefineTable(table, (*layout)->Encode());
}

absl::StatusOr<std::vector<std::string>> EmbeddedDatabase::ListTables(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  return impl_->schemas->Tables(limits);
}

absl::StatusOr<TableSchema> EmbeddedDatabase::GetSchema(std::string_view table,
                                                        const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      impl_->schemas->Read(table, limits));
  return layout->ToSchema();
}

absl::Status EmbeddedDatabase::ModifyFamilies(std::string_view table,
                                              const std::vector<FamilyChange>& changes,
                                              const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(master->tables()->ChangeTable(table, limits, [&](TableLayout* layout) {
    return ChangeFamilies(changes, master->tables()->TakeSequence(), layout);
  }));
  RecordChange(table, limits);
  return absl::OkStatus();
}

absl::Status EmbeddedDatabase::SetLocalityGroup(std::string_view table, std::string_view name,
                                                const LocalityGroup& group,
                                                const CallOptions& options) {
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

absl::Status EmbeddedDatabase::SetSplitRule(std::string_view table, const SplitRule& rule,
                                            const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckSplitRule(rule));
  return master->tables()->ChangeTable(table, limits, [&](TableLayout* layout) {
    layout->split = rule;
    return absl::OkStatus();
  });
}

absl::Status EmbeddedDatabase::SetChangeStream(std::string_view table, const ChangeStreamRule& rule,
                                               const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tables()->SetChangeStream(table, rule, limits);
}

absl::Status EmbeddedDatabase::SetObservers(std::string_view table,
                                            const std::vector<std::string>& observers,
                                            const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckObservers(observers));
  BT_RETURN_IF_ERROR(CheckObserversAreKnown(observers));
  uint64_t table_id = 0;
  BT_RETURN_IF_ERROR(master->tables()->ChangeTable(table, limits, [&](TableLayout* layout) {
    table_id = layout->table_id;
    if (layout->observers == observers) return absl::OkStatus();
    layout->observers = observers;
    layout->observers_id = observers.empty() ? 0 : master->tables()->TakeSequence();
    return absl::OkStatus();
  }));
  // The next transaction calls them at once, and not only after a conflict.
  if (!observers.empty()) impl_->locations.RouteOf(table_id)->SetObserved(true);
  return absl::OkStatus();
}

// --- Access lists ---

absl::Status EmbeddedDatabase::SetAccessList(std::string_view name, const AccessList& list,
                                             const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckAccessList(name, list));
  return master->tables()->SetAccessList(name, list, limits);
}

absl::Status EmbeddedDatabase::DeleteAccessList(std::string_view name, const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckAccessListName(name));
  return master->tables()->DeleteAccessList(name, limits);
}

absl::StatusOr<AccessList> EmbeddedDatabase::GetAccessList(std::string_view name,
                                                           const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  return impl_->access_lists->Read(name, limits);
}

absl::StatusOr<std::vector<std::string>> EmbeddedDatabase::ListAccessLists(
    const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  return impl_->access_lists->Names(limits);
}

// --- Quotas ---

absl::Status EmbeddedDatabase::SetTableQuota(std::string_view table, const Quota& quota,
                                             const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tables()->SetTableQuota(table, quota, limits);
}

absl::Status EmbeddedDatabase::SetCallerQuota(std::string_view caller, const Quota& quota,
                                              const CallOptions& options) {
  BT_ENTER_MASTER(options);
  BT_RETURN_IF_ERROR(CheckCallerName(caller));
  return master->tables()->SetCallerQuota(caller, quota, limits);
}

absl::StatusOr<Quota> EmbeddedDatabase::GetTableQuota(std::string_view table,
                                                      const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      impl_->schemas->Read(table, limits));
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(impl_->session.get()).Read(limits));
  const auto found = quotas.tables.find(layout->table_id);
  return found == quotas.tables.end() ? Quota() : found->second.quota;
}

absl::StatusOr<Quota> EmbeddedDatabase::GetCallerQuota(std::string_view caller,
                                                       const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_RETURN_IF_ERROR(CheckCallerName(caller));
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(impl_->session.get()).Read(limits));
  const auto found = quotas.callers.find(caller);
  return found == quotas.callers.end() ? Quota() : found->second;
}

absl::StatusOr<std::map<std::string, Quota>> EmbeddedDatabase::ListTableQuotas(
    const CallOptions& options) {
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

absl::StatusOr<std::map<std::string, Quota>> EmbeddedDatabase::ListCallerQuotas(
    const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(limits.Check());
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(impl_->session.get()).Read(limits));
  return std::map<std::string, Quota>(quotas.callers.begin(), quotas.callers.end());
}

// --- Tablets ---

absl::StatusOr<std::vector<TabletInfo>> EmbeddedDatabase::ListTablets(std::string_view table,
                                                                      const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, impl_->masters->Get(limits));
  return master->tablets()->Tablets(table, limits);
}

absl::Status EmbeddedDatabase::SplitTablet(std::string_view table, std::string_view row,
                                           const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tablets()->SplitTablet(table, row, limits);
}

absl::Status EmbeddedDatabase::MergeTablets(std::string_view table, std::string_view row,
                                            const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tablets()->MergeTablets(table, row, limits);
}

absl::Status EmbeddedDatabase::MoveTablet(std::string_view table, std::string_view row, int server,
                                          const CallOptions& options) {
  BT_ENTER_MASTER(options);
  return master->tablets()->MoveTablet(table, row, server, limits);
}

// --- Batches, transactions and snapshots ---

absl::Status EmbeddedDatabase::Apply(const WriteBatch& batch, const WriteOptions& options) {
  std::optional<CallBuilder> call =
      CallBuilder::ForBatch(impl_->recorder, RecordedCall::Kind::kApplyWriteBatch, batch);
  absl::Status status = ApplyUnrecorded(batch, options);
  if (call.has_value()) [[unlikely]] {
    call->SetOptions(options);
    call->End(status.code());
  }
  return status;
}

absl::Status EmbeddedDatabase::ApplyUnrecorded(const WriteBatch& batch,
                                               const WriteOptions& options) {
  if (batch.has_connected_) [[unlikely]]
    return absl::InvalidArgumentError("a table of the batch is of another database");
  if (batch.mutations_.empty())
    return BatchCall::Apply(impl_.get(), batch, options, LimitsOf(options), nullptr);
  // Counted as a call on the table of the first mutation.
  TableMonitor& monitor = TableImpl::Of(*batch.mutations_.front().table)->monitor;
  monitor.counters.Count(CallCounters::Amount::kBatchMutations, batch.mutation_count());
  if (!ObservedWrite::IsObserved(batch)) [[likely]] {
    absl::Status status = ApplyMeasured(&monitor, batch, options);
    if (!IsNotObserved(status)) [[likely]]
      return status;
    for (const WriteBatch::Mutation& mutation : batch.mutations_) {
      TableImpl::Of(*mutation.table)->route->SetObserved(true);
    }
  } else {
    monitor.counters.Count(Call::kApplyBatch);
  }
  // Not measured: observers may make calls, which do not nest.
  absl::Status status = ObservedWrite::Apply(domain_, batch, options);
  if (!status.ok()) monitor.counters.CountError(Call::kApplyBatch);
  return status;
}

absl::Status EmbeddedDatabase::ApplyMeasured(TableMonitor* monitor, const WriteBatch& batch,
                                             const WriteOptions& options) {
  CallTimer timer(monitor, Call::kApplyBatch, [&](RequestTrace* trace) {
    trace->row = std::string_view(batch.bytes_).substr(0, batch.mutations_.front().row_size);
    trace->mutations = batch.mutation_count();
  });
  absl::Status status =
      BatchCall::Apply(impl_.get(), batch, options, LimitsOf(options), timer.sample());
  if (!status.ok()) timer.Failed(status);
  return status;
}

absl::StatusOr<Transaction> EmbeddedDatabase::BeginTransaction(const CallOptions& options) {
  BT_ENTER();
  BT_ASSIGN_OR_RETURN(std::shared_ptr<const Snapshot> snapshot,
                      domain_->TakeOwnSnapshot(LimitsOf(options)));
  return Transaction(std::make_unique<TransactionImpl>(domain_, std::move(snapshot), CallLimits()));
}

absl::StatusOr<std::shared_ptr<const Snapshot>> EmbeddedDatabase::TakeSnapshot() {
  BT_ENTER();
  const std::shared_ptr<SnapshotList>& snapshots = impl_->parts.snapshots;
  snapshots->AddUser();
  auto snapshot = std::make_shared<const SnapshotImpl>(snapshots, snapshots->Take(), true);
  return std::shared_ptr<const Snapshot>(std::move(snapshot));
}

CopyParts EmbeddedDatabase::OfCopies() const {
  const DatabaseImpl::Parts& parts = impl_->parts;
  return {.image = {.servers = impl_->cluster->servers(),
                    .sequences = parts.sequences,
                    .session = impl_->session.get(),
                    .clock = parts.clock,
                    .history = impl_->history.ok() ? &*impl_->history : nullptr,
                    .read_only = parts.read_only},
          .storage = parts.storage,
          .budget = parts.budget,
          .info_log = parts.info_log};
}

absl::StatusOr<DatabaseHistory> EmbeddedDatabase::History() {
  BT_ENTER();
  return impl_->history;
}

absl::Status EmbeddedDatabase::Checkpoint(std::string_view directory, const CallOptions& options) {
  BT_ENTER();
  const DatabaseImpl::Parts& parts = impl_->parts;
  CallLimits limits = LimitsOf(options);
  limits.given_up = &parts.closing->is_closing;
  const absl::Status written = WriteCheckpoint(OfCopies(), directory, limits);
  return parts.closing->is_closing && !written.ok() ? impl_->ClosedError() : written;
}

absl::StatusOr<CopiedImage> EmbeddedDatabase::CopyTo(ImageTarget* target,
                                                     const CallOptions& options) {
  BT_ENTER();
  const DatabaseImpl::Parts& parts = impl_->parts;
  CallLimits limits = LimitsOf(options);
  limits.given_up = &parts.closing->is_closing;
  absl::StatusOr<CopiedImage> copied = CopyImage(OfCopies(), target, limits);
  if (parts.closing->is_closing && !copied.ok()) return impl_->ClosedError();
  return copied;
}

absl::Status EmbeddedDatabase::RestoreTable(RestoredTable table, const CopyOfBackup& copy,
                                            const CallOptions& options) {
  CallLimits limits = LimitsOf(options);
  BT_ENTER();
  BT_RETURN_IF_ERROR(impl_->CheckWritable(limits));
  const DatabaseImpl::Parts& parts = impl_->parts;
  limits.given_up = &parts.closing->is_closing;
  BT_RETURN_IF_ERROR(CheckObserversAreKnown(table.layout.observers));
  const auto check_name = [&](const std::string& name) -> absl::Status {
    BT_ASSIGN_OR_RETURN(const auto found, impl_->schemas->Find(name, limits));
    if (found == nullptr) return absl::OkStatus();
    return absl::AlreadyExistsError(Cat("there is a table ", Quoted(name), " already"));
  };
  const auto add = [&](RestoredTable restored, bool* may_be_named) -> absl::Status {
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, impl_->masters->Get(limits));
    return master->tables()->RestoreTable(std::move(restored), limits, may_be_named);
  };
  const absl::Status restored = bigtable::RestoreTable({.storage = parts.storage,
                                                        .quotas = parts.quotas,
                                                        .info_log = parts.info_log,
                                                        .check_name = check_name,
                                                        .add = add},
                                                       std::move(table), copy, limits);
  return parts.closing->is_closing && !restored.ok() ? impl_->ClosedError() : restored;
}

// --- Background work ---

absl::Status EmbeddedDatabase::Flush(std::string_view table, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ASSIGN_OR_RETURN(const FlushedTablets flushed, FlushTogether(table, limits));
  return impl_->ForEachTablet(table, limits, [&](const HostedTablet& tablet) {
    if (flushed.contains(tablet.tablet)) return absl::OkStatus();
    return impl_->parts.background->FlushTablet(tablet.host->server(), tablet.tablet, limits);
  });
}

absl::StatusOr<EmbeddedDatabase::FlushedTablets> EmbeddedDatabase::FlushTogether(
    std::string_view table, const CallLimits& limits) {
  FlushedTablets flushed;
  const CallGate::LongPass pass(&impl_->gate);
  if (!pass) return impl_->ClosedError();
  BT_RETURN_IF_ERROR(impl_->CheckWritable(limits));
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      impl_->schemas->Read(table, limits));
  for (const auto& host : impl_->cluster->servers()->Users()) {
    const std::vector<std::shared_ptr<Tablet>> tablets =
        host->server()->tablets().Of(layout->table_id);
    if (tablets.size() < 2) continue;
    BT_RETURN_IF_ERROR(impl_->parts.background->FlushTablets(host->server(), tablets, limits));
    flushed.insert(tablets.begin(), tablets.end());
  }
  return flushed;
}

absl::Status EmbeddedDatabase::Compact(std::string_view table, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  const CallGate::LongPass pass(&impl_->gate);
  if (!pass) return impl_->ClosedError();
  BT_RETURN_IF_ERROR(impl_->CheckWritable(limits));
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      impl_->schemas->Read(table, limits));
  const BackgroundWork::OwnFiles own_files(impl_->parts.background, layout->table_id);
  absl::Status damaged;  // does not stop compactions of the other tablets
  BT_RETURN_IF_ERROR(FlushTogether(table, limits).status());
  BT_RETURN_IF_ERROR(impl_->ForEachTablet(table, limits, [&](const HostedTablet& tablet) {
    const absl::Status compacted =
        impl_->parts.background->CompactTablet(tablet.host->server(), tablet.tablet, limits);
    if (!absl::IsDataLoss(compacted)) return compacted;
    damaged.Update(compacted);
    return absl::OkStatus();
  }));
  for (const auto& host : impl_->cluster->servers()->Users()) {
    damaged.Update(impl_->parts.background->EraseOldLog(host->server(), layout->table_id, limits));
  }
  return damaged;
}

absl::Status EmbeddedDatabase::WaitUntilQuiet(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_ENTER();
  while (true) {
    BT_RETURN_IF_ERROR(impl_->parts.background->WaitUntilQuiet(limits));
    if (impl_->parts.read_only) return absl::OkStatus();
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, impl_->masters->Get(limits));
    BT_RETURN_IF_ERROR(master->tables()->FinishDeletions(limits));
    Upkeep* const upkeep = master->upkeep();
    if (upkeep->ChangeTablets(limits)) continue;
    if (!upkeep->UndoDropSplits(absl::ZeroDuration(), limits)) return absl::OkStatus();
  }
}

void EmbeddedDatabase::PauseCompactions() {
  const CallGate::LongPass pass(&impl_->gate);
  if (pass) impl_->parts.background->PauseCompactions();
}

void EmbeddedDatabase::ContinueCompactions() {
  const CallGate::LongPass pass(&impl_->gate);
  if (pass) impl_->parts.background->ContinueCompactions();
}

void EmbeddedDatabase::CancelCompactions() {
  const CallGate::LongPass pass(&impl_->gate);
  if (pass) impl_->parts.background->CancelCompactions();
}

void EmbeddedDatabase::SetCompactionRate(uint64_t bytes_per_second) {
  const CallGate::LongPass pass(&impl_->gate);
  if (pass) impl_->option_changes->SetCompactionRate(bytes_per_second);
}

absl::Status EmbeddedDatabase::SetOptions(const std::map<std::string, std::string>& values) {
  BT_ENTER();
  return impl_->option_changes->Set(values);
}

std::map<std::string, std::string> EmbeddedDatabase::ChangeableOptions() const {
  const CallGate::LongPass pass(&impl_->gate);
  return pass ? impl_->option_changes->Get() : std::map<std::string, std::string>();
}

absl::Status EmbeddedDatabase::Resume(const CallOptions& options) {
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

DatabaseStatistics EmbeddedDatabase::Statistics() {
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
  MutexLock lock(&tables_mutex_);
  // A table whose schema is being written is there.
  const CallLimits at_once{.deadline = Deadline::In(absl::ZeroDuration())};
  for (const auto& [id, opened] : tables_) {
    const TableImpl& impl = *opened.begin()->second.backend;
    const absl::StatusOr<bool> is_there = impl_->schemas->Has(impl.name(), id, at_once);
    if (!is_there.ok() || *is_there) statistics.calls[impl.name()] = impl.monitor.counters.Read();
  }
  return statistics;
}

}  // namespace bigtable
