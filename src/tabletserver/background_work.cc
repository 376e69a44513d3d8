#include "tabletserver/background_work.h"

#include <algorithm>

#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

void BackgroundWork::Start(std::vector<TabletServer*> servers, int compaction_threads,
                           std::function<void()> on_progress) {
  on_progress_ = std::move(on_progress);
  {
    MutexLock lock(&mutex_);
    servers_ = std::move(servers);
  }
  CountRuns();
  threads_.emplace_back([this] { FlushLoop(); });
  threads_.emplace_back([this] { UpkeepLoop(); });
  for (int i = 0; i < compaction_threads; ++i) threads_.emplace_back([this] { CompactLoop(); });
}

void BackgroundWork::SetServers(std::vector<TabletServer*> servers) {
  MutexLock lock(&mutex_);
  servers_ = std::move(servers);
  held_since_.clear();
  changed_.SignalAll();
}

void BackgroundWork::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    cancel_.store(true);
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void BackgroundWork::Wake() {
  MutexLock lock(&mutex_);
  ++wakes_;
  changed_.SignalAll();
}

// --- Threads ---

void BackgroundWork::FlushLoop() {
  while (true) {
    FlushWork work;
    {
      MutexLock lock(&mutex_);
      while (!stopping_ && !FindFlush(&work)) {
        if (held_since_.empty()) {
          changed_.Wait(&mutex_);
        } else {
          changed_.WaitFor(&mutex_, kClaimPatience);
        }
      }
      if (stopping_) return;
      flushing_.insert(work.ids.begin(), work.ids.end());
    }
    const absl::Status status = RunFlush(&work);
    if (!status.ok()) work.server->SetError(status);
    Finished(&flushing_, work.ids);
  }
}

void BackgroundWork::CompactLoop() {
  constexpr absl::Duration kLookAtAll = absl::Seconds(10);
  while (true) {
    Work work;
    {
      MutexLock lock(&mutex_);
      while (!stopping_) {
        // Also without a change: files grow too old.
        if (absl::Now() - looked_at_all_ >= kLookAtAll) LookAtAll();
        if (FindCompaction(&work)) break;
        changed_.WaitFor(&mutex_, kLookAtAll);
      }
      if (stopping_) return;
      compacting_.insert(work.id());
    }
    const absl::Status status = RunCompaction(work, false);
    if (!status.ok() && !absl::IsCancelled(status) && !work.tablet->removed()) {
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
    Finished(&compacting_, {work.id()});
  }
}

void BackgroundWork::UpkeepLoop() {
  // Also without being asked, for logs whose segments were pinned by a reader until now.
  constexpr absl::Duration kInterval = absl::Milliseconds(500);
  uint64_t seen = 0;
  while (true) {
    std::vector<TabletServer*> servers;
    {
      MutexLock lock(&mutex_);
      if (!stopping_ && wakes_ == seen) changed_.WaitFor(&mutex_, kInterval);
      if (stopping_) return;
      seen = wakes_;
      servers = servers_;
    }
    for (TabletServer* server : servers) {
      if (server->RenewLock() != ServerLock::State::kHeld && on_progress_) on_progress_();
      if (const absl::Status status = server->TrimLogIfIdle(); !status.ok()) {
        info_log_->Warning("server ", server->name(),
                           ": a free log segment stays: ", ToStd(status.message()));
      }
      if (!server->LogNeedsUpkeep()) continue;
      if (const absl::Status status = server->MaintainLog(); !status.ok()) {
        info_log_->Warning("server ", server->name(),
                           ": the next log segment is not ready: ", ToStd(status.message()));
        absl::SleepFor(absl::Milliseconds(10));
      }
    }
  }
}

// --- Choosing ---

bool BackgroundWork::IsClaimed(const Tablet* tablet) const {
  const auto claim = claims_.find(tablet);
  return claim != claims_.end() && claim->second == Claim::kAll;
}

bool BackgroundWork::FindFlush(FlushWork* work) {
  for (TabletServer* server : servers_) {
    if (!server->error().ok()) continue;
    std::vector<FrozenMemtables> frozen = server->Frozen();
    const size_t claimed =
        std::erase_if(frozen, [&](const FrozenMemtables& memtables) ABSL_NO_THREAD_SAFETY_ANALYSIS {
          return IsClaimed(memtables.tablet.get());
        });
    std::erase_if(frozen, [&](const FrozenMemtables& memtables) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return flushing_.contains({memtables.tablet.get(), memtables.group});
    });
    if (!frozen.empty() && claimed > 0) {
      // A split is over in milliseconds. Without its tablet, the others' flush would need the log.
      const absl::Time since = held_since_.try_emplace(server, absl::Now()).first->second;
      if (absl::Now() < since + kClaimPatience) continue;
    }
    held_since_.erase(server);
    if (frozen.empty()) continue;
    *work = FlushWork(server, std::move(frozen));
    return true;
  }
  return false;
}

