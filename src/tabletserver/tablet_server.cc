#include "tabletserver/tablet_server.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "tablet/cell_cursor.h"
#include "tablet/mutation_format.h"

namespace bigtable {

// A caller's write in the queue.
struct TabletServer::Write final : GroupCommit::Request {
  Write(const WriteRequest& r, absl::Span<absl::Status> s) : request(r), statuses(s) {
    for (const MutationView& mutation : r.mutations)
      bytes += mutation.row.size() + mutation.operations.size();
  }

  const WriteRequest& request;
  const absl::Span<absl::Status> statuses;
};

TabletServer::TabletServer(TabletServerOptions options, TabletEnvironment environment,
                           SequenceSource* sequences, InfoLog* info_log, std::function<void()> wake)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      sequences_(sequences),
      info_log_(info_log),
      wake_(std::move(wake)),
      queue_([this](std::span<GroupCommit::Request* const> group) { CommitGroup(group); },
             TakeOver()) {
  environment_.visible = [this] { return visible(); };
  environment_.sync_log = [this](const Tablet& tablet, size_t group, SequenceNumber last) {
    return SyncLog(tablet, group, last);
  };
}

TabletServer::~TabletServer() = default;

absl::Status TabletServer::StartLog(std::string name, std::string directory) {
  CommitLogOptions options;
  options.segment_size = options_.log_segment_size;
  // What a memtable that was written out gives back serves the next one, without new pages.
  options.max_free_segments = options_.memtable_size / options_.log_segment_size + 2;
  options.budget = environment_.budget;
  BT_ASSIGN_OR_RETURN(log_,
                      CommitLog::Create(environment_.file_system, std::move(directory), options));
  // Only now: what is written out before is of other servers' logs, and no redo point in this one.
  environment_.server = std::move(name);
  has_log_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

// --- Tablets ---

void TabletServer::AddTablet(std::shared_ptr<Tablet> tablet) {
  MutexLock lock(&mutex_);
  const TabletId id = tablet->id();
  tablets_[id] = std::move(tablet);
}

void TabletServer::RemoveTablet(const TabletId& id) {
  queue_.RunExclusive([&] {
    MutexLock lock(&mutex_);
    const auto found = tablets_.find(id);
    if (found == tablets_.end()) return;
    found->second->MarkRemoved();
    tablets_.erase(found);
  });
}

void TabletServer::Empty(Tablet* tablet) {
  queue_.RunExclusive([&] { tablet->Clear(visible()); });
}

std::shared_ptr<Tablet> TabletServer::FindTablet(uint64_t table_id, std::string_view row) const {
  MutexLock lock(&mutex_);
  // The first tablet that does not end before the row.
  auto found = tablets_.upper_bound({table_id, std::string(row)});
  if (found == tablets_.end() || found->first.table_id != table_id) return nullptr;
  return found->second->rows().Contains(row) ? found->second : nullptr;
}

std::vector<std::shared_ptr<Tablet>> TabletServer::Tablets() const {
  MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<Tablet>> tablets;
  for (const auto& [id, tablet] : tablets_) tablets.push_back(tablet);
  return tablets;
}

bool TabletServer::HasFrozen() const {
  for (const std::shared_ptr<Tablet>& tablet : Tablets()) {
    const Pin<TabletVersion> version = tablet->Version();
    for (const GroupVersion& group : version->groups()) {
      if (!group.frozen.empty()) return true;
    }
  }
  return false;
}

// --- Writes ---

absl::Status TabletServer::Check(const TableLayout& layout, const MutationView& mutation) {
  OperationReader reader(mutation.operations);
  MutationOperation operation;
  uint32_t count = 0;
  for (; reader.Next(&operation); ++count) {
    if (operation.kind == EntryKind::kDeleteRow) continue;
    if (layout.FindFamily(operation.family) == nullptr) {
      return absl::NotFoundError(Cat("table ", layout.name, " has no column family ",
                                     Quoted(operation.family), "; it has: ", layout.FamilyNames()));
    }
  }
  if (!reader.ok()) return absl::InvalidArgumentError("the mutation is not well formed");
  if (count == 0) return absl::InvalidArgumentError("the mutation has no operations");
  return absl::OkStatus();
}

void TabletServer::Apply(const WriteRequest& request, absl::Span<absl::Status> statuses) {
  if (has_error_.load(std::memory_order_relaxed)) [[unlikely]] {
    if (const absl::Status refused = error(); !refused.ok()) {
      std::fill(statuses.begin(), statuses.end(), refused);
      return;
    }
  }
  Write write(request, statuses);
  queue_.Commit(&write);
}

void TabletServer::CommitGroup(std::span<GroupCommit::Request* const> group) {
  absl::Status status = has_error_.load(std::memory_order_relaxed) ? error() : absl::OkStatus();
  bool sync = false;
  logged_.clear();
  next_logged_ = 0;
  for (GroupCommit::Request* request : group) {
    Write* const write = static_cast<Write*>(request);
    if (status.ok()) status = LogWrite(write);
    sync |= write->request.durability == Durability::kSync;
  }
  if (status.ok() && (sync || log_->NeedsFlush())) {
    if (!queue_.Guarded(group, [&] { status = SecureLog(sync); })) return;
  }
  FinishGroup(group, status);
}

absl::Status TabletServer::SecureLog(bool sync) {
  BT_RETURN_IF_ERROR(log_->Flush());
  return sync ? log_->Sync() : absl::OkStatus();
}

GroupCommit::TakeOver TabletServer::TakeOver() {
  return {
      .patience =
          [this](absl::Duration running) {
            return has_log() ? log_->Patience(running) : absl::InfiniteDuration();
          },
      .commit =
          [this](std::span<GroupCommit::Request* const> group) { CommitGroupElsewhere(group); },
  };
}

void TabletServer::CommitGroupElsewhere(std::span<GroupCommit::Request* const> group) {
  const bool sync = std::any_of(group.begin(), group.end(), [](GroupCommit::Request* request) {
    return static_cast<Write*>(request)->request.durability == Durability::kSync;
  });
  absl::Status status = log_->SwitchFile();
  if (status.ok()) status = SecureLog(sync);
  FinishGroup(group, status);
}

void TabletServer::FinishGroup(std::span<GroupCommit::Request* const> group,
                               const absl::Status& status) {
  if (!status.ok()) {
    // What the log has of the group must never come back: nobody sees it from now on, and later
    // writes do.
    if (!logged_.empty()) log_->Fail(status);
    SetError(status);
    for (GroupCommit::Request* request : group) {
      for (absl::Status& outcome : static_cast<Write*>(request)->statuses) outcome = status;
    }
    return;
  }
  for (GroupCommit::Request* request : group) ApplyToMemtables(static_cast<Write*>(request));
  if (!logged_.empty()) visible_.store(logged_.back().sequence, std::memory_order_release);
  for (GroupCommit::Request* request : group) {
    FreezeFull(static_cast<Write*>(request)->request.tablet);
  }
  if (const uint64_t bytes = log_->NeededBytes();
      bytes > options_.max_log_bytes && bytes != std::exchange(frozen_for_log_bytes_, bytes)) {
    FreezeForLog();
  }
  if (log_->NeedsUpkeep() && !std::exchange(upkeep_asked_, true)) wake_();
  if (!log_->NeedsUpkeep()) upkeep_asked_ = false;
}

// An error is one of the log, which concerns the whole group; what is wrong with a single mutation
// is in its own status.
absl::Status TabletServer::LogWrite(Write* write) {
  const WriteRequest& request = write->request;
  absl::Status refused = request.limits.Check("the write");
  if (request.tablet->removed()) {
    refused = absl::NotFoundError(Cat("table ", request.layout->name, " was deleted"));
  }
  const bool recheck = request.tablet->WriterLayout() != request.layout;
  for (size_t i = 0; i < request.mutations.size(); ++i) {
    absl::Status& status = write->statuses[i];
    if (!status.ok()) continue;
    if (!refused.ok()) {
      status = refused;
    } else if (recheck) {
      status = Check(*request.tablet->WriterLayout(), request.mutations[i]);
    }
    if (status.ok()) BT_RETURN_IF_ERROR(LogMutation(write, i));
  }
  return absl::OkStatus();
}

absl::Status TabletServer::LogMutation(Write* write, size_t i) {
  Tablet& tablet = *write->request.tablet;
  const MutationView& mutation = write->request.mutations[i];
  const int64_t timestamp =
      mutation.takes_server_time ? tablet.NextTimestamp() : tablet.last_timestamp();
  Logged logged{sequences_->Take(1), timestamp, mutation.operations, nullptr};
  if (write->request.durability != Durability::kNone) {
    header_.clear();
    AppendMutationHeader(&header_,
                         {tablet.table_id(), logged.timestamp, mutation.row, mutation.operations});
    const std::array<std::string_view, 2> parts{header_, mutation.operations};
    AppendedRecord record;
    BT_RETURN_IF_ERROR(log_->Append(RecordType::kMutation, logged.sequence, parts, &record));
    if (record.segment != nullptr) {
      // The operations' values can stay where the log has them.
      logged.operations = record.payload.substr(header_.size());
      logged.segment = record.segment;
    }
  }
  logged_.push_back(logged);
  return absl::OkStatus();
}

void TabletServer::ApplyToMemtables(Write* write) {
  const WriteRequest& request = write->request;
  for (size_t i = 0; i < request.mutations.size(); ++i) {
    if (!write->statuses[i].ok()) continue;
    const Logged& logged = logged_[next_logged_++];
    request.tablet->Apply(request.mutations[i].row, logged.operations, logged.sequence,
                          logged.timestamp, Ref<const RefCounted>(logged.segment));
    rows_written_.store(rows_written_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  }
}

void TabletServer::FreezeFull(Tablet* tablet) {
  for (size_t group = 0; group < tablet->active_groups(); ++group) {
    if (tablet->ActiveBytes(group) < options_.memtable_size) continue;
    tablet->Freeze(group, visible());
    wake_();
  }
}

// The log is too long: what needs its oldest segment is written out.
void TabletServer::FreezeForLog() {
  const SequenceNumber oldest = log_->OldestNeeded();
  for (const std::shared_ptr<Tablet>& tablet : Tablets()) {
    for (size_t group = 0; group < tablet->active_groups(); ++group) {
      const SequenceNumber first = tablet->ActiveFirstSequence(group);
      if (first == 0 || oldest == 0 || tablet->HasFrozen(group)) continue;
      // What begins in the older half of the log.
      if (first > oldest + (visible() - std::min(visible(), oldest)) / 2) continue;
      tablet->Freeze(group, visible());
      wake_();
    }
  }
}

// --- TabletService ---

absl::StatusOr<std::shared_ptr<Tablet>> TabletServer::ServedTablet(uint64_t table_id,
                                                                   std::string_view row) const {
  if (std::shared_ptr<Tablet> tablet = FindTablet(table_id, row)) return tablet;
  return absl::NotFoundError(
      Cat("server ", name(), " has no tablet of table ", table_id, " with the row ", Quoted(row)));
}

absl::Status TabletServer::ApplyMutation(const ApplyRequest& request) {
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> tablet,
                      ServedTablet(request.table_id, request.row));
  const Pin<TabletVersion> version = tablet->Version();
  const MutationView mutation{request.row, request.operations};
  BT_RETURN_IF_ERROR(Check(version->layout(), mutation));
  absl::Status status;
  Apply({.tablet = tablet.get(),
         .layout = &version->layout(),
         .mutations = absl::MakeConstSpan(&mutation, 1),
         .durability = request.durability},
        absl::MakeSpan(&status, 1));
  return status;
}

absl::Status TabletServer::Read(const ReadRequest& request,
                                absl::FunctionRef<absl::Status(const ReadCell&)> sink) {
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Tablet> tablet,
                      ServedTablet(request.table_id, request.range.begin()));
  const Pin<TabletVersion> version = tablet->Version();
  const Filter latest = Filter::Latest(1);
  ReadSpec spec;
  spec.sequence = std::min(visible(), version->sealed_at());
  spec.now = environment_.clock->Now();
  spec.filter = latest.node();
  CellCursor cells(version.get(), spec);
  for (cells.ReadRange(request.range); cells.Next();) {
    BT_RETURN_IF_ERROR(sink(
        {cells.row(), cells.family().name, cells.qualifier(), cells.timestamp(), cells.value()}));
  }
  return cells.status();
}

// --- Schema and memtables ---

void TabletServer::SetLayout(Tablet* tablet, const TableLayout& layout) {
  queue_.RunExclusive([&] { tablet->SetLayout(layout, visible()); });
}

void TabletServer::FreezeAll(Tablet* tablet) {
  queue_.RunExclusive([&] {
    for (size_t group = 0; group < tablet->active_groups(); ++group) {
      tablet->Freeze(group, visible());
    }
  });
  wake_();
}

// After a failure of the log, memtables are written out although it cannot be synced: this is how
// what they hold becomes durable again.
absl::StatusOr<SequenceNumber> TabletServer::SyncLog(const Tablet& tablet, size_t group,
                                                     SequenceNumber last_written_out) {
  if (has_log() && IsLogNeeded(tablet, group, last_written_out)) {
    const SequenceNumber last = log_->last_sequence();
    const absl::Status status = log_->Sync();
    if (!status.ok() && !resuming_.load()) return status;
    if (status.ok()) {
      MutexLock lock(&mutex_);
      log_synced_ = std::max(log_synced_, last);
    }
  }
  MutexLock lock(&mutex_);
  return log_synced_;
}

// Whether there are mutations up to `last` in other memtables than those of the group.
bool TabletServer::IsLogNeeded(const Tablet& tablet, size_t group, SequenceNumber last) const {
  const auto needs = [&](const Ref<Memtable>& memtable) {
    return memtable->first_sequence() != 0 && memtable->first_sequence() <= last;
  };
  for (const std::shared_ptr<Tablet>& other : Tablets()) {
    const Pin<TabletVersion> version = other->Version();
    for (size_t i = 0; i < version->groups().size(); ++i) {
      if (other.get() == &tablet && i == group) continue;
      const GroupVersion& memtables = version->groups()[i];
      if (needs(memtables.active) ||
          std::any_of(memtables.frozen.begin(), memtables.frozen.end(), needs)) {
        return true;
      }
    }
  }
  return false;
}

void TabletServer::BeginResume() {
  resuming_.store(true);
  FreezeEverything();
}

void TabletServer::FreezeEverything() {
  for (const std::shared_ptr<Tablet>& tablet : Tablets()) FreezeAll(tablet.get());
}

void TabletServer::FreezeLargest() {
  queue_.RunExclusive([&] {
    const std::vector<std::shared_ptr<Tablet>> tablets = Tablets();
    Tablet* largest = nullptr;
    size_t largest_group = 0;
    uint64_t bytes = 0;
    for (const std::shared_ptr<Tablet>& tablet : tablets) {
      for (size_t group = 0; group < tablet->active_groups(); ++group) {
        if (tablet->ActiveFirstSequence(group) == 0 || tablet->ActiveBytes(group) <= bytes)
          continue;
        bytes = tablet->ActiveBytes(group);
        largest = tablet.get();
        largest_group = group;
      }
    }
    if (largest != nullptr) largest->Freeze(largest_group, visible());
  });
  wake_();
}

// --- Upkeep ---

absl::Status TabletServer::MaintainLog() {
  if (!has_log()) return absl::OkStatus();
  // First the visible number: what is written after it is not looked for.
  SequenceNumber needed = visible() + 1;
  for (const std::shared_ptr<Tablet>& tablet : Tablets()) {
    needed = std::min(needed, tablet->FirstUnflushed());
  }
  log_->ReleaseThrough(needed - 1);
  return log_->PrepareSpare();
}

absl::Status TabletServer::TrimLog() {
  if (!has_log()) return absl::OkStatus();
  BT_RETURN_IF_ERROR(MaintainLog());
  return log_->RemoveFreeSegments();
}

absl::Status TabletServer::TrimLogIfIdle() {
  constexpr absl::Duration kIdle = absl::Seconds(5);
  if (!has_log()) return absl::OkStatus();
  const uint64_t end = log_->end_offset();
  const absl::Time now = absl::Now();
  if (end != idle_log_end_) {
    idle_log_end_ = end;
    log_idle_since_ = now;
  }
  return now - log_idle_since_ < kIdle ? absl::OkStatus() : log_->RemoveFreeSegments();
}

CommitLog::Statistics TabletServer::LogStatistics() const {
  return !has_log() ? CommitLog::Statistics() : log_->statistics();
}

// --- Errors ---

void TabletServer::SetError(const absl::Status& status) {
  {
    MutexLock lock(&mutex_);
    if (!error_.ok()) return;
    error_ = status;
    has_error_.store(true);
  }
  info_log_->Error("server ", name(), ": writes are refused: ", ToStd(status.message()));
}

absl::Status TabletServer::error() const {
  MutexLock lock(&mutex_);
  return error_;
}

absl::Status TabletServer::FinishResume() {
  absl::Status status;
  queue_.RunExclusive([&] {
    if (has_log()) {
      // Nothing of the log is needed: everything that was applied is in SSTables, and what was not
      // was never acknowledged.
      log_->ReleaseThrough(log_->last_sequence());
      status = log_->StartNewSegment();
      if (status.ok()) status = log_->Sync();
    }
    if (!status.ok()) return;
    resuming_.store(false);
    MutexLock lock(&mutex_);
    error_ = absl::OkStatus();
    has_error_.store(false);
  });
  return status;
}

absl::Status TabletServer::CloseLog() { return !has_log() ? absl::OkStatus() : log_->Close(); }

}  // namespace bigtable
