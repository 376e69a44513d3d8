#include "commit/server_log.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_directory.h"
#include "commitlog/log_format.h"

namespace bigtable {

void ServerLog::Use(std::shared_ptr<CommitLog> log) {
  ABSL_ASSERT(appending_ == nullptr && "a server has one log");
  appending_ = log.get();
  directory_ = log->directory();
  {
    MutexLock lock(&mutex_);
    log_ = std::move(log);
  }
  ReportSegments(true);
  started_.store(true, std::memory_order_release);
}

// --- Segments ---

void ServerLog::ReportSegments(bool was_ended) {
  if (environment_->events == nullptr) return;
  const uint64_t segment = appending_->end_offset() >> kSegmentShift;
  ABSL_ASSERT(notified_segment_ <= segment && "segments are numbered upwards");
  // A group of writes may have filled several.
  for (; notified_segment_ < segment; ++notified_segment_) {
    if (notified_segment_ > 0 && (was_ended || notified_segment_ + 1 < segment)) {
      Notify(&EventListener::OnLogSegmentEnded, notified_segment_);
    }
    Notify(&EventListener::OnLogSegmentCreated, notified_segment_ + 1);
  }
}

void ServerLog::Notify(void (EventListener::*function)(const LogSegmentEvent&), uint64_t number) {
  if (environment_->events == nullptr) return;
  environment_->events->Push(
      function, {.time = absl::Now(), .server = environment_->server, .number = number});
}

absl::Status ServerLog::StartNewSegment(const CallLimits& limits) {
  appending_->ReleaseThrough(appending_->last_sequence());
  BT_RETURN_IF_ERROR(appending_->StartNewSegment(limits));
  ReportSegments(false);
  return appending_->Sync();
}

absl::Status ServerLog::StartNextSegment() {
  BT_RETURN_IF_ERROR(appending_->StartNextSegment());
  ReportSegments(true);
  return absl::OkStatus();
}

// Under the mutex of the upkeep: the server that takes over reads and removes the files.
absl::StatusOr<bool> ServerLog::PrepareFreshSpare(const CallLimits& limits) {
  const std::shared_ptr<CommitLog> log = Get();
  const LimitedMutexLock lock(&upkeep_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(lock.status());
  return log == nullptr || state_->ended() ? true : log->PrepareFreshSpare(limits);
}

// --- Upkeep ---

bool ServerLog::NeedsUpkeep() const {
  const std::shared_ptr<CommitLog> log = Get();
  return log != nullptr && log->NeedsUpkeep();
}

absl::Status ServerLog::Maintain(const CallLimits& limits) {
  const std::shared_ptr<CommitLog> log = Get();
  if (log == nullptr) return absl::OkStatus();
  // The visible number is read first: a memtable may get a later mutation without being seen here.
  SequenceNumber needed = visible_->get() + 1;
  for (const std::shared_ptr<Tablet>& tablet : tablets_->All()) {
    needed = std::min(needed, tablet->Version()->FirstUnflushed());
  }
  // A writer may end a segment at any time. What was flushed up to `needed` must be attested first,
  // so such a segment is left to the next call.
  const bool releases = log->ReleasesSegment(needed - 1);
  absl::Status attested;
  if (releases && environment_->attest_commits) attested = environment_->attest_commits(limits);
  const LimitedMutexLock lock(&upkeep_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(lock.status());
  if (state_->ended()) return absl::OkStatus();
  if (releases && attested.ok()) log->ReleaseThrough(needed - 1);
  attested.Update(log->PrepareSpare(limits));
  return attested;
}

absl::Status ServerLog::Attest(const CallLimits& limits) {
  const auto replaced_error = [&] {
    return absl::UnavailableError(
        Cat("server ", environment_->server, " has ended and is being replaced"));
  };
  const std::shared_ptr<CommitLog> log = Get();
  if (log == nullptr) return is_copied_.load() ? replaced_error() : absl::OkStatus();
  const LimitedMutexLock lock(&upkeep_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(lock.status());
  return state_->ended() ? replaced_error() : log->Attest(limits);
}

absl::Status ServerLog::RemoveFreeSegments(const CallLimits& limits) {
  const std::shared_ptr<CommitLog> log = Get();
  const LimitedMutexLock lock(&upkeep_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(lock.status());
  return log == nullptr || state_->ended() ? absl::OkStatus() : log->RemoveFreeSegments(limits);
}

absl::Status ServerLog::Trim(const CallLimits& limits) {
  BT_RETURN_IF_ERROR(Maintain(limits));
  return RemoveFreeSegments(limits);
}

absl::Status ServerLog::TrimIfIdle() {
  constexpr absl::Duration kIdle = absl::Seconds(5);
  const std::shared_ptr<CommitLog> log = Get();
  if (log == nullptr) return absl::OkStatus();
  const uint64_t end = log->end_offset();
  const SteadyTime now = SteadyTime::Now();
  if (end != idle_end_) {
    idle_end_ = end;
    idle_since_ = now;
  }
  return now - idle_since_ < kIdle ? absl::OkStatus() : RemoveFreeSegments({});
}

uint64_t ServerLog::LiveBytes() const {
  const std::shared_ptr<CommitLog> log = Get();
  return log == nullptr ? 0 : log->LiveBytes();
}

CommitLog::Statistics ServerLog::statistics() const {
  MutexLock lock(&mutex_);
  return log_ == nullptr ? last_statistics_ : log_->statistics();
}

// --- The end ---

absl::Status ServerLog::Close() {
  if (!started()) return absl::OkStatus();
  server_writer.Assume("nothing is written to the server any more");
  BT_RETURN_IF_ERROR(appending_->Close());
  Notify(&EventListener::OnLogSegmentEnded, appending_->end_offset() >> kSegmentShift);
  return absl::OkStatus();
}

absl::Status ServerLog::MakeDurable(absl::Status* unsynced) {
  MutexLock lock(&end_mutex_);
  const std::shared_ptr<CommitLog> log = Get();
  // Its files are copies, or it is being removed.
  if (log == nullptr) return SyncLog(environment_->file_system, directory_);
  *unsynced = log->Sync();
  if (unsynced->ok()) return absl::OkStatus();
  // What is before the segment of the synced offset is durable.
  const absl::Status copied =
      CopyLog(environment_->file_system, directory_, log->synced_offset() >> kSegmentShift);
  if (!copied.ok()) {
    return Annotate(copied, Cat("the log of server ", environment_->server, " cannot be synced (",
                                ToStd(unsynced->message()), ") or copied"));
  }
  is_copied_.store(true);  // before there is no log
  DropReference();
  return absl::OkStatus();
}

void ServerLog::Drop() {
  MutexLock lock(&end_mutex_);
  is_copied_.store(false);
  DropReference();
}

void ServerLog::DropReference() {
  std::shared_ptr<CommitLog> log;  // deleted after the lock is
  MutexLock lock(&mutex_);
  if (log_ == nullptr) return;
  last_statistics_ = log_->statistics();
  log = std::move(log_);
}

}  // namespace bigtable