BackgroundWork::FlushWork::FlushWork(TabletServer* s, std::vector<FrozenMemtables> f)
    : server(s), frozen(std::move(f)) {
  if (frozen.size() > kMostTogether) frozen.resize(kMostTogether);
  for (const FrozenMemtables& memtables : frozen) {
    ids.emplace_back(memtables.tablet.get(), memtables.group);
  }
}

void BackgroundWork::LookAtAll() {
  looked_at_all_ = absl::Now();
  for (TabletServer* server : servers_) {
    for (const std::shared_ptr<Tablet>& tablet : server->Tablets()) tablet->SetMayPickOther(true);
  }
}

bool BackgroundWork::FindCompaction(Work* work) {
  if (pauses_ > 0 || cancelling_ > 0 || !compaction_error_.ok()) return false;
  for (TabletServer* server : servers_) {
    for (std::shared_ptr<Tablet>& tablet : server->Tablets()) {
      // A stopped one is going to move, or goes on.
      if (!tablet->MayPickOther()) continue;
      if (claims_.contains(tablet.get()) || tablet->stopped()) continue;
      tablet->SetMayPickOther(false);
      const size_t groups = tablet->Version()->groups().size();
      for (size_t group = 0; group < groups; ++group) {
        if (compacting_.contains({tablet.get(), group})) {
          // If it fails, nothing changes.
          tablet->SetMayPickOther(true);
          continue;
        }
        const auto pick = tablet->PickCompaction(group);
        if (!pick.has_value()) continue;
        tablet->SetMayPickOther(true);
        *work = {server, std::move(tablet), group, *pick};
        return true;
      }
    }
  }
  return false;
}

// --- Working ---

void BackgroundWork::Count(CompactionCounters* tablet, CompactionCounters* server,
                           LatencyRecorder* durations, const CompactionOutcome& outcome,
                           const absl::Status& status, int64_t nanos) {
  if (absl::IsCancelled(status)) return;
  if (!status.ok()) {
    tablet->Failed(nanos);
    server->Failed(nanos);
    return;
  }
  if (outcome.bytes_read + outcome.bytes_written + outcome.bytes_moved + outcome.bytes_dropped ==
      0) {
    return;  // there was nothing to do
  }
  tablet->Finished(outcome.bytes_read, outcome.bytes_written, nanos);
  server->Finished(outcome.bytes_read, outcome.bytes_written, nanos);
  durations->Record(nanos);
}

absl::Status BackgroundWork::RunFlush(FlushWork* work) {
  if (work->frozen.empty()) return absl::OkStatus();
  TabletServer* const server = work->server;
  const absl::Time start = absl::Now();
  uint64_t bytes = 0;
  MinorCompaction compaction(server->environment(), std::move(work->frozen));
  const absl::Status status = compaction.Run();
  for (const MinorCompaction::Part& part : compaction.parts()) {
    Count(&part.frozen.tablet->counters()->minor, &server->counters()->minor,
          &server->counters()->minor_compaction, part.outcome, part.status, part.nanos);
    if (!part.status.ok()) continue;
    bytes += part.outcome.bytes_written;
    MutexLock lock(&mutex_);
    ++counters_.minor_compactions;
    counters_.minor_bytes_written += part.outcome.bytes_written;
  }
  BT_RETURN_IF_ERROR(status);
  if (const absl::Status maintained = server->MaintainLog(); !maintained.ok()) {
    info_log_->Warning("server ", server->name(), ": ", ToStd(maintained.message()));
  }
  info_log_->Info("minor compaction of ", compaction.parts().size(), " locality groups: ", bytes,
                  " bytes in ", absl::FormatDuration(absl::Now() - start));
  return absl::OkStatus();
}

