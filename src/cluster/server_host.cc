#include "cluster/server_host.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "base/limited_mutex.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "base/thread_roles.h"
#include "changes/change_file.h"
#include "changes/change_state.h"
#include "cluster/tablet_claim.h"
#include "tablet/tablet_change.h"
#include "tablet/tablet_state.h"

namespace bigtable {

namespace {

// Only users' writes are throttled or refused.
DataPath::Writes WritesOf(ServerRole role, bool read_only) {
  if (!read_only) return DataPath::Writes::kLogged;
  return role == ServerRole::kUser ? DataPath::Writes::kRefused : DataPath::Writes::kInMemory;
}

// Of a tablet whose files METADATA has forgotten.
void RemoveFilesOf(const Tablet& tablet) {
  const Pin<TabletVersion> version = tablet.Version();
  for (const GroupVersion& group : version->groups()) {
    for (const SortedRun& run : group.runs) {
      for (const Ref<SSTable>& file : run.files) {
        tablet.environment()->remove_file(file->info().file_number);
      }
    }
  }
}

}  // namespace

ServerHost::ServerHost(Parts parts, ServerRole role, MetadataTable* metadata,
                       std::unique_ptr<TabletServer> server)
    : parts_(std::move(parts)),
      role_(role),
      metadata_(metadata),
      server_(std::move(server)),
      write_controller_(parts_.budget, server_.get(), parts_.background, parts_.events,
                        parts_.info_log),
      data_path_(server_.get(), role == ServerRole::kUser ? &write_controller_ : nullptr,
                 parts_.access, role == ServerRole::kUser ? parts_.quotas : nullptr,
                 WritesOf(role, parts_.read_only)),
      data_server_(&data_path_) {}

// --- Checks of commands ---

absl::Status ServerHost::CheckMaster(MasterEpoch master) {
  if (master < master_) {
    return absl::UnavailableError(Cat("master ", master, " was replaced by master ", master_));
  }
  master_ = master;
  return absl::OkStatus();
}

absl::Status ServerHost::CheckServing() const {
  BT_RETURN_IF_ERROR(server_->write_error().status());
  return CheckLock();
}

absl::Status ServerHost::CheckFit(IfRefusingWrites if_refusing) const {
  return if_refusing == IfRefusingWrites::kDecline ? CheckServing() : CheckLock();
}

absl::Status ServerHost::CheckLock() const {
  if (server_->state().serving()) return absl::OkStatus();
  return absl::UnavailableError(Cat("server ", server_->name(), " has lost its lock"));
}

absl::StatusOr<std::vector<std::shared_ptr<Tablet>>> ServerHost::Accept(MasterEpoch master) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  // Loads of an earlier master end, in success or failure, before another server loads a tablet.
  while (loading_ > 0) loaded_.Wait(&mutex_);
  return server_->tablets().All();
}

absl::StatusOr<std::shared_ptr<Tablet>> ServerHost::FindTablet(const TabletId& id) const {
  if (std::shared_ptr<Tablet> tablet = server_->tablets().Get(id)) return tablet;
  return absl::NotFoundError(Cat("the tablet of table ", id.table_id, " is not on server ",
                                 server_->log().started() ? server_->name() : "without tablets"));
}

// --- Loading and unloading ---

absl::Status ServerHost::Start(MasterEpoch master) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  if (server_->log().started()) return absl::OkStatus();
  // In a read-only database a server has a name and no log.
  if (parts_.read_only && !server_->environment()->server.empty()) return absl::OkStatus();
  const std::string name = parts_.coordination->server_names.Take(role_);
  if (parts_.read_only) {
    server_->mutable_environment()->server = name;
    return absl::OkStatus();
  }
  absl::Status started = server_->Start(name, parts_.storage->directory.log_of(name),
                                        parts_.coordination->lock_service.get());
  if (!started.ok()) parts_.coordination->server_names.Remove(name);
  return started;
}

