#include "tabletserver/tablet_server.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_directory.h"
#include "monitoring/thread_calls.h"
#include "tablet/group_statistics.h"
#include "tablet/mutation_format.h"

namespace bigtable {

// A caller's write in the queue.
struct TabletServer::Write final : GroupCommit::Request {
  Write(const WriteRequest& r, absl::Span<absl::Status> s) : request(r), statuses(s) {
    for (const EncodedMutation& mutation : r.mutations)
      bytes += mutation.row.size() + mutation.operations.size();
  }

  const WriteRequest& request;
  const absl::Span<absl::Status> statuses;
  int64_t queued_at = 0;    // if it is measured
  bool superseded = false;  // the tablet was, before the write's turn
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
  environment_.sync_log = [this](absl::Span<const ImmutableMemtables> flushed) {
    return SyncLog(flushed);
  };
}

TabletServer::~TabletServer() = default;

absl::Status TabletServer::StartLog(std::string name, std::string directory,
                                    LockService* lock_service, absl::Duration lease) {
  CommitLogOptions options;
  options.segment_size = options_.log_segment_size;
  // What a memtable that was written out gives back serves the next one, without new pages.
  options.max_free_segments = options_.memtable_size / options_.log_segment_size + 2;
  options.budget = environment_.budget;
  absl::StatusOr<std::shared_ptr<CommitLog>> created =
      CommitLog::Create(environment_.file_system, directory, options);
  if (!created.ok()) {
    // Nobody knows of it yet. What cannot be removed either is swept by the next opening.
    if (!absl::IsAlreadyExists(created.status())) {
      RemoveLog(environment_.file_system, directory).IgnoreError();
    }
    return created.status();
  }
  std::shared_ptr<CommitLog> log = *std::move(created);
  if (lock_service != nullptr) {
    BT_ASSIGN_OR_RETURN(lock_, ServerLock::Create(lock_service, name, lease));
  }
  // Only now: what is written out before is of other servers' logs, and no redo point in this one.
  environment_.server = std::move(name);
  log_ = log.get();
  {
    MutexLock lock(&mutex_);
    shared_log_ = std::move(log);
  }
  NoteLogSegment(true);
  has_log_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

// --- Its life ---

ServerLock::State TabletServer::RenewLock() {
  return !has_log() || lock_ == nullptr ? ServerLock::State::kHeld : lock_->Renew();
}

void TabletServer::WaitForEnd() {
  WaitForWrites();
  MutexLock lock(&upkeep_mutex_);  // whoever is at work on the log's segments is done
}

void TabletServer::DropLog() {
  std::shared_ptr<CommitLog> log;  // deleted after the lock is
  MutexLock lock(&mutex_);
  if (shared_log_ == nullptr) return;
  log_statistics_ = shared_log_->statistics();
  log = std::move(shared_log_);
}

bool TabletServer::AwaitLock() const {
  while (!serving()) {
    if (ended_) return false;
    RequestLock();
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

absl::Status TabletServer::ReleaseLock() {
  return lock_ == nullptr ? absl::OkStatus() : lock_->Release();
}

// --- Tablets ---

bool TabletServer::HasRowsOf(const Tablet& tablet) const {
  // The first tablet that does not end before it begins.
  const auto found = tablets_.upper_bound({tablet.table_id(), tablet.rows().begin()});
  return found != tablets_.end() && found->first.table_id == tablet.table_id() &&
         found->second.get() != &tablet && !tablet.id().EndsBefore(found->second->rows().begin()) &&
         !found->second->superseded();
}

void TabletServer::AddTablet(std::shared_ptr<Tablet> tablet) {
  MutexLock rotation_lock(&rotation_mutex_);
  for (const ImmutableMemtables& immutable : ImmutableMemtablesOf(tablet)) {
    rotated_.Add(tablet, immutable.memtables.front()->last_sequence());
  }
  MutexLock lock(&mutex_);
  ABSL_ASSERT(!HasRowsOf(*tablet) && "a server has two tablets with the same rows");
  const TabletId id = tablet->id();
  tablets_[id] = std::move(tablet);
}

void TabletServer::RemoveTablet(const TabletId& id) {
  queue_.RunExclusive([&] {
    MutexLock rotation_lock(&rotation_mutex_);
    MutexLock lock(&mutex_);
    const auto found = tablets_.find(id);
    if (found == tablets_.end()) return;
    found->second->MarkRemoved();
    rotated_.Remove(*found->second);
    tablets_.erase(found);
  });
}

void TabletServer::SplitTablet(const std::shared_ptr<Tablet>& tablet, std::string_view row,
                               absl::FunctionRef<void(const Tablet::Halves&)> publish) {
  queue_.RunExclusive([&] {
    const uint64_t bytes = tablet->ActiveBytes();
    Tablet::Halves halves;
    {
      MutexLock rotation_lock(&rotation_mutex_);
      halves = tablet->Split(row, visible());
      rotated_.Replace(*tablet, halves, bytes);
      halves.left->counters()->Inherit(*tablet->counters());
      MutexLock lock(&mutex_);
      tablets_.erase(tablet->id());
      for (const std::shared_ptr<Tablet>& half : {halves.left, halves.right}) {
        tablets_[half->id()] = half;
      }
    }
    publish(halves);
  });
  wake_();
}

void TabletServer::StopTablet(Tablet* tablet) {
  queue_.RunExclusive([&] {
    tablet->SetStopped(true);
    MutexLock lock(&rotation_mutex_);
    RotateAll(tablet->shared_from_this());
  });
}

void TabletServer::ForgetTablet(const Tablet& tablet) {
  MutexLock rotation_lock(&rotation_mutex_);
  rotated_.Remove(tablet);
  MutexLock lock(&mutex_);
  const auto found = tablets_.find(tablet.id());
  if (found != tablets_.end() && found->second.get() == &tablet) tablets_.erase(found);
}

void TabletServer::AdvanceVisible(SequenceNumber sequence) {
  queue_.RunExclusive([&] {
    // Of one that has ended it is final: what is above was never acknowledged.
    if (!ended_) SetVisible(std::max(visible(), sequence));
  });
}

void TabletServer::Empty(Tablet* tablet) {
  queue_.RunExclusive([&] { tablet->Clear(visible()); });
}

void TabletServer::SetLayout(Tablet* tablet, const std::shared_ptr<const TableLayout>& layout) {
  queue_.RunExclusive([&] {
    tablet->SetLayout(layout, visible());
    // Whatever was written here before a change of a rule is there by now: so the change has come,
    // for reads and for compactions, also if nothing is written after it.
    if (!ended_) SetVisible(std::max(visible(), layout->LastRuleChange()));
  });
}

std::shared_ptr<Tablet> TabletServer::FindTablet(uint64_t table_id, std::string_view row) const {
  MutexLock lock(&mutex_);
  // The first tablet that does not end before the row.
  auto found = tablets_.upper_bound({table_id, std::string(row)});
  if (found == tablets_.end() || found->first.table_id != table_id) return nullptr;
  return found->second->rows().Contains(row) ? found->second : nullptr;
}

std::shared_ptr<Tablet> TabletServer::FindTabletBefore(
    uint64_t table_id, const std::optional<std::string>& row) const {
  MutexLock lock(&mutex_);
  const auto found = tablets_.lower_bound({table_id, row});
  if (found == tablets_.end() || found->first.table_id != table_id) return nullptr;
  return !row.has_value() || found->second->rows().begin() < *row ? found->second : nullptr;
}

std::vector<std::shared_ptr<Tablet>> TabletServer::Tablets() const {
  MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<Tablet>> tablets;
  for (const auto& [id, tablet] : tablets_) tablets.push_back(tablet);
  return tablets;
}

// --- Writes ---

absl::Status TabletServer::Check(const TableLayout& layout, const EncodedMutation& mutation) {
  OperationReader reader(mutation.operations);
  MutationOperation operation;
  uint32_t count = 0;
  for (; reader.Next(&operation); ++count) {
    if (operation.is_of_row()) continue;
    if (layout.FindFamily(operation.family) == nullptr) {
      return layout.NoFamilyError(operation.family);
    }
  }
  if (!reader.ok()) return absl::InvalidArgumentError("the mutation is not well formed");
  if (count == 0) return absl::InvalidArgumentError("the mutation has no operations");
  return absl::OkStatus();
}

bool TabletServer::Apply(const WriteRequest& request, absl::Span<absl::Status> statuses) {
  if (has_error_.load(std::memory_order_relaxed)) [[unlikely]] {
    // One that has lost its lock has no say in the write: it is made elsewhere.
    if (const absl::Status refused = error(); !refused.ok() && serving()) {
      std::fill(statuses.begin(), statuses.end(), refused);
      return true;
    }
  }
  Write write(request, statuses);
  if (request.sample != nullptr) [[unlikely]] {
    write.queued_at = NowNanos();
    measured_.fetch_add(1, std::memory_order_relaxed);
  }
  queue_.Commit(&write);
  return !write.superseded;
}

void TabletServer::CommitGroup(std::span<GroupCommit::Request* const> group) {
  if (!serving()) [[unlikely]] {
    RequestLock();
    for (GroupCommit::Request* request : group) static_cast<Write*>(request)->superseded = true;
    const int64_t now = NowNanos();
    return NoteTimes(group, {.begin = now, .logged = now, .synced = now, .applied = now});
  }
  absl::Status status = has_error_.load(std::memory_order_relaxed) ? error() : absl::OkStatus();
  bool sync = false;
  logged_.clear();
  next_logged_ = 0;
  // If one that is measured is in the queue, and perhaps in this group.
  const bool is_measured = measured_.load(std::memory_order_relaxed) != 0;
  if (is_measured) [[unlikely]] {
    times_.begin = NowNanos();
  }
  for (GroupCommit::Request* request : group) {
    Write* const write = static_cast<Write*>(request);
    if (status.ok()) status = LogWrite(write);
    sync |= write->request.durability == Durability::kSync;
  }
  if (is_measured) [[unlikely]] {
    times_.logged = times_.synced = NowNanos();
  }
  if (status.ok() && (sync || log_->NeedsFlush())) {
    if (!SecureLog(group, sync, &status)) return;
    if (is_measured) times_.synced = NowNanos();
  }
  FinishGroup(group, std::move(status));
}

bool TabletServer::SecureLog(std::span<GroupCommit::Request* const> group, bool sync,
                             absl::Status* status) {
  const WaitTimer wait;
  // When the call returns, the server may have ended, and its log have been dropped.
  const std::shared_ptr<CommitLog> log = Log();
  return queue_.Guarded(group, [&] { *status = Secure(log.get(), sync); });
}

absl::Status TabletServer::Secure(CommitLog* log, bool sync) {
  BT_RETURN_IF_ERROR(log->Flush());
  if (!sync) return absl::OkStatus();
  const int64_t begin = NowNanos();
  const absl::Status status = log->Sync();
  counters_.log_sync.Record(NowNanos() - begin);
  return status;
}

GroupCommit::TakeOver TabletServer::TakeOver() {
  return {
      .stall_timeout =
          [this](absl::Duration running) {
            const std::shared_ptr<CommitLog> log = Log();
            return log != nullptr ? log->StallTimeout(running) : absl::InfiniteDuration();
          },
      .commit =
          [this](std::span<GroupCommit::Request* const> group) { CommitGroupElsewhere(group); },
  };
}

// The group went to the log while the server had its lock, so it is not looked at before the group
// is logged again.
void TabletServer::CommitGroupElsewhere(std::span<GroupCommit::Request* const> group) {
  const bool sync = std::any_of(group.begin(), group.end(), [](GroupCommit::Request* request) {
    return static_cast<Write*>(request)->request.durability == Durability::kSync;
  });
  const uint64_t switches = log_->statistics().switches;
  absl::Status status = log_->SwitchFile();
  if (log_->statistics().switches != switches) NoteLogSegment(false);
  if (status.ok()) status = Secure(log_, sync);
  times_.synced = NowNanos();
  FinishGroup(group, std::move(status));
}

void TabletServer::FinishGroup(std::span<GroupCommit::Request* const> group, absl::Status status) {
  // What the times are of is known if one of the group is measured; of others nothing is noted.
  const bool is_measured = measured_.load(std::memory_order_relaxed) != 0;
  if (status.ok() && !AwaitLock()) [[unlikely]] {
    status = absl::UnavailableError(
        Cat("server ", name(), " has lost its lock; whether the write will be found is not known"));
  }
  if (environment_.events != nullptr) NoteLogSegment(true);
  if (!status.ok()) {
    // What the log has of the group must never come back: nobody sees it from now on, and later
    // writes do.
    if (!logged_.empty()) log_->Fail(status);
    SetError(status);
    times_.applied = times_.synced;
    if (is_measured) NoteTimes(group, times_);
    for (GroupCommit::Request* request : group) {
      for (absl::Status& outcome : static_cast<Write*>(request)->statuses) outcome = status;
    }
    return;
  }
  for (GroupCommit::Request* request : group) ApplyToMemtables(static_cast<Write*>(request));
  if (!logged_.empty()) {
    last_acknowledged_.store(logged_.back().sequence, std::memory_order_release);
    SetVisible(logged_.back().sequence);
  }
  if (is_measured) [[unlikely]] {
    times_.applied = NowNanos();
    NoteTimes(group, times_);
  }
  for (GroupCommit::Request* request : group) {
    RotateFull(static_cast<Write*>(request)->request.tablet);
  }
  if (const uint64_t bytes = log_->NeededBytes();
      bytes > options_.max_log_bytes && bytes != std::exchange(rotated_for_log_bytes_, bytes)) {
    RotateForLog();
  }
  if (!log_->NeedsUpkeep()) {
    upkeep_asked_ = false;
  } else if (!std::exchange(upkeep_asked_, true)) {
    wake_();
  }
}

void TabletServer::NoteLogSegment(bool was_ended) {
  if (environment_.events == nullptr) return;
  const uint64_t segment = log_->end_offset() >> kSegmentShift;
  // A group of writes may have filled several.
  for (; notified_segment_ < segment; ++notified_segment_) {
    if (notified_segment_ > 0 && (was_ended || notified_segment_ + 1 < segment)) {
      NotifySegment(&EventListener::OnLogSegmentEnded, notified_segment_);
    }
    NotifySegment(&EventListener::OnLogSegmentCreated, notified_segment_ + 1);
  }
}

void TabletServer::NotifySegment(void (EventListener::*function)(const LogSegmentEvent&),
                                 uint64_t number) {
  if (environment_.events == nullptr) return;
  environment_.events->Push(function,
                            {.time = absl::Now(), .server = environment_.server, .number = number});
}

void TabletServer::NoteTimes(std::span<GroupCommit::Request* const> group,
                             const GroupTimes& times) {
  for (GroupCommit::Request* request : group) {
    const Write& write = *static_cast<Write*>(request);
    if (write.queued_at == 0) continue;
    measured_.fetch_sub(1, std::memory_order_relaxed);
    const uint64_t weight = write.request.sample->weight;
    counters_.queue_wait.Record(times.begin - write.queued_at, weight);
    counters_.log_append.Record(times.logged - times.begin, weight);
    counters_.memtable_apply.Record(times.applied - times.synced, weight);
    RequestTrace* const trace = write.request.sample->trace;
    if (trace == nullptr) continue;
    // A batch writes to one tablet after another.
    trace->queue += absl::Nanoseconds(times.begin - write.queued_at);
    trace->group_size += group.size();
    trace->log += absl::Nanoseconds(times.logged - times.begin);
    trace->sync += absl::Nanoseconds(times.synced - times.logged);
    trace->memtable += absl::Nanoseconds(times.applied - times.synced);
  }
}

absl::Status TabletServer::AppendToLog(RecordType type, SequenceNumber sequence,
                                       std::span<const std::string_view> parts,
                                       AppendedRecord* record, absl::Status* refused) {
  absl::Status status = log_->Append(type, sequence, parts, record);
  if (status.ok() || log_->failed()) return status;
  uint64_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  *refused = Annotate(
      status, Cat("a write of ", bytes, " bytes found no room in the log of server ", name()));
  // Whatever it was that kept a segment from being made: so that nobody takes it for an error after
  // which the write may be found.
  if (absl::IsUnavailable(status)) *refused = absl::ResourceExhaustedError(refused->message());
  return absl::OkStatus();
}

absl::Status TabletServer::LogWrite(Write* write) {
  const WriteRequest& request = write->request;
  write->superseded = request.tablet->stopped();
  if (write->superseded) return absl::OkStatus();
  absl::Status refused = request.limits.Check("the write");
  if (request.tablet->removed()) {
    refused = absl::NotFoundError(Cat("table ", request.layout->name, " was deleted"));
  }
  const bool recheck = request.tablet->writer()->layout() != request.layout;
  for (size_t i = 0; i < request.mutations.size(); ++i) {
    absl::Status& status = write->statuses[i];
    if (!status.ok()) continue;
    if (!refused.ok()) {
      status = refused;
    } else if (recheck) {
      status = Check(*request.tablet->writer()->layout(), request.mutations[i]);
    }
    if (status.ok() && !request.is_batch) BT_RETURN_IF_ERROR(LogMutation(write, i));
  }
  return request.is_batch ? LogBatch(write) : absl::OkStatus();
}

// One record for all of them.
absl::Status TabletServer::LogBatch(Write* write) {
  const WriteRequest& request = write->request;
  for (const absl::Status& status : write->statuses) {
    if (status.ok()) continue;
    std::fill(write->statuses.begin(), write->statuses.end(), absl::Status(status));
    return absl::OkStatus();
  }
  TabletWriter& writer = *request.tablet->writer();
  const size_t first = logged_.size();
  SequenceNumber sequence = sequences_->Take(request.mutations.size());
  std::vector<size_t> begins;  // of the operations, in the record
  batch_.clear();
  for (const EncodedMutation& mutation : request.mutations) {
    const int64_t timestamp =
        mutation.takes_server_time ? writer.NextTimestamp() : writer.last_timestamp();
    begins.push_back(AppendToBatch(&batch_, {request.tablet->table_id(), timestamp, mutation}));
    logged_.push_back({sequence++, timestamp, mutation.operations, nullptr});
  }
  if (request.durability == Durability::kNone) return absl::OkStatus();
  const std::string_view payload = batch_;
  AppendedRecord record;
  absl::Status refused;
  BT_RETURN_IF_ERROR(
      AppendToLog(RecordType::kBatch, logged_.back().sequence, {&payload, 1}, &record, &refused));
  if (!refused.ok()) {
    logged_.erase(logged_.begin() + static_cast<std::ptrdiff_t>(first), logged_.end());
    std::fill(write->statuses.begin(), write->statuses.end(), refused);
    return absl::OkStatus();
  }
  if (record.segment == nullptr) return absl::OkStatus();
  for (size_t i = 0; i < begins.size(); ++i) {
    Logged& logged = logged_[first + i];
    logged.operations = record.payload.substr(begins[i], logged.operations.size());
    logged.segment = record.segment;
  }
  return absl::OkStatus();
}

absl::Status TabletServer::LogMutation(Write* write, size_t i) {
  TabletWriter& writer = *write->request.tablet->writer();
  const EncodedMutation& mutation = write->request.mutations[i];
  const int64_t timestamp =
      mutation.takes_server_time ? writer.NextTimestamp() : writer.last_timestamp();
  Logged logged{sequences_->Take(1), timestamp, mutation.operations, nullptr};
  if (write->request.durability != Durability::kNone) {
    header_.clear();
    AppendMutationHeader(&header_, {write->request.tablet->table_id(), logged.timestamp, mutation});
    const std::array<std::string_view, 2> parts{header_, mutation.operations};
    AppendedRecord record;
    absl::Status& refused = write->statuses[i];
    BT_RETURN_IF_ERROR(
        AppendToLog(RecordType::kMutation, logged.sequence, parts, &record, &refused));
    if (!refused.ok()) return absl::OkStatus();
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
  if (write->superseded) return;
  for (size_t i = 0; i < request.mutations.size(); ++i) {
    if (!write->statuses[i].ok()) continue;
    const Logged& logged = logged_[next_logged_++];
    request.tablet->writer()->Apply(request.mutations[i].row, logged.operations, logged.sequence,
                                    logged.timestamp, Ref<const RefCounted>(logged.segment));
    rows_written_.store(rows_written_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  }
}

// --- Without a log ---

void TabletServer::ApplyInMemory(Tablet* tablet, const EncodedMutation& mutation) {
  queue_.RunExclusive([&] {
    const SequenceNumber sequence = sequences_->Take(1);
    TabletWriter* const writer = tablet->writer();
    writer->Replay(mutation.row, mutation.operations, sequence, writer->NextTimestamp());
    SetVisible(sequence);
  });
}

// --- Upkeep ---

absl::Status TabletServer::MaintainLog() {
  const std::shared_ptr<CommitLog> log = Log();
  if (log == nullptr) return absl::OkStatus();
  // First the visible number: what is written after it is not looked for.
  SequenceNumber needed = visible() + 1;
  for (const std::shared_ptr<Tablet>& tablet : Tablets()) {
    needed = std::min(needed, tablet->Version()->FirstUnflushed());
  }
  absl::Status attested;
  if (log->ReleasesSegment(needed - 1) && environment_.attest_commits) {
    attested = environment_.attest_commits();
  }
  MutexLock lock(&upkeep_mutex_);
  if (ended_) return absl::OkStatus();
  if (attested.ok()) log->ReleaseThrough(needed - 1);
  attested.Update(log->PrepareSpare());
  return attested;
}

absl::Status TabletServer::AttestLog() {
  const std::shared_ptr<CommitLog> log = Log();
  if (log == nullptr) return absl::OkStatus();
  MutexLock lock(&upkeep_mutex_);
  if (ended_) {
    return absl::UnavailableError(Cat("server ", name(), " has ended and is being replaced"));
  }
  return log->Attest();
}

absl::Status TabletServer::RemoveFreeSegments() {
  const std::shared_ptr<CommitLog> log = Log();
  MutexLock lock(&upkeep_mutex_);
  return log == nullptr || ended_ ? absl::OkStatus() : log->RemoveFreeSegments();
}

absl::Status TabletServer::TrimLog() {
  BT_RETURN_IF_ERROR(MaintainLog());
  return RemoveFreeSegments();
}

absl::Status TabletServer::TrimLogIfIdle() {
  constexpr absl::Duration kIdle = absl::Seconds(5);
  const std::shared_ptr<CommitLog> log = Log();
  if (log == nullptr) return absl::OkStatus();
  const uint64_t end = log->end_offset();
  const SteadyTime now = SteadyTime::Now();
  if (end != idle_log_end_) {
    idle_log_end_ = end;
    log_idle_since_ = now;
  }
  return now - log_idle_since_ < kIdle ? absl::OkStatus() : RemoveFreeSegments();
}

CommitLog::Statistics TabletServer::LogStatistics() const {
  MutexLock lock(&mutex_);
  return shared_log_ == nullptr ? log_statistics_ : shared_log_->statistics();
}

TabletServerStatistics TabletServer::Statistics() const {
  TabletServerStatistics statistics;
  statistics.rows_written = rows_written();
  statistics.writes = queue_.requests();
  statistics.write_groups = queue_.groups();
  const CommitLog::Statistics log = LogStatistics();
  statistics.log_records = log.records;
  statistics.log_bytes_written = log.bytes;
  statistics.log_syncs = log.syncs;
  statistics.log_stalls = log.stalls;
  statistics.log_switches = log.switches;
  statistics.log_segments_created = log.segments_created;
  statistics.log_segments_reused = log.segments_reused;
  statistics.log_bytes_live = LogBytes();
  statistics.queue_wait = counters_.queue_wait.Read();
  statistics.log_append = counters_.log_append.Read();
  statistics.memtable_apply = counters_.memtable_apply.Read();
  statistics.log_sync = counters_.log_sync.Read();
  statistics.minor = counters_.minor.Read();
  statistics.merging = counters_.merging.Read();
  statistics.minor_compaction = counters_.minor_compaction.Read();
  statistics.merging_compaction = counters_.merging_compaction.Read();
  for (const std::shared_ptr<Tablet>& tablet : Tablets()) {
    TabletStatistics& of_tablet = statistics.tablets.emplace_back();
    tablet->counters()->Read(&of_tablet);
    const Pin<TabletVersion> version = tablet->Version();
    of_tablet.table = version->layout().name;
    of_tablet.begin_row = tablet->rows().begin();
    of_tablet.end_row = tablet->rows().end();
    for (const GroupVersion& group : version->groups()) AddGroup(group, &of_tablet.size);
  }
  return statistics;
}

// --- Errors ---

void TabletServer::SetError(const absl::Status& status) {
  {
    MutexLock lock(&mutex_);
    if (!error_.ok()) return;
    error_ = status;
    has_error_.store(true);
  }
  if (environment_.events != nullptr) {
    environment_.events->Push(&EventListener::OnBackgroundError,
                              {.time = absl::Now(), .server = name(), .status = status});
  }
  info_log_->Error("server ", name(), ": writes are refused: ", ToStd(status.message()));
}

absl::Status TabletServer::error() const {
  MutexLock lock(&mutex_);
  return error_;
}

void TabletServer::BeginResume() {
  resuming_.store(true);
  RotateEverything();
}

absl::Status TabletServer::FinishResume() {
  if (environment_.attest_commits) BT_RETURN_IF_ERROR(environment_.attest_commits());
  absl::Status status;
  queue_.RunExclusive([&] {
    if (ended_) {
      status = absl::UnavailableError(Cat("server ", name(), " has lost its lock"));
      return;  // whoever takes over reads its log
    }
    if (has_log()) {
      // Nothing of the log is needed: everything that was applied is in SSTables, and what was not
      // was never acknowledged.
      log_->ReleaseThrough(log_->last_sequence());
      status = log_->StartNewSegment();
      if (status.ok()) NoteLogSegment(false);
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

absl::Status TabletServer::CloseLog() {
  if (!has_log()) return absl::OkStatus();
  BT_RETURN_IF_ERROR(log_->Close());
  NotifySegment(&EventListener::OnLogSegmentEnded, log_->end_offset() >> kSegmentShift);
  return absl::OkStatus();
}

}  // namespace bigtable
