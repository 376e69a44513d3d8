#include "cluster/server_host.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "cluster/cluster.h"
#include "cluster/tablet_claim.h"
#include "tablet/halves.h"

namespace bigtable {

namespace {

// Only users' writes are held back, or refused.
DataPath::Writes WritesOf(ServerRole role, bool read_only) {
  if (!read_only) return DataPath::Writes::kLogged;
  return role == ServerRole::kUser ? DataPath::Writes::kRefused : DataPath::Writes::kInMemory;
}

}  // namespace

ServerHost::ServerHost(Cluster* cluster, ServerRole role, std::unique_ptr<TabletServer> server)
    : cluster_(cluster),
      role_(role),
      server_(std::move(server)),
      write_controller_(cluster->options().shared_memory_budget.get(), server_.get(),
                        cluster->background(), cluster->events()),
      data_path_(server_.get(), role == ServerRole::kUser ? &write_controller_ : nullptr,
                 cluster->access(), WritesOf(role, cluster->options().read_only)),
      data_server_(&data_path_) {}

// --- Who may say what to whom ---

absl::Status ServerHost::CheckMaster(MasterNumber master) {
  if (master < master_) {
    return absl::UnavailableError(
        Cat("master ", master, " was replaced by another, which is ", master_));
  }
  master_ = master;
  return absl::OkStatus();
}

absl::Status ServerHost::CheckServing() const {
  BT_RETURN_IF_ERROR(server_->error());
  return CheckLock();
}

absl::Status ServerHost::CheckFit(Else else_can) const {
  return else_can == Else::kOthersCan ? CheckServing() : CheckLock();
}

absl::Status ServerHost::CheckLock() const {
  if (server_->serving()) return absl::OkStatus();
  return absl::UnavailableError(Cat("server ", server_->name(), " has lost its lock"));
}

absl::StatusOr<std::vector<std::shared_ptr<Tablet>>> ServerHost::Greet(MasterNumber master) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  // What an earlier master has asked for is done, or given up, before anybody else loads a tablet.
  while (loading_ > 0) loaded_.Wait(&mutex_);
  return server_->Tablets();
}

absl::StatusOr<std::shared_ptr<Tablet>> ServerHost::FindTablet(const TabletId& id) const {
  for (std::shared_ptr<Tablet>& tablet : server_->Tablets()) {
    if (tablet->id() == id) return std::move(tablet);
  }
  return absl::NotFoundError(Cat("a tablet of table ", id.table_id, " is not on server ",
                                 server_->has_log() ? server_->name() : "without tablets"));
}

// --- Loading and unloading ---

absl::Status ServerHost::Start(MasterNumber master) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  return cluster_->StartServer(this);
}

absl::Status ServerHost::Load(MasterNumber master, const TableLayout& layout, const TabletId& id,
                              const std::vector<DeadLog*>& logs, Else else_can) {
  {
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(CheckMaster(master));
    ++loading_;
  }
  const absl::Status loaded = OpenAndServe(master, layout, id, logs, else_can);
  MutexLock lock(&mutex_);
  if (--loading_ == 0) loaded_.SignalAll();
  return loaded;
}

absl::Status ServerHost::OpenAndServe(MasterNumber master, const TableLayout& layout,
                                      const TabletId& id, const std::vector<DeadLog*>& logs,
                                      Else else_can) {
  BT_RETURN_IF_ERROR(Start(master));
  BT_RETURN_IF_ERROR(CheckFit(else_can));
  std::string location;
  BT_ASSIGN_OR_RETURN(const TabletState state, ReadState(id, &location));
  cluster_->NoteSequences(state);
  BT_ASSIGN_OR_RETURN(
      std::shared_ptr<Tablet> tablet,
      Tablet::Open(server_->environment(), cluster_->layouts()->Share(layout), state));
  BT_RETURN_IF_ERROR(Recover(tablet, logs));
  cluster_->PassOnCounters(tablet.get());
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  BT_RETURN_IF_ERROR(CheckFit(else_can));
  // A tablet that comes back needs nothing of METADATA, which may be what has failed.
  if (location != server_->name()) BT_RETURN_IF_ERROR(SetLocation(id));
  // Whatever the tablet has was given its number before.
  server_->AdvanceVisible(cluster_->sequences()->last());
  server_->AddTablet(std::move(tablet));
  return absl::OkStatus();
}

MetadataTable* ServerHost::metadata() const {
  return role_ == ServerRole::kUser ? cluster_->metadata() : cluster_->root_rows();
}

absl::StatusOr<TabletState> ServerHost::ReadState(const TabletId& id, std::string* location) const {
  if (role_ != ServerRole::kRoot) return metadata()->ReadTablet(id, location);
  *location = cluster_->root()->server();
  return cluster_->root()->state();
}

absl::Status ServerHost::SetLocation(const TabletId& id) {
  if (role_ != ServerRole::kRoot) return metadata()->SetLocation(id, server_->name());
  return cluster_->root()->SetServer(server_->name(), cluster_->options().read_only);
}