absl::Status ServerHost::Load(MasterEpoch master, const TableLayout& layout, const TabletId& id,
                              const std::vector<DeadLog*>& logs, IfRefusingWrites if_refusing) {
  {
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(CheckMaster(master));
    ++loading_;
  }
  const absl::Status loaded = OpenAndServe(master, layout, id, logs, if_refusing);
  MutexLock lock(&mutex_);
  ABSL_ASSERT(loading_ > 0 && "a load that ends has begun");
  if (--loading_ == 0) loaded_.SignalAll();
  return loaded;
}

absl::Status ServerHost::OpenAndServe(MasterEpoch master, const TableLayout& layout,
                                      const TabletId& id, const std::vector<DeadLog*>& logs,
                                      IfRefusingWrites if_refusing) {
  BT_RETURN_IF_ERROR(Start(master));
  BT_RETURN_IF_ERROR(CheckFit(if_refusing));
  std::string location;
  BT_ASSIGN_OR_RETURN(const TabletState state, ReadState(id, &location));
  parts_.sequences->AdvanceTo(LargestSequence(state));
  // A follower opens again and again, and its writer has looked.
  if (role_ != ServerRole::kUser && parts_.storage->own_files != nullptr) {
    parts_.storage->metadata_copies.Check(state, parts_.read_only, parts_.info_log);
  }
  BT_ASSIGN_OR_RETURN(std::shared_ptr<Tablet> tablet,
                      Tablet::Open(server_->environment(), parts_.layouts->Share(layout), state));
  BT_RETURN_IF_ERROR(Recover(tablet, logs));
  parts_.inherited_counters->PassOn(tablet.get());
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  BT_RETURN_IF_ERROR(CheckFit(if_refusing));
  // A tablet that is loaded here again needs no write to METADATA, which may be what has failed.
  if (location != server_->name()) BT_RETURN_IF_ERROR(SetLocation(id));
  // Everything in the tablet was given its sequence number before.
  server_->AdvanceVisible(parts_.sequences->last());
  server_->AddTablet(std::move(tablet));
  return absl::OkStatus();
}

absl::StatusOr<TabletState> ServerHost::ReadState(const TabletId& id, std::string* location) const {
  if (role_ != ServerRole::kRoot) return metadata()->ReadTablet(id, location);
  *location = parts_.coordination->root.server();
  return parts_.coordination->root.state();
}

absl::Status ServerHost::SetLocation(const TabletId& id) {
  if (role_ != ServerRole::kRoot) return metadata()->SetLocation(id, server_->name());
  return parts_.coordination->root.SetServer(server_->name(), parts_.read_only);
}

absl::Status ServerHost::Recover(const std::shared_ptr<Tablet>& tablet,
                                 const std::vector<DeadLog*>& logs) {
  constexpr const char* kWhy = "nobody else writes to a tablet that is being loaded";
  server_writer.Assume(kWhy);
  const bool read_only = parts_.read_only;
  const uint64_t most_memory = server_->environment()->memtable_size();
  const auto write_out = [&]() -> absl::Status {
    server_writer.Assume(kWhy);
    const SequenceNumber last = parts_.sequences->last();
    // The redo point says that this server has flushed or logged its own mutations up to `last`,
    // too (batch_recovery.h). It has those of the present turn only afterwards.
    BT_RETURN_IF_ERROR(server_->AwaitTurn(CallLimits()));
    for (size_t group = 0; group < tablet->writer()->groups(); ++group) tablet->Rotate(group, last);
    return parts_.background->FlushClaimed(server_.get(), tablet);
  };
  SequenceNumber after = kMaxSequence;
  for (size_t group = 0; group < tablet->writer()->groups(); ++group) {
    after = std::min(after, tablet->FlushedThrough(group));
  }
  for (const DeadLog* log : logs) {
    const auto replay = [&](const MutationRecord& record, SequenceNumber sequence) {
      server_writer.Assume(kWhy);
      tablet->writer()->Replay(record.mutation.row, record.mutation.operations, sequence,
                               record.server_timestamp, record.batch);
      return absl::OkStatus();
    };
    const auto between = [&](SequenceNumber) -> absl::Status {
      server_writer.Assume(kWhy);
      return read_only || tablet->writer()->bytes() < most_memory ? absl::OkStatus() : write_out();
    };
    BT_RETURN_IF_ERROR(log->Read(tablet->rows(), tablet->table_id(), after, replay, between));
  }
  return read_only || logs.empty() ? absl::OkStatus() : write_out();
}