absl::Status BackgroundWork::RunCompaction(const Work& work, bool major) {
  CompactionOutcome outcome;
  const absl::Time start = absl::Now();
  const int64_t begin = NowNanos();
  const absl::Status compacted =
      work.tablet->Compact(work.group, work.pick, major, &cancel_, &outcome);
  Count(&work.tablet->counters()->merging, &work.server->counters()->merging,
        &work.server->counters()->merging_compaction, outcome, compacted, NowNanos() - begin);
  BT_RETURN_IF_ERROR(compacted);
  if (outcome.bytes_read + outcome.bytes_moved + outcome.bytes_dropped == 0) {
    return absl::OkStatus();
  }
  info_log_->Info(major ? "major" : "merging", " compaction of table ", work.tablet->table_id(),
                  ", group ", work.group, ": ", outcome.bytes_read, " bytes to ",
                  outcome.bytes_written, " in ", outcome.files_written, " files, ",
                  outcome.bytes_moved, " moved, ", outcome.bytes_dropped, " dropped, ",
                  absl::FormatDuration(absl::Now() - start));
  MutexLock lock(&mutex_);
  ++counters_.merging_compactions;
  if (major) ++counters_.major_compactions;
  counters_.merging_bytes_read += outcome.bytes_read;
  counters_.merging_bytes_written += outcome.bytes_written;
  counters_.moved_bytes += outcome.bytes_moved;
  counters_.dropped_bytes += outcome.bytes_dropped;
  return absl::OkStatus();
}

void BackgroundWork::Finished(WorkSet* set, const std::vector<WorkId>& ids) {
  CountRuns();
  {
    MutexLock lock(&mutex_);
    for (const WorkId& id : ids) set->erase(id);
    ++wakes_;
    changed_.SignalAll();
  }
  if (on_progress_) on_progress_();
}

void BackgroundWork::CountRuns() {
  std::vector<TabletServer*> servers;
  {
    MutexLock lock(&mutex_);
    servers = servers_;
  }
  size_t most = 0;
  for (TabletServer* server : servers) {
    for (const std::shared_ptr<Tablet>& tablet : server->Tablets()) {
      most = std::max(most, tablet->MostRuns());
    }
  }
  most_runs_.store(most, std::memory_order_relaxed);
}

// --- Waiting ---

absl::Status BackgroundWork::WaitForChange(const CallLimits& limits) {
  BT_RETURN_IF_ERROR(limits.Check());
  // A cancellation is not announced, so it is looked for.
  const bool may_end = limits.cancellation != nullptr || limits.given_up != nullptr;
  const absl::Duration most = may_end ? absl::Milliseconds(20) : absl::Seconds(1);
  changed_.WaitFor(&mutex_, std::min(most, limits.deadline - absl::Now()));
  return absl::OkStatus();
}

bool BackgroundWork::IsStopping() const {
  MutexLock lock(&mutex_);
  return stopping_;
}

void BackgroundWork::WaitForProgress(absl::Duration most) {
  MutexLock lock(&mutex_);
  if (!stopping_) changed_.WaitFor(&mutex_, most);
}

bool BackgroundWork::HasFlushes() const {
  std::vector<TabletServer*> servers;
  {
    MutexLock lock(&mutex_);
    servers = servers_;
  }
  return std::any_of(servers.begin(), servers.end(), [](TabletServer* server) {
    return server->error().ok() && server->HasFrozen();
  });
}