absl::Status ServerHost::Recover(const std::shared_ptr<Tablet>& tablet,
                                 const std::vector<DeadLog*>& logs) {
  const bool read_only = cluster_->options().read_only;
  const uint64_t most_memory = server_->environment()->memtable_size;
  const auto write_out = [&]() -> absl::Status {
    const SequenceNumber last = cluster_->sequences()->last();
    for (size_t group = 0; group < tablet->active_groups(); ++group) tablet->Freeze(group, last);
    return cluster_->background()->FlushClaimed(server_.get(), tablet);
  };
  SequenceNumber after = kMaxSequence;
  for (size_t group = 0; group < tablet->active_groups(); ++group) {
    after = std::min(after, tablet->FlushedThrough(group));
  }
  for (const DeadLog* log : logs) {
    const auto replay = [&](const MutationRecord& record, SequenceNumber sequence) {
      tablet->Replay(record.mutation.row, record.mutation.operations, sequence,
                     record.server_timestamp);
      return absl::OkStatus();
    };
    const auto between = [&](SequenceNumber) -> absl::Status {
      return read_only || tablet->ActiveBytes() < most_memory ? absl::OkStatus() : write_out();
    };
    BT_RETURN_IF_ERROR(log->Read(tablet->rows(), tablet->table_id(), after, replay, between));
  }
  return read_only || logs.empty() ? absl::OkStatus() : write_out();
}

absl::Status ServerHost::Unload(MasterNumber master, const TabletId& id, const CallLimits& limits) {
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> tablet, FindTablet(id));
    BT_RETURN_IF_ERROR(cluster_->background()->FlushTablet(server_.get(), tablet, limits));
    const TabletClaim claim(cluster_->background(), {tablet}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(CheckMaster(master));
    if (!claim.AreServed()) continue;
    BT_RETURN_IF_ERROR(StopAndFlush(tablet));
    tablet->MarkMoved();
    server_->ForgetTablet(*tablet);
    cluster_->KeepCounters(*tablet);
    cluster_->TellGone(*tablet);
    return absl::OkStatus();
  }
}

absl::Status ServerHost::StopAndFlush(const std::shared_ptr<Tablet>& tablet) {
  BT_RETURN_IF_ERROR(CheckServing());
  server_->StopTablet(tablet.get());
  absl::Status status = cluster_->background()->FlushClaimed(server_.get(), tablet);
  if (!status.ok()) tablet->SetStopped(false);
  return status;
}

void ServerHost::End() {
  MutexLock end_lock(&end_mutex_);  // it has ended when anybody's call returns
  std::vector<std::shared_ptr<Tablet>> tablets;
  {
    MutexLock lock(&mutex_);  // a command that was begun is done
    while (loading_ > 0) loaded_.Wait(&mutex_);
    tablets = server_->Tablets();
  }
  server_->WaitForEnd();
  for (const std::shared_ptr<Tablet>& tablet : tablets) {
    tablet->SetStopped(true);
    cluster_->background()->WaitForTablet(tablet.get());
    tablet->MarkMoved();
    server_->ForgetTablet(*tablet);
    cluster_->KeepCounters(*tablet);
    cluster_->TellGone(*tablet);
  }
}

// --- Splits ---

absl::Status ServerHost::Split(MasterNumber master, uint64_t table_id, std::string_view row,
                               const CallLimits& limits) {
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    const std::shared_ptr<Tablet> tablet = server_->FindTablet(table_id, row);
    if (tablet == nullptr) {
      return absl::NotFoundError(Cat("the tablet with row ", Quoted(row), " is not here"));
    }
    if (tablet->rows().begin() == row) {
      return absl::AlreadyExistsError(Cat("a tablet begins with ", Quoted(row), " already"));
    }
    const TabletClaim claim(cluster_->background(), {tablet}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(CheckMaster(master));
    if (claim.AreServed()) return SplitClaimed(tablet, row);
  }
}

absl::Status ServerHost::SplitClaimed(const std::shared_ptr<Tablet>& tablet, std::string_view row) {
  BT_RETURN_IF_ERROR(CheckServing());
  const TabletState state = tablet->State();
  BT_RETURN_IF_ERROR(metadata()->SplitTablet(tablet->table_id(), state, row, server_->name()));
  const RowRange left = RowRange::RightOpen(state.rows.begin(), row);
  const RowRange right = RowRange::StartingAt(row);
  for (const auto& [id, group] : state.groups) {
    for (const TabletFile& file : group.files) {
      if (MayHaveRowsOf(file.info, left) && MayHaveRowsOf(file.info, right)) {
        cluster_->shared_files()->Share(file.info.file_number);
      }
    }
  }
  server_->SplitTablet(tablet, row, [&](const Tablet::Halves&) { cluster_->TellGone(*tablet); });
  cluster_->info_log()->Info("split a tablet of table ", tablet->table_id(), " at ", Quoted(row));
  TellOf(&EventListener::OnTabletSplit, *tablet, row);
  return absl::OkStatus();
}