absl::Status ServerHost::Unload(MasterEpoch master, const TabletId& id, const CallLimits& limits) {
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> tablet, FindTablet(id));
    BT_RETURN_IF_ERROR(parts_.background->FlushTablet(server_.get(), tablet, limits));
    const TabletClaim claim(parts_.background, {tablet}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    LimitedLock lock(&mutex_, limits);
    BT_RETURN_IF_ERROR(lock.status());
    BT_RETURN_IF_ERROR(CheckMaster(master));
    if (!claim.AreServed()) continue;
    BT_RETURN_IF_ERROR(StopAndFlush(tablet, limits));
    tablet->flags().MarkSuperseded();
    server_->ForgetTablet(*tablet);
    parts_.inherited_counters->Keep(*tablet);
    parts_.notify_superseded(*tablet);
    return absl::OkStatus();
  }
}

absl::Status ServerHost::StopAndFlush(const std::shared_ptr<Tablet>& tablet,
                                      const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckServing());
  BT_RETURN_IF_ERROR(server_->StopTablet(tablet.get(), limits));
  absl::Status status = parts_.background->FlushClaimed(server_.get(), tablet);
  if (!status.ok()) tablet->flags().SetStopped(false);
  return status;
}

void ServerHost::End() {
  MutexLock end_lock(&end_mutex_);  // it has ended when any caller's End() returns
  std::vector<std::shared_ptr<Tablet>> tablets;
  std::vector<std::shared_ptr<Tablet>> dropped;
  {
    MutexLock lock(&mutex_);  // commands that were begun are done
    while (loading_ > 0) loaded_.Wait(&mutex_);
    tablets = server_->tablets().All();
    dropped = dropped_;
  }
  server_->WaitForEnd();
  for (const std::shared_ptr<Tablet>& tablet : dropped) {
    parts_.background->WaitForTablet(tablet.get());
  }
  for (const std::shared_ptr<Tablet>& tablet : tablets) {
    tablet->flags().SetStopped(true);
    parts_.background->WaitForTablet(tablet.get());
    tablet->flags().MarkSuperseded();
    server_->ForgetTablet(*tablet);
    parts_.inherited_counters->Keep(*tablet);
    parts_.notify_superseded(*tablet);
  }
  ABSL_ASSERT(server_->tablets().size() == 0 && "a server that has ended serves nothing");
}

// --- Several tablets at one moment ---

