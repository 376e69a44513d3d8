// Failures of background work: noted and retried after a pause, quarantined, or a reason to stop
// (docs/architecture.md, "Background failures").
#include "absl/time/clock.h"

#include "background/background_work.h"
#include "base/status.h"
#include "base/strings.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

void BackgroundWork::Trouble::Failed(const absl::Status& failed, absl::Duration took) {
  const int64_t now = NowNanos();
  if (pause.failures() == 0) {
    since = absl::Now();
    begin = now;
  }
  pause.Failed(now, took);
  status = failed;
}

void BackgroundWork::NoteFlush(const FlushWork& work, const absl::Status& status) {
  uint64_t failures;
  {
    MutexLock lock(&mutex_);
    if (status.ok() || work.is_in_doubt) {
      flush_troubles_.erase(work.server);
      return;
    }
    Trouble& trouble = flush_troubles_[work.server];
    trouble.Failed(status);
    trouble.last = ++flush_failures_;
    trouble.server = work.server->name();
    failures = trouble.pause.failures();
  }
  info_log_->Warning("server ", work.server->name(), ": memtables cannot be flushed, try ",
                     failures, ": ", ToStd(status.message()));
}

void BackgroundWork::NoteCompaction(const Work& work, const CompactionOutcome& outcome,
                                    const absl::Status& status, absl::Duration took) {
  if (absl::IsCancelled(status) || work.tablet->flags().removed()) return;
  if (status.ok()) {
    {
      MutexLock lock(&mutex_);
      compaction_troubles_.erase(work.id());
    }
    if (outcome.bytes_dropped + outcome.bytes_read > outcome.bytes_written) RetryForSpace();
    return;
  }
  if (outcome.is_in_doubt) return StopCompactions(work, status);
  // It is never noted as trouble, so that no call waits for it.
  if (outcome.unreadable_file != 0 && absl::IsDataLoss(status)) {
    work.tablet->SetMayPickOther(true);
    return QuarantineInput(work, outcome.unreadable_file, status);
  }
  uint64_t failures;
  {
    MutexLock lock(&mutex_);
    ForgetOldTroubles();
    Trouble& trouble = compaction_troubles_[work.id()];
    trouble.Failed(status, took);
    trouble.tablet = work.tablet;
    trouble.server = work.server->name();
    failures = trouble.pause.failures();
  }
  work.tablet->SetMayPickOther(true);
  info_log_->Warning("a compaction of table ", work.tablet->table_id(), ", group ", work.group,
                     " has failed, try ", failures, ": ", ToStd(status.message()));
  if (outcome.unreadable_file == 0) return;
  // ResourceExhausted: there was no room for an open file, which proves nothing about the file.
  if (failures >= kMostReadTries && !absl::IsResourceExhausted(status)) {
    QuarantineInput(work, outcome.unreadable_file, status);
  }
}

void BackgroundWork::QuarantineInput(const Work& work, uint64_t number,
                                     const absl::Status& status) {
  work.tablet->Quarantine(work.group, number, status);
  {
    MutexLock lock(&mutex_);
    compaction_troubles_.erase(work.id());
  }
  info_log_->Error("SSTable ", number, " of table ", work.tablet->table_id(),
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
  info_log_->Error("compactions have stopped: ", ToStd(status.message()));
  if (ListenerQueue* const events = work.server->environment()->events) {
    events->Push(&EventListener::OnBackgroundError,
                 {.time = absl::Now(),
                  .server = work.server->name(),
                  .stops = BackgroundErrorEvent::Stops::kCompactions,
                  .status = status});
  }
  MutexLock lock(&mutex_);
  compaction_error_ = status;
}

void BackgroundWork::ForgetOldTroubles() {
  std::erase_if(compaction_troubles_, [](const auto& entry) {
    const std::shared_ptr<const Tablet> tablet = entry.second.tablet.lock();
    return tablet == nullptr || tablet->flags().ended();
  });
}

absl::Status BackgroundWork::AnyTrouble() {
  ForgetOldTroubles();
  for (const auto& [server, trouble] : flush_troubles_) return trouble.status;
  if (pauses_ > 0) return absl::OkStatus();
  for (const auto& [id, trouble] : compaction_troubles_) return trouble.status;
  return absl::OkStatus();
}

void BackgroundWork::RetryForSpace() {
  MutexLock lock(&mutex_);
  const auto retry = [](auto* troubles) {
    for (auto& [key, trouble] : *troubles) {
      if (absl::IsResourceExhausted(trouble.status)) trouble.pause.TryNow();
    }
  };
  retry(&flush_troubles_);
  retry(&compaction_troubles_);
  for (auto& [server, pause] : upkeep_pauses_) pause.TryNow();
  ++wakes_;
  changed_.SignalAll();
}

bool BackgroundWork::IsFlushFailing(const TabletServer* server) const {
  MutexLock lock(&mutex_);
  return flush_troubles_.contains(server);
}

absl::Status BackgroundWork::StuckFlush() const {
  MutexLock lock(&mutex_);
  for (const auto& [server, trouble] : flush_troubles_) {
    if (absl::Nanoseconds(NowNanos() - trouble.begin) < kStuck) continue;
    return Annotate(trouble.status, Cat("memory is full, and memtables of server ", trouble.server,
                                        " cannot be flushed"));
  }
  return absl::OkStatus();
}

std::vector<FailingWork> BackgroundWork::Failing() const {
  std::vector<FailingWork> failing;
  MutexLock lock(&mutex_);
  const auto add = [&](FailingWork::Kind kind, const Trouble& trouble) {
    failing.push_back({.kind = kind,
                       .server = trouble.server,
                       .table = "",
                       .locality_group = "",
                       .end_row = std::nullopt,
                       .status = trouble.status,
                       .failures = trouble.pause.failures(),
                       .since = trouble.since});
  };
  for (const auto& [server, trouble] : flush_troubles_) add(FailingWork::Kind::kFlush, trouble);
  for (const auto& [id, trouble] : compaction_troubles_) {
    const std::shared_ptr<const Tablet> tablet = trouble.tablet.lock();
    if (tablet == nullptr || tablet->flags().ended()) continue;
    add(FailingWork::Kind::kCompaction, trouble);
    const EventLocation location = LocationOf(*tablet, *tablet->Layout(), id.second);
    failing.back().table = location.table;
    failing.back().locality_group = location.locality_group;
    failing.back().end_row = location.end_row;
  }
  return failing;
}

}  // namespace bigtable