// --- Merges ---

absl::Status ServerHost::Merge(MasterNumber master, const TabletId& left_id,
                               const TabletId& right_id, const CallLimits& limits) {
  BackgroundWork* const background = cluster_->background();
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> left, FindTablet(left_id));
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> right, FindTablet(right_id));
    if (!left->rows().end().has_value() || *left->rows().end() != right->rows().begin()) {
      return absl::NotFoundError(Cat("the tablet that ends before ",
                                     Quoted(left->rows().end().value_or("")),
                                     " has become another"));
    }
    for (const auto& [one, other] : {std::pair(left, right), std::pair(right, left)}) {
      if (!one->ReachesInto(*other)) {
        BT_RETURN_IF_ERROR(background->FlushTablet(server_.get(), one, limits));
      } else {
        BT_RETURN_IF_ERROR(background->CompactTablet(server_.get(), one, limits));
      }
    }
    const TabletClaim claim(background, {left, right}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(CheckMaster(master));
    if (claim.AreServed() && !left->ReachesInto(*right) && !right->ReachesInto(*left)) {
      return MergeClaimed(left, right);
    }
  }
}

absl::Status ServerHost::MergeClaimed(const std::shared_ptr<Tablet>& left,
                                      const std::shared_ptr<Tablet>& right) {
  BT_RETURN_IF_ERROR(StopAndFlush(left));
  absl::Status status = StopAndFlush(right);
  std::vector<uint64_t> shared;
  const TabletState state = MergedState(left->State(), right->State(), &shared);
  absl::StatusOr<std::shared_ptr<Tablet>> merged = nullptr;
  if (status.ok()) {
    merged = Tablet::Open(server_->environment(), right->Layout(), state);
    status = merged.status();
  }
  if (status.ok()) {
    status = metadata()->MergeTablets(left->id(), right->id(), state);
  }
  if (!status.ok()) {
    for (const auto& tablet : {left, right}) tablet->SetStopped(false);
    return status;
  }
  // Of the two that have named such a file one is left.
  for (const uint64_t number : shared) {
    static_cast<void>(cluster_->shared_files()->Release(number));
  }
  for (const auto& tablet : {left, right}) {
    (*merged)->counters()->Inherit(*tablet->counters());
    tablet->MarkMoved();
    server_->ForgetTablet(*tablet);
  }
  server_->AddTablet(*merged);
  for (const auto& tablet : {left, right}) cluster_->TellGone(*tablet);
  cluster_->info_log()->Info("merged two tablets of table ", right->table_id(), " at ",
                             Quoted(right->rows().begin()));
  TellOf(&EventListener::OnTabletsMerged, **merged, right->rows().begin());
  return absl::OkStatus();
}

void ServerHost::TellOf(void (EventListener::*function)(const TabletEvent&), const Tablet& tablet,
                        std::string_view row) const {
  if (ListenerQueue* const events = cluster_->events()) {
    events->Push(function, {.time = absl::Now(),
                            .table = tablet.Layout()->name,
                            .row = std::string(row),
                            .server = server_->name(),
                            .previous_server = ""});
  }
}

// --- Tables ---

absl::Status ServerHost::SetLayout(MasterNumber master, const TableLayout& layout) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckMaster(master));
  for (const std::shared_ptr<Tablet>& tablet : server_->Tablets()) {
    if (tablet->table_id() != layout.table_id) continue;
    if (*tablet->Layout() == layout) continue;
    server_->SetLayout(tablet.get(), cluster_->layouts()->Share(layout));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::shared_ptr<Tablet>>> ServerHost::Drop(MasterNumber master,
                                                                      uint64_t table_id) {
  std::vector<std::shared_ptr<Tablet>> dropped;
  {
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(CheckMaster(master));
    for (std::shared_ptr<Tablet>& tablet : server_->Tablets()) {
      if (tablet->table_id() != table_id) continue;
      server_->RemoveTablet(tablet->id());
      dropped.push_back(std::move(tablet));
    }
  }
  for (const std::shared_ptr<Tablet>& tablet : dropped) {
    cluster_->background()->WaitForTablet(tablet.get());
  }
  return dropped;
}

void ServerHost::Erase(const std::shared_ptr<Tablet>& dropped, bool with_files) {
  cluster_->TellGone(*dropped);
  if (with_files) dropped->RemoveFiles();
  // Tables that users hold keep the tablet, but not what was in it.
  server_->Empty(dropped.get());
}

// --- Loads ---

uint64_t ServerHost::load() const {
  uint64_t load = 0;
  for (const std::shared_ptr<Tablet>& tablet : server_->Tablets()) load += LoadOf(*tablet);
  return load;
}

}  // namespace bigtable