absl::Status ServerHost::WithStopped(MasterEpoch master,
                                     absl::Span<const std::shared_ptr<Tablet>> tablets,
                                     const CallLimits& limits,
                                     absl::FunctionRef<absl::Status()> function) {
  LimitedLock lock(&mutex_, limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(CheckMaster(master));
  for (const std::shared_ptr<Tablet>& tablet : tablets) {
    if (!tablet->flags().ended()) continue;
    return absl::NotFoundError(
        Cat("the tablet with row ", Quoted(tablet->rows().begin()), " has changed"));
  }
  BT_RETURN_IF_ERROR(CheckServing());
  absl::Status status;
  for (size_t i = 0; status.ok() && i < tablets.size(); ++i) {
    status = server_->StopTablet(tablets[i].get(), limits);
  }
  if (status.ok()) status = parts_.background->FlushClaimed(server_.get(), tablets);
  if (status.ok()) status = function();
  if (status.ok()) return status;
  for (const std::shared_ptr<Tablet>& tablet : tablets) {
    if (!tablet->flags().superseded()) tablet->flags().SetStopped(false);
  }
  return status;
}

void ServerHost::ReplaceStopped(const std::shared_ptr<Tablet>& stopped,
                                const std::shared_ptr<Tablet>& by) {
  mutex_.AssertHeld();
  ABSL_ASSERT(stopped->flags().stopped() && by->flags().stopped() &&
              stopped->rows() == by->rows() && "nothing is written meanwhile");
  by->counters()->Inherit(*stopped->counters());
  stopped->flags().MarkSuperseded();
  server_->ForgetTablet(*stopped);
  server_->AddTablet(by);
  parts_.notify_superseded(*stopped);
}

// --- Splits ---

absl::Status ServerHost::Split(MasterEpoch master, uint64_t table_id, std::string_view row,
                               const CallLimits& limits) {
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    const std::shared_ptr<Tablet> tablet = server_->tablets().Find(table_id, row);
    if (tablet == nullptr) {
      return absl::NotFoundError(Cat("the tablet with row ", Quoted(row), " is not here"));
    }
    if (tablet->rows().begin() == row) {
      return absl::AlreadyExistsError(Cat("a tablet begins with ", Quoted(row), " already"));
    }
    const TabletClaim claim(parts_.background, {tablet}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    BT_RETURN_IF_ERROR(server_->AwaitTurn(limits));
    LimitedLock lock(&mutex_, limits);
    BT_RETURN_IF_ERROR(lock.status());
    BT_RETURN_IF_ERROR(CheckMaster(master));
    if (claim.AreServed()) return SplitClaimed(tablet, row, limits);
  }
}

absl::Status ServerHost::SplitClaimed(const std::shared_ptr<Tablet>& tablet, std::string_view row,
                                      const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckServing());
  const TabletState state = tablet->State();
  BT_RETURN_IF_ERROR(
      metadata()->SplitTablet(tablet->table_id(), state, row, server_->name(), limits));
  const RowRange left = RowRange::RightOpen(state.rows.begin(), row);
  const RowRange right = RowRange::StartingAt(row);
  for (const auto& [id, group] : state.groups) {
    for (const TabletFile& file : group.files) {
      if (MayHaveRowsOf(id, file.info, left) && MayHaveRowsOf(id, file.info, right)) {
        parts_.storage->shared_files.Share(file.info.file_number);
      }
    }
  }
  server_->SplitTablet(tablet, row,
                       [&](const Tablet::Halves&) { parts_.notify_superseded(*tablet); });
  parts_.info_log->Info("split a tablet of table ", tablet->Layout()->name, " at ", Quoted(row));
  Notify(&EventListener::OnTabletSplit, *tablet, row);
  return absl::OkStatus();
}

// --- Merges ---

absl::Status ServerHost::Merge(MasterEpoch master, const TabletId& left_id,
                               const TabletId& right_id, BackgroundWork::IfStopped if_stopped,
                               const CallLimits& limits) {
  BackgroundWork* const background = parts_.background;
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> left, FindTablet(left_id));
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> right, FindTablet(right_id));
    if (!left->rows().end().has_value() || *left->rows().end() != right->rows().begin()) {
      return absl::NotFoundError(Cat("the tablets next to row ",
                                     Quoted(left->rows().end().value_or("")), " have changed"));
    }
    for (const auto& [one, other] : {std::pair(left, right), std::pair(right, left)}) {
      if (!ReachesInto(*one, *other)) {
        BT_RETURN_IF_ERROR(background->FlushTablet(server_.get(), one, limits));
      } else {
        BT_RETURN_IF_ERROR(background->CompactTablet(server_.get(), one, limits, if_stopped));
      }
    }
    const TabletClaim claim(background, {left, right}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    LimitedLock lock(&mutex_, limits);
    BT_RETURN_IF_ERROR(lock.status());
    BT_RETURN_IF_ERROR(CheckMaster(master));
    if (claim.AreServed() && !ReachesInto(*left, *right) && !ReachesInto(*right, *left)) {
      return MergeClaimed(left, right, limits);
    }
  }
}