absl::Status BackgroundWork::FlushTablet(TabletServer* server,
                                         const std::shared_ptr<Tablet>& tablet,
                                         const CallLimits& limits) {
  BT_RETURN_IF_ERROR(limits.Check());
  server->FreezeAll(tablet.get());
  // What was frozen by now is what the call is for; what is frozen later is not waited for.
  std::vector<SequenceNumber> frozen;
  for (Pin<TabletVersion> version = tablet->Version();
       const GroupVersion& group : version->groups()) {
    frozen.push_back(group.frozen.empty() ? 0 : group.frozen.front()->last_sequence());
  }
  MutexLock lock(&mutex_);
  for (size_t group = 0; group < frozen.size(); ++group) {
    while (tablet->FlushedThrough(group) < frozen[group]) {
      if (stopping_) return absl::FailedPreconditionError("the database is closed");
      if (tablet->removed()) return absl::NotFoundError("the table was deleted");
      if (tablet->moved()) return absl::OkStatus();
      // A server that is lost will be replaced.
      if (server->serving()) BT_RETURN_IF_ERROR(server->error());
      BT_RETURN_IF_ERROR(WaitForChange(limits));
    }
  }
  return absl::OkStatus();
}

absl::Status BackgroundWork::FlushNow(TabletServer* server) {
  while (true) {
    FlushWork work;
    {
      MutexLock lock(&mutex_);
      // What is about to become another tablet, or another server's, is not written out by two; and
      // who has claimed it may need what the caller is about to let go of.
      const std::vector<std::shared_ptr<Tablet>> tablets = server->Tablets();
      if (std::any_of(tablets.begin(), tablets.end(),
                      [&](const auto& tablet)
                          ABSL_NO_THREAD_SAFETY_ANALYSIS { return IsClaimed(tablet.get()); })) {
        changed_.Wait(&mutex_);
        continue;
      }
      work = FlushWork(server, server->Frozen());
      if (work.ids.empty()) return absl::OkStatus();
      const auto is_flushed = [&](const WorkId& id)
                                  ABSL_NO_THREAD_SAFETY_ANALYSIS { return flushing_.contains(id); };
      if (std::any_of(work.ids.begin(), work.ids.end(), is_flushed)) {
        changed_.Wait(&mutex_);
        continue;
      }
      flushing_.insert(work.ids.begin(), work.ids.end());
    }
    const absl::Status status = RunFlush(&work);
    Finished(&flushing_, work.ids);
    BT_RETURN_IF_ERROR(status);
  }
}

