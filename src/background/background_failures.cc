// Failures of background work: noted and retried after a pause, quarantined, or a reason to stop
// (docs/internals/failures.md).
#include "absl/time/clock.h"

#include "background/background_work.h"
#include "base/status.h"
#include "base/strings.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

void BackgroundWork::FailedWork::Failed(const absl::Status& failed, absl::Duration took) {
  const int64_t now = NowNanos();
  if (pause.failures() == 0) {
    since = absl::Now();
    begin = now;
  }
  pause.Failed(now, took);
  status = failed;
}

void BackgroundWork::RecordFlush(const FlushWork& work, const absl::Status& status) {
  uint64_t failures;
  {
    MutexLock lock(&mutex_);
    if (status.ok() || work.is_in_doubt) {
      failed_flushes_.erase(work.server);
      return;
    }
    FailedWork& failed = failed_flushes_[work.server];
    failed.Failed(status);
    failed.last = ++flush_failures_;
    failed.server = work.server->name();
    failures = failed.pause.failures();
  }
  info_log_->Warning("server ", work.server->name(), ": memtables cannot be flushed, try ",
                     failures, ": ", ToStd(status.message()));
}

void BackgroundWork::RecordCompaction(const Work& work, const CompactionOutcome& outcome,
                                      const absl::Status& status, absl::Duration took) {
  if (absl::IsCancelled(status) || work.tablet->flags().removed()) return;
  if (status.ok()) {
    {
      MutexLock lock(&mutex_);
      // Not if another one has failed meanwhile.
      if (FailuresOf(work) == work.failures) failed_compactions_.erase(work.id());
    }
    if (outcome.bytes_dropped + outcome.bytes_read > outcome.bytes_written) RetryForSpace();
    return;
  }
  if (outcome.is_in_doubt) return StopCompactions(work, status);
  // What it found may be mended.
  if (BeganBeforeResume(work)) return work.tablet->SetMayPickOther(true);
  // It is never recorded as failed work, so that no call waits for it.
  if (outcome.unreadable_file != 0 && absl::IsDataLoss(status)) {
    work.tablet->SetMayPickOther(true);
    return QuarantineInput(work, outcome.unreadable_file, status);
  }
  uint64_t failures;
  {
    MutexLock lock(&mutex_);
    if (work.resumed != resumed_) return work.tablet->SetMayPickOther(true);
    ForgetOldFailures();
    FailedWork& failed = failed_compactions_[work.id()];
    failed.Failed(status, took);
    failed.tablet = work.tablet;
    failed.server = work.server->name();
    failures = failed.pause.failures();
  }
  work.tablet->SetMayPickOther(true);
  const EventLocation location = LocationOf(*work.tablet, *work.tablet->Layout(), work.group);
  info_log_->Warning("a compaction of table ", location.table, ", locality group ",
                     location.locality_group, " has failed, try ", failures, ": ",
                     ToStd(status.message()));
  if (outcome.unreadable_file == 0) return;
  // ResourceExhausted: there was no room for an open file, which proves nothing about the file.
  if (failures >= kMostReadTries && !absl::IsResourceExhausted(status)) {
    QuarantineInput(work, outcome.unreadable_file, status);
  }
}

bool BackgroundWork::BeganBeforeResume(const Work& work) const {
  MutexLock lock(&mutex_);
  return work.resumed != resumed_;
}

uint64_t BackgroundWork::FailuresOf(const Work& work) const {
  const auto failed = failed_compactions_.find(work.id());
  if (failed == failed_compactions_.end() || failed->second.tablet.lock() != work.tablet) return 0;
  return failed->second.pause.failures();
}