absl::Status ServerHost::MergeClaimed(const std::shared_ptr<Tablet>& left,
                                      const std::shared_ptr<Tablet>& right,
                                      const CallLimits& limits) {
  BT_RETURN_IF_ERROR(StopAndFlush(left, limits));
  absl::Status status = StopAndFlush(right, limits);
  std::vector<uint64_t> shared;
  const absl::StatusOr<TabletState> state = MergedState(left->State(), right->State(), &shared);
  absl::StatusOr<std::shared_ptr<Tablet>> merged = nullptr;
  status.Update(state.status());
  if (status.ok()) {
    merged = Tablet::Open(server_->environment(), right->Layout(), *state);
    status = merged.status();
  }
  if (status.ok()) {
    status = metadata()->MergeTablets(left->id(), right->id(), *state, limits);
  }
  if (!status.ok()) {
    for (const auto& tablet : {left, right}) tablet->flags().SetStopped(false);
    return status;
  }
  // Two tablets named such a file, and one tablet names it now.
  for (const uint64_t number : shared) {
    static_cast<void>(parts_.storage->shared_files.Release(number));
  }
  for (const auto& tablet : {left, right}) {
    (*merged)->counters()->Inherit(*tablet->counters());
    tablet->flags().MarkSuperseded();
    server_->ForgetTablet(*tablet);
  }
  server_->AddTablet(*merged);
  for (const auto& tablet : {left, right}) parts_.notify_superseded(*tablet);
  parts_.info_log->Info("merged two tablets of table ", right->Layout()->name, " at ",
                        Quoted(right->rows().begin()));
  Notify(&EventListener::OnTabletsMerged, **merged, right->rows().begin());
  return absl::OkStatus();
}

// --- Old changes ---

absl::Status ServerHost::DropOldChanges(MasterEpoch master, const std::shared_ptr<Tablet>& tablet,
                                        const OldChanges& old, const CallLimits& limits) {
  const TabletClaim claim(parts_.background, {tablet}, limits);
  BT_RETURN_IF_ERROR(claim.status());
  LimitedLock lock(&mutex_, limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(CheckMaster(master));
  if (!claim.AreServed()) return absl::NotFoundError("the tablet is not here any more");
  BT_RETURN_IF_ERROR(CheckServing());
  // The stream may have been closed or opened since. Then what the new one has is not old.
  if (tablet->Layout()->changes_since != old.of_stream) return absl::OkStatus();
  return DropChangesOfClaimed(tablet, old);
}

absl::Status ServerHost::DropChangesOfClaimed(const std::shared_ptr<Tablet>& tablet,
                                              const OldChanges& old) {
  const Ref<const GroupFiles> files = tablet->Version()->change_files();
  if (!files) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(ChangeState state, ChangeState::Decode(files->policy_state()));
  TabletChange change{.group_id = kChangesGroupId};
  for (const GroupFiles::File& file : files->files()) {
    const SSTableInfo& info = file.table->info();
    if (!old.Has(info.max_sequence, info.max_timestamp)) continue;
    change.removed.push_back(info.file_number);
    state.whole_after = std::max(state.whole_after, info.max_sequence);
    state.whole_since = std::max(state.whole_since, info.max_timestamp);
  }
  std::erase_if(state.drops, [&](const ChangeState::Drop& drop) {
    if (!old.Has(drop.sequence, drop.micros)) return false;
    state.whole_after = std::max(state.whole_after, drop.sequence);
    state.whole_since = std::max(state.whole_since, drop.micros);
    return true;
  });
  std::erase_if(state.collections, [&](const ChangeState::Collection& collection) {
    if (!old.Has(collection.sequence, collection.micros)) return false;
    state.collections_whole_after = std::max(state.collections_whole_after, collection.sequence);
    state.whole_since = std::max(state.whole_since, collection.micros);
    return true;
  });
  const std::string encoded = state.Encode();
  if (change.removed.empty() && encoded == files->policy_state()) return absl::OkStatus();
  change.policy_state = encoded;
  BT_RETURN_IF_ERROR(metadata()->Commit(tablet->id(), change));
  tablet->PublishChangeFiles(change, {});
  for (const uint64_t number : change.removed) tablet->environment()->remove_file(number);
  return absl::OkStatus();
}

// --- Dropped rows ---

absl::Status ServerHost::Empty(MasterEpoch master, const TabletId& id, const RowRange& rows,
                               const CallLimits& limits) {
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> tablet, FindTablet(id));
    if (tablet->rows() != rows) {
      return absl::NotFoundError(
          Cat("the tablet with row ", Quoted(rows.begin()), " was split or merged"));
    }
    const TabletClaim claim(parts_.background, {tablet}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    {
      LimitedLock lock(&mutex_, limits);
      BT_RETURN_IF_ERROR(lock.status());
      BT_RETURN_IF_ERROR(CheckMaster(master));
      if (!claim.AreServed()) continue;
      BT_RETURN_IF_ERROR(EmptyClaimed(tablet, limits));
    }
    RemoveFilesOf(*tablet);  // there may be thousands
    return absl::OkStatus();
  }
}

