#include "commit/group_writer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"
#include "cache/scan_cache.h"
#include "monitoring/thread_calls.h"
#include "rpc/row_conflict.h"
#include "schema/mutation_check.h"

namespace bigtable {

// A caller's write in the queue.
struct GroupWriter::Write final : GroupCommit::Request {
  explicit Write(const WriteRequest& r) : request(r) {
    for (const EncodedMutation& mutation : r.mutations)
      bytes += mutation.row.size() + mutation.operations.size();
  }

  const WriteRequest& request;
  int64_t queued_at = 0;    // if it is measured
  bool superseded = false;  // the tablet was, before the write's turn
  SequenceRange batch;      // that is in the log; empty (last is 0) if there is none
};

GroupWriter::GroupWriter(const Parts& parts, const LogLimit& log_limit, std::function<void()> wake)
    : parts_(parts),
      log_limit_(log_limit),
      wake_(std::move(wake)),
      queue_([this](Group group) { CommitGroup(group); }, TakeOver()) {}

bool GroupWriter::Apply(const WriteRequest& request) {
  const absl::Span<absl::Status> statuses = request.statuses;
  ABSL_ASSERT(statuses.size() == request.mutations.size() && "there is a status for each mutation");
  ABSL_ASSERT((request.unchanged_since == kUnconditional || request.mutations.size() == 1) &&
              "only a single mutation has a precondition");
  if (parts_.error->any()) [[unlikely]] {
    // A server that has lost its lock does not decide about the write: another server does.
    if (const absl::Status refused = parts_.error->status();
        !refused.ok() && parts_.state->serving()) {
      std::fill(statuses.begin(), statuses.end(), refused);
      return true;
    }
  }
  Write write(request);
  if (request.sample != nullptr) [[unlikely]] {
    write.queued_at = NowNanos();
    measured_.fetch_add(1, std::memory_order_relaxed);
  }
  const absl::Status left = queue_.Commit(&write, request.limits, "the write");
  if (!left.ok()) [[unlikely]] {
    if (request.sample != nullptr) measured_.fetch_sub(1, std::memory_order_relaxed);
    for (absl::Status& status : statuses) status.Update(left);
    return true;
  }
  return !write.superseded;
}

void GroupWriter::ApplyInMemory(Tablet* tablet, const EncodedMutation& mutation) {
  queue_.RunExclusive([&] {
    queue_.AssertInTurn();
    const SequenceNumber sequence = parts_.sequences->Take(1);
    TabletWriter* const writer = tablet->writer();
    writer->Replay(mutation.row, mutation.operations, sequence, writer->NextTimestamp(), 0);
    parts_.visible->Set(sequence);
  });
}

// --- A group ---

void GroupWriter::CommitGroup(Group group) {
  queue_.AssertInTurn();
  if (!parts_.state->serving()) [[unlikely]] {
    parts_.state->RequestRenewal();
    for (GroupCommit::Request* request : group) static_cast<Write*>(request)->superseded = true;
    const int64_t now = NowNanos();
    return RecordTimes(group, {.begin = now, .logged = now, .synced = now, .applied = now});
  }
  absl::Status status = parts_.error->any() ? parts_.error->status() : absl::OkStatus();
  bool sync = false;
  insertions_.clear();
  // Whether a write that is measured is in the queue, and perhaps in this group.
  const bool is_measured = measured_.load(std::memory_order_relaxed) != 0;
  if (is_measured) [[unlikely]] {
    times_.begin = NowNanos();
  }
  for (GroupCommit::Request* request : group) {
    sync |= static_cast<Write*>(request)->request.durability == Durability::kSync;
  }
  bool is_refused = false;
  if (status.ok()) status = LogGroup(group, &is_refused);
  if (is_measured) [[unlikely]] {
    times_.logged = times_.synced = NowNanos();
  }
  if (is_refused) [[unlikely]]
    return RefuseGroup(group, status, is_measured);
  if (status.ok() && (sync || log()->NeedsFlush())) {
    if (!SecureLog(group, sync, &status)) return;
    if (is_measured) times_.synced = NowNanos();
  }
  FinishGroup(group, std::move(status));
}

bool GroupWriter::SecureLog(Group group, bool sync, absl::Status* status) {
  const WaitTimer wait;
  // When the call returns, the server may have ended, and its log may have been dropped.
  const std::shared_ptr<CommitLog> log = parts_.log->Get();
  // Determined before the call. Within it, a thread may have taken over, because a sync by another
  // thread stalls (a flush that has not begun does not count as a stall: LogCalls::PlanSwitch). If
  // this thread is not scheduled until then, what has to be flushed is not this thread's.
  const bool flush = log->NeedsFlush();
  return queue_.Guarded(group, [&] {
    server_writer.Assume("or a thread has taken over, and the log ignores what this one calls");
    *status = Secure(log.get(), flush, sync);
  });
}

absl::Status GroupWriter::Secure(CommitLog* log, bool flush, bool sync) {
  if (flush) BT_RETURN_IF_ERROR(log->Flush());
  if (!sync) return absl::OkStatus();
  const int64_t begin = NowNanos();
  const absl::Status status = log->Sync();
  parts_.counters->log_sync.Record(NowNanos() - begin);
  // A recovered log ends before a part of a batch whose other parts are missing.
  if (status.ok() && parts_.batches != nullptr) return parts_.batches->SyncLinked(log);
  return status;
}

GroupCommit::TakeOver GroupWriter::TakeOver() {
  return {
      .stall_timeout =
          [this](absl::Duration running) {
            const std::shared_ptr<CommitLog> log = parts_.log->Get();
            return log != nullptr ? log->StallTimeout(running) : absl::InfiniteDuration();
          },
      .commit = [this](Group group) { CommitGroupElsewhere(group); },
  };
}

// The group went to the log while the server held its lock, so the lock is not checked before the
// group is logged again.
void GroupWriter::CommitGroupElsewhere(Group group) {
  queue_.AssertInTurn();
  const bool sync = std::any_of(group.begin(), group.end(), [](GroupCommit::Request* request) {
    return static_cast<Write*>(request)->request.durability == Durability::kSync;
  });
  const uint64_t switches = log()->statistics().switches;
  absl::Status status = log()->SwitchFile();
  if (log()->statistics().switches != switches) parts_.log->ReportSegments(false);
  if (status.ok()) status = Secure(log(), true, sync);
  times_.synced = NowNanos();
  FinishGroup(group, std::move(status));
}

void GroupWriter::FinishGroup(Group group, absl::Status status) {
  // The times are known if a write of the group is measured. Otherwise nothing is noted.
  const bool is_measured = measured_.load(std::memory_order_relaxed) != 0;
  if (status.ok() && !parts_.state->AwaitServing()) [[unlikely]] {
    status = absl::UnavailableError(
        Cat("server ", server_name(),
            " has lost its lock; it is not known if the write will be found"));
  }
  if (parts_.environment->events != nullptr) parts_.log->ReportSegments(true);
  if (!status.ok()) return FailGroup(group, status, is_measured);
  ApplyToMemtables();
  if (!insertions_.empty()) {
    const SequenceNumber last = insertions_.back().logged.sequence;
    Acknowledge(last);
    parts_.visible->Set(last);
  }
  if (is_measured) [[unlikely]] {
    times_.applied = NowNanos();
    RecordTimes(group, times_);
  }
  for (GroupCommit::Request* request : group) {
    Tablet* const tablet = static_cast<Write*>(request)->request.tablet;
    if (const auto& [first, last] = static_cast<Write*>(request)->batch; last != 0) {
      tablet->writer()->EndBatch(first, last);
    }
    parts_.rotation->RotateFull(tablet);
  }
  LimitLog();
}

void GroupWriter::FailGroup(Group group, const absl::Status& status, bool is_measured) {
  // No reader sees the group, and later writes become visible. So the log must never be read as if
  // it had the group.
  if (insertions_.empty()) {
    parts_.error->Set(status);
  } else {
    Fail(status);
  }
  RefuseGroup(group, status, is_measured);
}

void GroupWriter::RefuseGroup(Group group, const absl::Status& status, bool is_measured) {
  times_.applied = times_.synced;
  if (is_measured) RecordTimes(group, times_);
  for (GroupCommit::Request* request : group) {
    for (absl::Status& outcome : static_cast<Write*>(request)->request.statuses) outcome = status;
  }
}

void GroupWriter::LimitLog() {
  if (const uint64_t bytes = log()->NeededBytes();
      bytes > log_limit_.get() && bytes != std::exchange(rotated_for_log_bytes_, bytes)) {
    parts_.rotation->RotateForLog();
  }
  if (!log()->NeedsUpkeep()) {
    upkeep_requested_ = false;
  } else if (!std::exchange(upkeep_requested_, true)) {
    wake_();
  }
}

void GroupWriter::RecordTimes(Group group, const GroupTimes& times) {
  for (GroupCommit::Request* request : group) {
    const Write& write = *static_cast<Write*>(request);
    if (write.queued_at == 0) continue;
    [[maybe_unused]] const int64_t measured = measured_.fetch_sub(1, std::memory_order_relaxed);
    ABSL_ASSERT(measured > 0 && "it was counted when it was queued");
    const uint64_t weight = write.request.sample->weight;
    parts_.counters->queue_wait.Record(times.begin - write.queued_at, weight);
    parts_.counters->log_append.Record(times.logged - times.begin, weight);
    parts_.counters->memtable_apply.Record(times.applied - times.synced, weight);
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

// --- Logging ---

absl::Status GroupWriter::LogGroup(Group group, bool* is_refused) {
  const uint64_t records = log()->records();
  try {
    for (GroupCommit::Request* request : group) {
      BT_RETURN_IF_ERROR(LogWrite(group, static_cast<Write*>(request)));
    }
    return absl::OkStatus();
  } catch (const std::bad_alloc&) {
    absl::Status status =
        absl::ResourceExhaustedError(Cat("server ", server_name(), " has no memory for a write"));
    *is_refused = log()->records() == records;
    if (!*is_refused) log()->Fail(status);
    return status;
  }
}

absl::Status GroupWriter::AppendToLog(RecordType type, SequenceNumber sequence,
                                      std::span<const std::string_view> parts,
                                      const CallLimits& limits, AppendedRecord* record,
                                      absl::Status* refused) {
  absl::Status status = log()->Append(type, sequence, parts, record, limits);
  if (status.ok() || log()->failed()) return status;
  uint64_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  *refused = RefusedError(status, bytes, limits);
  return absl::OkStatus();
}

absl::Status GroupWriter::RefusedError(const absl::Status& status, uint64_t bytes,
                                       const CallLimits& limits) const {
  const bool is_of_limits = absl::IsDeadlineExceeded(status) || absl::IsCancelled(status);
  // It has waited for another thread that makes a segment. A file system may have such errors too.
  if (is_of_limits) BT_RETURN_IF_ERROR(limits.Check("the write"));
  const absl::Status refused = Annotate(
      status,
      Cat("a write of ", bytes, " bytes found no room in the log of server ", server_name()));
  // Unavailable would mean that the write may still be found, which it never will be, for whatever
  // reason there is no segment; the errors of limits, that the caller's have ended.
  return is_of_limits || absl::IsUnavailable(status)
             ? absl::ResourceExhaustedError(refused.message())
             : refused;
}

// The writes before it in the group are not noted yet, and are few: they are compared.
[[gnu::noinline]] bool GroupWriter::MeetsPrecondition(Group group, const Write& write) const {
  const WriteRequest& request = write.request;
  const std::string_view row = request.mutations[0].row;
  const LastWrites* const last_writes = parts_.environment->last_writes.get();
  if (last_writes == nullptr || last_writes->MayBeWrittenAfter(request.unchanged_since, row)) {
    return false;
  }
  for (GroupCommit::Request* other : group) {
    const Write& earlier = *static_cast<Write*>(other);
    if (&earlier == &write) break;
    if (earlier.superseded || earlier.request.tablet != request.tablet) continue;
    for (size_t i = 0; i < earlier.request.mutations.size(); ++i) {
      if (earlier.request.statuses[i].ok() && earlier.request.mutations[i].row == row) return false;
    }
  }
  return true;
}

absl::Status GroupWriter::LogWrite(Group group, Write* write) {
  const WriteRequest& request = write->request;
  write->superseded = request.tablet->flags().stopped();
  if (write->superseded) return absl::OkStatus();
  absl::Status refused = request.limits.Check("the write");
  if (request.tablet->flags().removed()) {
    refused = absl::NotFoundError(Cat("table ", request.layout->name, " was deleted"));
  }
  if (request.unchanged_since != kUnconditional) [[unlikely]] {
    if (refused.ok() && !MeetsPrecondition(group, *write)) refused = ConflictError();
  }
  const bool recheck = request.tablet->writer()->layout() != request.layout;
  SharedErrors errors;
  for (size_t i = 0; i < request.mutations.size(); ++i) {
    absl::Status& status = request.statuses[i];
    if (!status.ok()) continue;
    if (!refused.ok()) {
      status = refused;
    } else if (recheck) {
      status =
          errors.Share(CheckMutation(*request.tablet->writer()->layout(), request.mutations[i]));
    }
    if (status.ok() && !request.is_batch) BT_RETURN_IF_ERROR(LogMutation(write, i));
  }
  return request.is_batch ? LogBatch(write) : absl::OkStatus();
}

// One record for all mutations of the batch.
absl::Status GroupWriter::LogBatch(Write* write) {
  const WriteRequest& request = write->request;
  for (const absl::Status& status : write->request.statuses) {
    if (status.ok()) continue;
    std::fill(write->request.statuses.begin(), write->request.statuses.end(), absl::Status(status));
    return absl::OkStatus();
  }
  TabletWriter& writer = *request.tablet->writer();
  const size_t first = insertions_.size();
  SequenceNumber sequence = parts_.sequences->Take(request.mutations.size());
  const SequenceNumber last = sequence + request.mutations.size() - 1;
  batch_.Clear();
  for (const EncodedMutation& mutation : request.mutations) {
    const int64_t timestamp = writer.TimestampOf(mutation.takes_server_time);
    batch_.Add({request.tablet->table_id(), timestamp, mutation});
    insertions_.push_back({request.tablet,
                           mutation.row,
                           {sequence++, timestamp, mutation.operations, nullptr, last}});
  }
  if (request.committed != nullptr) *request.committed = insertions_.back().logged.sequence;
  if (request.durability == Durability::kNone) return absl::OkStatus();
  AppendedRecord record;
  absl::Status refused;
  BT_RETURN_IF_ERROR(AppendToLog(RecordType::kBatch, insertions_.back().logged.sequence,
                                 batch_.pieces(), request.limits, &record, &refused));
  if (!refused.ok()) {
    insertions_.erase(insertions_.begin() + static_cast<std::ptrdiff_t>(first), insertions_.end());
    std::fill(write->request.statuses.begin(), write->request.statuses.end(), refused);
    return absl::OkStatus();
  }
  write->batch = {insertions_[first].logged.sequence, insertions_.back().logged.sequence};
  if (record.segment == nullptr) return absl::OkStatus();
  for (size_t i = 0; i < batch_.mutations(); ++i) {
    Logged& logged = insertions_[first + i].logged;
    logged.operations = batch_.OperationsIn(record.payload, i);
    logged.segment = record.segment;
  }
  return absl::OkStatus();
}

absl::Status GroupWriter::LogMutation(Write* write, size_t i) {
  TabletWriter& writer = *write->request.tablet->writer();
  const EncodedMutation& mutation = write->request.mutations[i];
  // The number first: who has looked at the clock, and then at the last number, knows that a change
  // with a larger number is not older (ChangeStream::CompleteThrough).
  const SequenceNumber sequence = parts_.sequences->Take(1);
  const int64_t timestamp = writer.TimestampOf(mutation.takes_server_time);
  Logged logged{sequence, timestamp, mutation.operations, nullptr};
  if (write->request.durability != Durability::kNone) {
    header_.clear();
    AppendMutationHeader(&header_, {write->request.tablet->table_id(), logged.timestamp, mutation});
    const std::array<std::string_view, 2> parts{header_, mutation.operations};
    AppendedRecord record;
    absl::Status& refused = write->request.statuses[i];
    BT_RETURN_IF_ERROR(AppendToLog(RecordType::kMutation, logged.sequence, parts,
                                   write->request.limits, &record, &refused));
    if (!refused.ok()) return absl::OkStatus();
    if (record.segment != nullptr) {
      // The memtable points into the log instead of copying the values.
      logged.operations = record.payload.substr(header_.size());
      logged.segment = record.segment;
    }
  }
  insertions_.push_back({write->request.tablet, mutation.row, logged});
  return absl::OkStatus();
}

void GroupWriter::ApplyToMemtables() {
  std::span<const Insertion> left(insertions_);
  while (!left.empty()) {
    const auto some = left.first(std::min(left.size(), GroupSearch::kMost));
    left = left.subspan(some.size());
    search_.Clear();
    const bool together = some.size() > 1;
    if (together) {
      for (const auto& [tablet, row, logged] : some) {
        tablet->writer()->AddTo(&search_, row, logged.operations);
      }
      search_.Run();
    }
    for (size_t i = 0; i < some.size(); ++i) {
      if (together) search_.Use(i);
      ApplyLogged(some[i].tablet, some[i].row, some[i].logged);
    }
  }
}

// --- For batches over several tablets ---

absl::Status GroupWriter::CheckInTurn(const Tablet& tablet, const TableLayout* layout,
                                      const EncodedMutation& mutation, bool* superseded) const {
  queue_.AssertInTurn();
  *superseded = tablet.flags().stopped();
  if (!parts_.state->serving()) [[unlikely]] {
    parts_.state->RequestRenewal();
    *superseded = true;
  }
  if (*superseded) return absl::OkStatus();
  if (tablet.flags().removed()) {
    return absl::NotFoundError(Cat("table ", layout->name, " was deleted"));
  }
  if (parts_.error->any()) BT_RETURN_IF_ERROR(parts_.error->status());
  const TableLayout* const current = tablet.writer()->layout();
  return current == layout ? absl::OkStatus() : CheckMutation(*current, mutation);
}

absl::Status GroupWriter::ReserveInLog(uint64_t payload_size, const CallLimits& limits,
                                       absl::Status* refused) {
  queue_.AssertInTurn();
  const absl::Status status = log()->Reserve(payload_size, limits);
  if (status.ok() || log()->failed()) return status;
  *refused = RefusedError(status, payload_size, limits);
  return absl::OkStatus();
}

void GroupWriter::ApplyLogged(Tablet* tablet, std::string_view row, const Logged& logged) {
  queue_.AssertInTurn();
  tablet->writer()->Apply(row, logged.operations, logged.sequence, logged.timestamp, logged.segment,
                          logged.batch);
  rows_written_.store(rows_written_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void GroupWriter::Fail(const absl::Status& status) {
  // Nothing follows in the log of a server that has ended, which is read up to what it acknowledged
  // last. Other servers sync it if parts of batches link their logs with it (batch_log_sync.h).
  if (!parts_.state->ended()) log()->Fail(status);
  parts_.error->Set(status);
}

}  // namespace bigtable