void BackgroundWork::QuarantineInput(const Work& work, uint64_t number,
                                     const absl::Status& status) {
  work.tablet->Quarantine(work.group, number, status);
  {
    MutexLock lock(&mutex_);
    failed_compactions_.erase(work.id());
  }
  info_log_->Error("SSTable ", number, " of table ", work.tablet->Layout()->name,
                   " is left out of compactions: ", ToStd(status.message()));
  if (ListenerQueue* const events = work.server->environment()->events) {
    const Pin<TabletVersion> version = work.tablet->Version();
    events->Push(&EventListener::OnFileQuarantined,
                 {.time = absl::Now(),
                  .location = LocationOf(*work.tablet, version->layout(), work.group),
                  .file = {number, version->groups()[work.group].files->BytesOf(number)},
                  .status = status});
  }
}

void BackgroundWork::StopCompactions(const Work& work, const absl::Status& status) {
  {
    MutexLock lock(&mutex_);
    if (!compaction_error_.ok()) return;  // as that of another tablet, of the same commit
    compaction_error_ = status;
  }
  info_log_->Error("compactions have stopped: ", ToStd(status.message()));
  if (ListenerQueue* const events = work.server->environment()->events) {
    events->Push(&EventListener::OnBackgroundError,
                 {.time = absl::Now(),
                  .server = work.server->name(),
                  .stops = BackgroundErrorEvent::Stops::kCompactions,
                  .status = status});
  }
}

void BackgroundWork::ForgetOldFailures() {
  std::erase_if(failed_compactions_, [](const auto& entry) {
    const std::shared_ptr<const Tablet> tablet = entry.second.tablet.lock();
    return tablet == nullptr || tablet->flags().ended();
  });
}

absl::Status BackgroundWork::AnyFailure() {
  ForgetOldFailures();
  for (const auto& [server, failed] : failed_flushes_) return failed.status;
  if (pauses_ > 0) return absl::OkStatus();
  for (const auto& [id, failed] : failed_compactions_) return failed.status;
  return absl::OkStatus();
}

void BackgroundWork::RetryForSpace() {
  MutexLock lock(&mutex_);
  const auto retry = [](auto* failures) {
    for (auto& [key, failed] : *failures) {
      if (absl::IsResourceExhausted(failed.status)) failed.pause.TryNow();
    }
  };
  retry(&failed_flushes_);
  retry(&failed_compactions_);
  for (auto& [server, pause] : upkeep_pauses_) pause.TryNow();
  ++wakes_;
  changed_.SignalAll();
}

bool BackgroundWork::IsFlushFailing(const TabletServer* server) const {
  MutexLock lock(&mutex_);
  return failed_flushes_.contains(server);
}

absl::Status BackgroundWork::StuckFlush() const {
  MutexLock lock(&mutex_);
  for (const auto& [server, failed] : failed_flushes_) {
    if (absl::Nanoseconds(NowNanos() - failed.begin) < kStuck) continue;
    return Annotate(failed.status, Cat("memory is full, and memtables of server ", failed.server,
                                       " cannot be flushed"));
  }
  return absl::OkStatus();
}

std::vector<FailingWork> BackgroundWork::Failing() const {
  std::vector<FailingWork> failing;
  MutexLock lock(&mutex_);
  const auto add = [&](FailingWork::Kind kind, const FailedWork& failed) {
    failing.push_back({.kind = kind,
                       .server = failed.server,
                       .table = "",
                       .locality_group = "",
                       .end_row = std::nullopt,
                       .status = failed.status,
                       .failures = failed.pause.failures(),
                       .since = failed.since});
  };
  for (const auto& [server, failed] : failed_flushes_) add(FailingWork::Kind::kFlush, failed);
  for (const auto& [id, failed] : failed_compactions_) {
    const std::shared_ptr<const Tablet> tablet = failed.tablet.lock();
    if (tablet == nullptr || tablet->flags().ended()) continue;
    add(FailingWork::Kind::kCompaction, failed);
    const EventLocation location = LocationOf(*tablet, *tablet->Layout(), id.second);
    failing.back().table = location.table;
    failing.back().locality_group = location.locality_group;
    failing.back().end_row = location.end_row;
  }
  return failing;
}

}  // namespace bigtable