absl::Status BackgroundWork::CompactTablet(TabletServer* server,
                                           const std::shared_ptr<Tablet>& tablet,
                                           const CallLimits& limits) {
  BT_RETURN_IF_ERROR(FlushTablet(server, tablet, limits));
  const size_t groups = tablet->Version()->groups().size();
  for (size_t group = 0; group < groups; ++group) {
    const Work work{server, tablet, group, {.first = 0, .count = SIZE_MAX}};
    {
      MutexLock lock(&mutex_);
      // One that is stopped is going to move, or goes on.
      while (compacting_.contains(work.id()) || claims_.contains(tablet.get()) ||
             tablet->stopped() || cancelling_ > 0) {
        if (stopping_ || tablet->moved() || tablet->removed()) break;
        BT_RETURN_IF_ERROR(WaitForChange(limits));
      }
      if (stopping_) return absl::FailedPreconditionError("the database is closed");
      if (tablet->removed()) return absl::NotFoundError("the table was deleted");
      if (tablet->moved()) return absl::OkStatus();
      compacting_.insert(work.id());
    }
    const absl::Status status = RunCompaction(work, true);
    Finished(&compacting_, {work.id()});
    BT_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

bool BackgroundWork::IsWorkedOn(const WorkSet& set, const Tablet* tablet) {
  return std::any_of(set.begin(), set.end(), [&](const auto& id) { return id.first == tablet; });
}

absl::Status BackgroundWork::ClaimTablet(const Tablet* tablet, const CallLimits& limits) {
  MutexLock lock(&mutex_);
  while (claims_.contains(tablet)) BT_RETURN_IF_ERROR(WaitUnlessStopping(limits));
  claims_[tablet] = Claim::kMergingCompactions;
  absl::Status status;
  while (status.ok() && IsWorkedOn(compacting_, tablet)) status = WaitUnlessStopping(limits);
  if (status.ok()) claims_[tablet] = Claim::kAll;
  while (status.ok() && IsWorkedOn(flushing_, tablet)) status = WaitUnlessStopping(limits);
  if (status.ok() && stopping_) status = WaitUnlessStopping(limits);
  if (!status.ok()) {
    claims_.erase(tablet);
    changed_.SignalAll();
  }
  return status;
}

absl::Status BackgroundWork::WaitUnlessStopping(const CallLimits& limits) {
  if (stopping_) return absl::FailedPreconditionError("the database is being closed");
  return WaitForChange(limits);
}

void BackgroundWork::ReleaseTablet(const Tablet* tablet) {
  MutexLock lock(&mutex_);
  claims_.erase(tablet);
  ++wakes_;
  changed_.SignalAll();
}

absl::Status BackgroundWork::FlushClaimed(TabletServer* server,
                                          const std::shared_ptr<Tablet>& tablet) {
  FlushWork work(server, FrozenOf(tablet));
  return RunFlush(&work);
}

void BackgroundWork::WaitForTablet(const Tablet* tablet) {
  // What a thread finds to do it looks for and claims under the lock.
  MutexLock lock(&mutex_);
  while (IsWorkedOn(flushing_, tablet) || IsWorkedOn(compacting_, tablet)) changed_.Wait(&mutex_);
}

absl::Status BackgroundWork::WaitUntilQuiet(const CallLimits& limits) {
  std::vector<TabletServer*> servers;
  {
    MutexLock lock(&mutex_);
    while (true) {
      bool is_one_lost = false;
      for (TabletServer* server : servers_) {
        is_one_lost |= server->ended();  // it will be replaced; what it failed of concerns nobody
        if (!server->ended()) BT_RETURN_IF_ERROR(server->error());
      }
      BT_RETURN_IF_ERROR(compaction_error_);
      if (stopping_) return absl::FailedPreconditionError("the database is closed");
      if (!is_one_lost && flushing_.empty() && compacting_.empty() && claims_.empty()) {
        FlushWork flush;
        Work compaction;
        LookAtAll();
        if (!FindFlush(&flush) && !FindCompaction(&compaction)) break;
        // The threads may not know: files grow too old without a change.
        changed_.SignalAll();
      }
      BT_RETURN_IF_ERROR(WaitForChange(limits));
    }
    servers = servers_;
  }
  // Nor is space taken that only work would need.
  for (TabletServer* server : servers) {
    if (const absl::Status status = server->TrimLog(); !status.ok()) {
      info_log_->Warning("server ", server->name(),
                         ": a free log segment stays: ", ToStd(status.message()));
    }
  }
  return absl::OkStatus();
}

void BackgroundWork::PauseCompactions() {
  MutexLock lock(&mutex_);
  ++pauses_;
}

void BackgroundWork::ContinueCompactions() {
  MutexLock lock(&mutex_);
  if (pauses_ > 0) --pauses_;
  changed_.SignalAll();
}

void BackgroundWork::CancelCompactions() {
  MutexLock lock(&mutex_);
  ++cancelling_;
  cancel_.store(true);
  while (!compacting_.empty()) changed_.Wait(&mutex_);
  if (--cancelling_ == 0 && !stopping_) cancel_.store(false);
  changed_.SignalAll();
}

absl::Status BackgroundWork::compaction_error() const {
  MutexLock lock(&mutex_);
  return compaction_error_;
}

void BackgroundWork::ClearError() {
  MutexLock lock(&mutex_);
  compaction_error_ = absl::OkStatus();
  changed_.SignalAll();
}

BackgroundWork::Counters BackgroundWork::counters() const {
  MutexLock lock(&mutex_);
  return counters_;
}

}  // namespace bigtable