absl::Status ServerHost::EmptyClaimed(const std::shared_ptr<Tablet>& tablet,
                                      const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckServing());
  BT_RETURN_IF_ERROR(server_->StopTablet(tablet.get(), limits));
  absl::StatusOr<std::vector<TabletStep>> steps;
  absl::Status status;
  // Rows that are dropped stay in the changes that made them.
  if (tablet->Layout()->changes_since != 0) {
    status = parts_.background->FlushClaimed(server_.get(), tablet);
  }
  if (status.ok()) {
    steps = StepsToEmpty(tablet);
    status = steps.status();
  }
  absl::StatusOr<std::shared_ptr<Tablet>> empty = nullptr;
  if (status.ok()) {
    TabletState state = tablet->State();
    for (const TabletStep& step : *steps) ApplyChange(step.change, &state);
    empty = Tablet::Open(server_->environment(), tablet->Layout(), state);
    status = empty.status();
  }
  if (status.ok() && !steps->empty()) status = metadata()->Commit(*steps);
  if (!status.ok()) {
    tablet->flags().SetStopped(false);
    return status;
  }
  (*empty)->counters()->Inherit(*tablet->counters());
  tablet->flags().MarkSuperseded();
  server_->ForgetTablet(*tablet);
  // An atomic operation that has read a dropped row must not find it unchanged.
  server_->AdvanceVisible(parts_.sequences->last());
  server_->AddTablet(*std::move(empty));
  parts_.notify_superseded(*tablet);
  parts_.info_log->Info("dropped the rows of a tablet of table ", tablet->Layout()->name, " from ",
                        Quoted(tablet->rows().begin()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TabletStep>> ServerHost::StepsToEmpty(
    const std::shared_ptr<Tablet>& tablet) const {
  const std::vector<ImmutableMemtables> memtables = ImmutableMemtablesOf(tablet);
  SequenceNumber log_synced = 0;
  if (!memtables.empty()) {
    // As for a flush of them: older mutations of other tablets must not be lost after this.
    BT_ASSIGN_OR_RETURN(log_synced, server_->environment()->sync_log(memtables));
  }
  const std::shared_ptr<const TableLayout> layout = tablet->Layout();
  std::vector<TabletStep> steps;
  for (const auto& [id, group] : tablet->State().groups) {
    if (id == kChangesGroupId) continue;
    TabletChange change{.group_id = id, .last_timestamp = tablet->writer()->last_timestamp()};
    for (const TabletFile& file : group.files) change.removed.push_back(file.info.file_number);
    for (const ImmutableMemtables& of_group : memtables) {
      if (layout->groups[of_group.group].id != id) continue;
      change.redo = {.sequence = of_group.memtables.front()->last_sequence(),
                     .server = server_->name(),
                     .log_synced = log_synced};
    }
    if (change.removed.empty() && !change.redo.has_value()) continue;
    steps.push_back({tablet->id(), std::move(change)});
  }
  if (layout->changes_since != 0) {
    BT_ASSIGN_OR_RETURN(TabletChange noted, NoteDrop(*tablet));
    steps.push_back({tablet->id(), std::move(noted)});
  }
  return steps;
}

// The tablet is stopped. So a reader of changes that has found it otherwise has taken its number
// before, and the drop is after what it reads.
absl::StatusOr<TabletChange> ServerHost::NoteDrop(const Tablet& tablet) const {
  const Ref<const GroupFiles> files = tablet.Version()->change_files();
  BT_ASSIGN_OR_RETURN(ChangeState state,
                      ChangeState::Decode(files ? files->policy_state() : std::string_view()));
  const absl::Time now = server_->environment()->clock->Now();
  state.drops.push_back(
      {.sequence = parts_.sequences->Take(1),
       .micros = std::max(absl::ToUnixMicros(now), tablet.writer()->last_timestamp()),
       .rows = tablet.rows()});
  TabletChange change{.group_id = kChangesGroupId};
  change.policy_state = state.Encode();
  return change;
}

void ServerHost::Notify(void (EventListener::*function)(const TabletEvent&), const Tablet& tablet,
                        std::string_view row) const {
  if (ListenerQueue* const events = parts_.events) {
    events->Push(function, {.time = absl::Now(),
                            .table = tablet.Layout()->name,
                            .row = std::string(row),
                            .server = server_->name(),
                            .previous_server = ""});
  }
}

// --- Tables ---

absl::Status ServerHost::AwaitTurn(uint64_t table_id, const CallLimits& limits) {
  const std::vector<std::shared_ptr<Tablet>> tablets = server_->tablets().All();
  const auto is_of_table = [&](const auto& tablet) { return tablet->table_id() == table_id; };
  if (std::none_of(tablets.begin(), tablets.end(), is_of_table)) return absl::OkStatus();
  return AwaitTurn(limits);
}

absl::Status ServerHost::AwaitTurn(const CallLimits& limits) {
  {
    LimitedLock lock(&mutex_, limits);
    BT_RETURN_IF_ERROR(lock.status());
  }
  return server_->AwaitTurn(limits);
}

absl::Status ServerHost::SetLayout(MasterEpoch master, const TableLayout& layout) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  for (const std::shared_ptr<Tablet>& tablet : server_->tablets().Of(layout.table_id)) {
    if (*tablet->Layout() == layout) continue;
    server_->SetLayout(tablet.get(), parts_.layouts->Share(layout));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::shared_ptr<Tablet>>> ServerHost::Drop(MasterEpoch master,
                                                                      uint64_t table_id) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  for (std::shared_ptr<Tablet>& tablet : server_->tablets().Of(table_id)) {
    server_->RemoveTablet(tablet->id());
    dropped_.push_back(std::move(tablet));
  }
  std::vector<std::shared_ptr<Tablet>> of_table;
  for (const std::shared_ptr<Tablet>& tablet : dropped_) {
    if (tablet->table_id() == table_id) of_table.push_back(tablet);
  }
  return of_table;
}

void ServerHost::Erase(const std::shared_ptr<Tablet>& dropped) {
  {
    MutexLock lock(&mutex_);
    if (std::erase(dropped_, dropped) == 0) return;  // another master has done it
  }
  parts_.notify_superseded(*dropped);
  RemoveFilesOf(*dropped);
  if (const Ref<const GroupFiles> changes = dropped->Version()->change_files()) {
    for (const GroupFiles::File& file : changes->files()) {
      dropped->environment()->remove_file(file.table->info().file_number);
    }
  }
  // Tables that users hold keep the tablet, but not its files.
  dropped->DropFiles();
}

// --- Loads ---

uint64_t ServerHost::RecentLoad() const {
  constexpr absl::Duration kRecent = absl::Seconds(1);
  MutexLock lock(&load_mutex_);
  const size_t tablets = server_->tablets().size();
  const SteadyTime now = SteadyTime::Now();
  // Also if there are fewer than then: how large those are that left is not known.
  if (now - summed_at_ >= kRecent || tablets < tablets_then_) {
    load_then_ = load();
    tablets_then_ = tablets;
    summed_at_ = now;
  }
  return load_then_ + (tablets - tablets_then_) * kLoadOfEach;
}

uint64_t ServerHost::load() const {
  uint64_t load = 0;
  for (const std::shared_ptr<Tablet>& tablet : server_->tablets().All()) load += LoadOf(*tablet);
  return load;
}

}  // namespace bigtable
