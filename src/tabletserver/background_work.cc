#include "tabletserver/background_work.h"

#include <algorithm>

#include "absl/time/clock.h"

#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"
#include "monitoring/thread_calls.h"
#include "tablet/compaction_picker.h"
#include "tablet/merging_compaction.h"

namespace bigtable {

absl::Status BackgroundWork::Start(std::vector<TabletServer*> servers, int compaction_threads,
                                   std::function<void()> on_progress) {
  on_progress_ = std::move(on_progress);
  {
    MutexLock lock(&mutex_);
    servers_ = std::move(servers);
  }
  CountRuns();
  std::vector<void (BackgroundWork::*)()> loops = {&BackgroundWork::FlushLoop,
                                                   &BackgroundWork::UpkeepLoop};
  loops.insert(loops.end(), static_cast<size_t>(compaction_threads), &BackgroundWork::CompactLoop);
  for (const auto loop : loops) {
    BT_ASSIGN_OR_RETURN(std::thread thread, StartThread([this, loop] { (this->*loop)(); }));
    threads_.push_back(std::move(thread));
  }
  return absl::OkStatus();
}

void BackgroundWork::SetServers(std::vector<TabletServer*> servers) {
  MutexLock lock(&mutex_);
  servers_ = std::move(servers);
  held_since_.clear();
  const auto is_gone = [&](const auto& entry) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return std::find(servers_.begin(), servers_.end(), entry.first) == servers_.end();
  };
  std::erase_if(flush_troubles_, is_gone);
  std::erase_if(upkeep_pauses_, is_gone);
  changed_.SignalAll();
}

void BackgroundWork::BeginClosing() {
  MutexLock lock(&mutex_);
  closing_ = true;
  cancel_.store(true);
  WakeLimited();
  changed_.SignalAll();
}

void BackgroundWork::Stop() {
  BeginClosing();
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  MutexLock lock(&mutex_);
  servers_.clear();  // which may end now
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
      while (!stopping_) {
        absl::Duration wait = absl::InfiniteDuration();
        if (FindFlush(&work, &wait)) break;
        changed_.WaitFor(&mutex_, wait);
      }
      if (stopping_) return;
      flushing_.insert(work.ids.begin(), work.ids.end());
    }
    const absl::Status status = RunFlush(&work);
    if (!status.ok() && work.is_in_doubt) work.server->write_error().Set(status);
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
        if (!looked_at_all_.has_value() ||
            absl::Nanoseconds(NowNanos() - *looked_at_all_) >= kLookAtAll) {
          LookAtAll();
        }
        absl::Duration wait = kLookAtAll;
        if (FindCompaction(&work, &wait)) break;
        changed_.WaitFor(&mutex_, wait);
      }
      if (stopping_) return;
      compacting_.insert(work.id());
    }
    RunCompaction(work, false, {}).IgnoreError();  // it is noted
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
      if (server->state().Renew() != ServerLock::State::kHeld && on_progress_) on_progress_();
      Upkeep(server);
    }
  }
}

// Whoever writes and finds no segment ready tries to make one, too, without a pause.
void BackgroundWork::Upkeep(TabletServer* server) {
  {
    MutexLock lock(&mutex_);
    const auto pause = upkeep_pauses_.find(server);
    if (pause != upkeep_pauses_.end() && !pause->second.IsDue(NowNanos())) return;
  }
  absl::Status status = server->log().TrimIfIdle();
  if (!status.ok()) {
    info_log_->Warning("server ", server->name(),
                       ": a free log segment stays: ", ToStd(status.message()));
  }
  if (server->log().NeedsUpkeep()) {
    const absl::Status maintained = server->log().Maintain();
    if (!maintained.ok()) {
      info_log_->Warning("server ", server->name(),
                         ": the next log segment is not ready: ", ToStd(maintained.message()));
    }
    status.Update(maintained);
  }
  MutexLock lock(&mutex_);
  if (status.ok()) {
    upkeep_pauses_.erase(server);
  } else {
    upkeep_pauses_[server].Failed(NowNanos());
  }
}

// --- Choosing ---

bool BackgroundWork::IsClaimed(const Tablet* tablet) const {
  const auto claim = claims_.find(tablet);
  return claim != claims_.end() && claim->second == Claim::kAll;
}

bool BackgroundWork::FindFlush(FlushWork* work, absl::Duration* wait) {
  const int64_t now = NowNanos();
  for (TabletServer* server : servers_) {
    const auto trouble = flush_troubles_.find(server);
    if (!server->write_error().status().ok()) {
      if (trouble != flush_troubles_.end()) flush_troubles_.erase(trouble);  // the error says more
      continue;
    }
    if (trouble != flush_troubles_.end() && !trouble->second.pause.IsDue(now)) {
      *wait = std::min(*wait, trouble->second.pause.Left(now));
      continue;
    }
    std::vector<ImmutableMemtables> immutable = server->rotation().MemtablesToFlush();
    const size_t claimed = std::erase_if(
        immutable, [&](const ImmutableMemtables& memtables) ABSL_NO_THREAD_SAFETY_ANALYSIS {
          return IsClaimed(memtables.tablet.get());
        });
    std::erase_if(immutable,
                  [&](const ImmutableMemtables& memtables) ABSL_NO_THREAD_SAFETY_ANALYSIS {
                    return flushing_.contains({memtables.tablet.get(), memtables.group});
                  });
    if (!immutable.empty() && claimed > 0) {
      // A split is over in milliseconds. Without its tablet, the others' flush would need the log.
      const int64_t since = held_since_.try_emplace(server, now).first->second;
      if (absl::Nanoseconds(now - since) < kClaimTimeout) {
        *wait = std::min(*wait, kClaimTimeout);
        continue;
      }
    }
    held_since_.erase(server);
    if (immutable.empty()) {
      // What could not be written out has gone, with its tablet.
      if (trouble != flush_troubles_.end() && claimed == 0 && flushing_.empty()) {
        flush_troubles_.erase(trouble);
      }
      continue;
    }
    *work = FlushWork(server, std::move(immutable));
    return true;
  }
  return false;
}

BackgroundWork::FlushWork::FlushWork(TabletServer* s, std::vector<ImmutableMemtables> f)
    : server(s), immutable(std::move(f)) {
  if (immutable.size() > kMostTogether) immutable.resize(kMostTogether);
  for (const ImmutableMemtables& memtables : immutable) {
    ids.emplace_back(memtables.tablet.get(), memtables.group);
  }
}

void BackgroundWork::LookAtAll() {
  looked_at_all_ = NowNanos();
  for (TabletServer* server : servers_) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All())
      tablet->SetMayPickOther(true);
  }
}

bool BackgroundWork::FindCompaction(Work* work, absl::Duration* wait) {
  if (pauses_ > 0 || cancelling_ > 0 || closing_ || !compaction_error_.ok()) return false;
  const int64_t now = NowNanos();
  for (TabletServer* server : servers_) {
    for (std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      // A stopped one is going to move, or goes on.
      if (!tablet->MayPickOther()) continue;
      if (claims_.contains(tablet.get()) || tablet->flags().stopped()) continue;
      tablet->SetMayPickOther(false);
      const size_t groups = tablet->Version()->groups().size();
      for (size_t group = 0; group < groups; ++group) {
        if (compacting_.contains({tablet.get(), group})) {
          // If it fails, nothing changes.
          tablet->SetMayPickOther(true);
          continue;
        }
        const auto trouble = compaction_troubles_.find({tablet.get(), group});
        if (trouble != compaction_troubles_.end() && trouble->second.tablet.lock() == tablet &&
            !trouble->second.pause.IsDue(now)) {
          tablet->SetMayPickOther(true);
          *wait = std::min(*wait, trouble->second.pause.Left(now));
          continue;
        }
        const auto pick = PickCompaction(*tablet, group);
        if (!pick.has_value()) {
          // It was somebody's request that has failed, and nobody waits for it any more.
          if (trouble != compaction_troubles_.end()) compaction_troubles_.erase(trouble);
          continue;
        }
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
  if (work->immutable.empty()) return absl::OkStatus();
  TabletServer* const server = work->server;
  const int64_t begin = NowNanos();
  uint64_t in_memory = 0;
  for (const ImmutableMemtables& immutable : work->immutable) {
    for (const Ref<Memtable>& memtable : immutable.memtables) in_memory += memtable->bytes();
  }
  uint64_t bytes = 0;
  MinorCompaction compaction(server->environment(), std::move(work->immutable));
  flush_speed_.Begin(in_memory);
  const absl::Status status = compaction.Run();
  flush_speed_.End(in_memory, status.ok() ? in_memory : 0);
  work->is_in_doubt = compaction.is_in_doubt();
  NoteFlush(*work, status);
  for (const MinorCompaction::Part& part : compaction.parts()) {
    Count(&part.immutable.tablet->counters()->minor, &server->counters()->minor,
          &server->counters()->minor_compaction, part.outcome, part.status, part.nanos);
    if (!part.status.ok()) continue;
    bytes += part.outcome.bytes_written;
    WarnOfFutureCells(part);
    MutexLock lock(&mutex_);
    ++counters_.minor_compactions;
    counters_.minor_bytes_written += part.outcome.bytes_written;
  }
  BT_RETURN_IF_ERROR(status);
  NoteExpansion(in_memory, bytes);
  if (const absl::Status maintained = server->log().Maintain(); !maintained.ok()) {
    info_log_->Warning("server ", server->name(), ": ", ToStd(maintained.message()));
  }
  info_log_->Info("minor compaction of ", compaction.parts().size(), " locality groups: ", bytes,
                  " bytes in ", absl::FormatDuration(absl::Nanoseconds(NowNanos() - begin)));
  return absl::OkStatus();
}

void BackgroundWork::WarnOfFutureCells(const MinorCompaction::Part& part) {
  if (!part.HasFutureCells()) return;
  const std::shared_ptr<const TableLayout> layout = part.immutable.tablet->Layout();
  {
    MutexLock lock(&mutex_);
    if (!warned_of_.insert({layout->table_id, part.immutable.group}).second) return;
  }
  info_log_->Warning(
      "table ", layout->name, " has cells that are dated more than a day ahead, in a",
      " locality group with MaxVersions: later writes to their columns may be", " invisible");
}

void BackgroundWork::NoteExpansion(uint64_t in_memory, uint64_t file_bytes) {
  constexpr uint64_t kLeast = 1 << 20;  // of less the files have mostly what every file has
  if (in_memory < kLeast || file_bytes == 0) return;
  const double known = expansion_.load(std::memory_order_relaxed);
  const double seen = static_cast<double>(in_memory) / static_cast<double>(file_bytes);
  expansion_.store(known + (seen - known) / 4, std::memory_order_relaxed);
}

uint64_t BackgroundWork::AsInMemory(uint64_t file_bytes) const {
  return static_cast<uint64_t>(static_cast<double>(file_bytes) *
                               expansion_.load(std::memory_order_relaxed));
}

uint64_t BackgroundWork::InputBytes(const Work& work) {
  const Pin<TabletVersion> version = work.tablet->Version();
  const std::vector<SortedRun>& runs = version->groups()[work.group].runs;
  // Of a push, it is a file of the first of two.
  const size_t count = work.pick.kind == CompactionPick::Kind::kMerge ? work.pick.count : 2;
  uint64_t bytes = 0;
  for (size_t i = work.pick.first; i < runs.size() && i - work.pick.first < count; ++i) {
    bytes += runs[i].bytes();
  }
  return bytes;
}

absl::Status BackgroundWork::RunCompaction(const Work& work, bool major, const CallLimits& limits) {
  MergingCompaction compaction(work.tablet.get(), work.group, work.pick, major);
  const CompactionOutcome& outcome = compaction.outcome();
  const int64_t begin = NowNanos();
  const uint64_t expected = AsInMemory(InputBytes(work));
  compaction_speed_.Begin(expected);
  const absl::Status compacted = compaction.Run(&cancel_, limits);
  compaction_speed_.End(expected, compacted.ok() ? AsInMemory(outcome.bytes_read) : 0);
  Count(&work.tablet->counters()->merging, &work.server->counters()->merging,
        &work.server->counters()->merging_compaction, outcome, compacted, NowNanos() - begin);
  // A call that has run into its own limits says nothing of the files.
  if (compacted.ok() || outcome.is_in_doubt || limits.Check().ok()) {
    NoteCompaction(work, outcome, compacted, absl::Nanoseconds(NowNanos() - begin));
  }
  BT_RETURN_IF_ERROR(compacted);
  if (outcome.bytes_read + outcome.bytes_moved + outcome.bytes_dropped == 0) {
    return absl::OkStatus();
  }
  info_log_->Info(major ? "major" : "merging", " compaction of table ", work.tablet->table_id(),
                  ", group ", work.group, ": ", outcome.bytes_read, " bytes to ",
                  outcome.bytes_written, " in ", outcome.files_written, " files, ",
                  outcome.bytes_moved, " moved, ", outcome.bytes_dropped, " dropped, ",
                  absl::FormatDuration(absl::Nanoseconds(NowNanos() - begin)));
  MutexLock lock(&mutex_);
  ++counters_.merging_compactions;
  if (major) ++counters_.major_compactions;
  counters_.merging_bytes_read += outcome.bytes_read;
  counters_.merging_bytes_written += outcome.bytes_written;
  counters_.moved_bytes += outcome.bytes_moved;
  counters_.dropped_bytes += outcome.bytes_dropped;
  return absl::OkStatus();
}

// --- Progress ---

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

// Without those of tablets whose compactions fail: no writer waits for what does not get better.
void BackgroundWork::CountRuns() {
  std::vector<TabletServer*> servers;
  std::set<const Tablet*> failing;
  {
    MutexLock lock(&mutex_);
    servers = servers_;
    for (const auto& [id, trouble] : compaction_troubles_) failing.insert(id.first);
  }
  size_t most = 0;
  for (TabletServer* server : servers) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      if (!failing.contains(tablet.get())) most = std::max(most, tablet->MostRuns());
    }
  }
  most_runs_.store(most, std::memory_order_relaxed);
}

// --- Waiting ---

absl::Status BackgroundWork::WaitForChange(const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckOpen());
  BT_RETURN_IF_ERROR(limits.Check());
  changed_.WaitFor(&mutex_, std::min(limits.MostSleep(), absl::Seconds(1)));
  return absl::OkStatus();
}

absl::Status BackgroundWork::CheckOpen() const {
  return closing_ ? absl::FailedPreconditionError("the database is closed") : absl::OkStatus();
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
    return server->write_error().status().ok() && server->rotation().HasImmutable();
  });
}

absl::Status BackgroundWork::FlushTablet(TabletServer* server,
                                         const std::shared_ptr<Tablet>& tablet,
                                         const CallLimits& limits) {
  BT_RETURN_IF_ERROR(limits.Check());
  uint64_t last;
  {
    MutexLock lock(&mutex_);
    last = flush_failures_;
    const auto trouble = flush_troubles_.find(server);
    if (trouble != flush_troubles_.end()) trouble->second.pause.TryNow();
  }
  server->rotation().RotateAll(tablet.get());
  // What was rotated by now is what the call is for; what is rotated later is not waited for.
  std::vector<SequenceNumber> immutable;
  for (Pin<TabletVersion> version = tablet->Version();
       const GroupVersion& group : version->groups()) {
    immutable.push_back(group.immutable.empty() ? 0 : group.immutable.front()->last_sequence());
  }
  MutexLock lock(&mutex_);
  for (size_t group = 0; group < immutable.size(); ++group) {
    BT_RETURN_IF_ERROR(AwaitFlush(server, *tablet, group, immutable[group], last, limits));
  }
  return absl::OkStatus();
}

absl::Status BackgroundWork::AwaitFlush(TabletServer* server, const Tablet& tablet, size_t group,
                                        SequenceNumber through, uint64_t last,
                                        const CallLimits& limits) {
  while (tablet.FlushedThrough(group) < through) {
    if (tablet.flags().removed()) return absl::NotFoundError("the table was deleted");
    if (tablet.flags().superseded()) return absl::OkStatus();
    // A server that is lost will be replaced.
    if (server->state().serving()) {
      BT_RETURN_IF_ERROR(server->write_error().status());
      const auto trouble = flush_troubles_.find(server);
      if (trouble != flush_troubles_.end() && trouble->second.last > last) {
        return trouble->second.status;
      }
    }
    BT_RETURN_IF_ERROR(WaitForChange(limits));
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
      const std::vector<std::shared_ptr<Tablet>> tablets = server->tablets().All();
      if (std::any_of(tablets.begin(), tablets.end(),
                      [&](const auto& tablet)
                          ABSL_NO_THREAD_SAFETY_ANALYSIS { return IsClaimed(tablet.get()); })) {
        changed_.Wait(&mutex_);
        continue;
      }
      work = FlushWork(server, server->rotation().MemtablesToFlush());
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
  absl::Status damaged;
  for (size_t group = 0; group < groups; ++group) {
    const Work work{server, tablet, group, {.first = 0, .count = SIZE_MAX}};
    {
      MutexLock lock(&mutex_);
      // One that is stopped is going to move, or goes on.
      while (compacting_.contains(work.id()) || claims_.contains(tablet.get()) ||
             tablet->flags().stopped() || cancelling_ > 0) {
        if (tablet->flags().ended()) break;
        BT_RETURN_IF_ERROR(WaitForChange(limits));
      }
      BT_RETURN_IF_ERROR(CheckOpen());
      if (tablet->flags().removed()) return absl::NotFoundError("the table was deleted");
      if (tablet->flags().superseded()) return absl::OkStatus();
      compacting_.insert(work.id());
    }
    absl::Status status = tablet->quarantine().Check(group);
    if (status.ok()) status = RunCompaction(work, true, limits);
    Finished(&compacting_, {work.id()});
    if (absl::IsCancelled(status)) {
      MutexLock lock(&mutex_);
      BT_RETURN_IF_ERROR(CheckOpen());
    }
    if (!absl::IsDataLoss(status)) BT_RETURN_IF_ERROR(status);
    damaged.Update(status);
  }
  return damaged;
}

bool BackgroundWork::IsWorkedOn(const WorkSet& set, const Tablet* tablet) {
  return std::any_of(set.begin(), set.end(), [&](const auto& id) { return id.first == tablet; });
}

absl::Status BackgroundWork::ClaimTablet(const Tablet* tablet, const CallLimits& limits) {
  MutexLock lock(&mutex_);
  while (claims_.contains(tablet)) BT_RETURN_IF_ERROR(WaitForChange(limits));
  claims_[tablet] = Claim::kMergingCompactions;
  absl::Status status;
  while (status.ok() && IsWorkedOn(compacting_, tablet)) status = WaitForChange(limits);
  if (status.ok()) claims_[tablet] = Claim::kAll;
  while (status.ok() && IsWorkedOn(flushing_, tablet)) status = WaitForChange(limits);
  if (status.ok()) status = CheckOpen();
  if (!status.ok()) {
    claims_.erase(tablet);
    changed_.SignalAll();
  }
  return status;
}

void BackgroundWork::ReleaseTablet(const Tablet* tablet) {
  MutexLock lock(&mutex_);
  claims_.erase(tablet);
  ++wakes_;
  changed_.SignalAll();
}

absl::Status BackgroundWork::FlushClaimed(TabletServer* server,
                                          const std::shared_ptr<Tablet>& tablet) {
  FlushWork work(server, ImmutableMemtablesOf(tablet));
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
        is_one_lost |=
            server->state().ended();  // it will be replaced; what it failed of concerns nobody
        if (!server->state().ended()) BT_RETURN_IF_ERROR(server->write_error().status());
      }
      BT_RETURN_IF_ERROR(compaction_error_);
      BT_RETURN_IF_ERROR(AnyTrouble());
      BT_RETURN_IF_ERROR(CheckOpen());
      if (!is_one_lost && flushing_.empty() && compacting_.empty() && claims_.empty()) {
        FlushWork flush;
        Work compaction;
        absl::Duration wait;
        LookAtAll();
        if (!FindFlush(&flush, &wait) && !FindCompaction(&compaction, &wait)) break;
        // The threads may not know: files grow too old without a change.
        changed_.SignalAll();
      }
      BT_RETURN_IF_ERROR(WaitForChange(limits));
    }
    servers = servers_;
  }
  // Nor is space taken that only work would need.
  for (TabletServer* server : servers) {
    if (const absl::Status status = server->log().Trim(); !status.ok()) {
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
  WakeLimited();
  while (!compacting_.empty()) changed_.Wait(&mutex_);
  if (--cancelling_ == 0 && !closing_) cancel_.store(false);
  changed_.SignalAll();
}

void BackgroundWork::WakeLimited() {
  for (TabletServer* server : servers_) {
    if (RateLimiter* const limiter = server->environment()->rate_limiter) limiter->Wake();
  }
}

absl::Status BackgroundWork::compaction_error() const {
  MutexLock lock(&mutex_);
  return compaction_error_;
}

void BackgroundWork::ClearError() {
  std::vector<TabletServer*> servers;
  {
    MutexLock lock(&mutex_);
    servers = servers_;
    compaction_error_ = absl::OkStatus();
    for (auto& [server, trouble] : flush_troubles_) trouble.pause.TryNow();
    compaction_troubles_.clear();
    upkeep_pauses_.clear();
  }
  for (TabletServer* server : servers) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) tablet->LiftQuarantine();
  }
  Wake();
}

BackgroundWork::Counters BackgroundWork::counters() const {
  MutexLock lock(&mutex_);
  return counters_;
}

}  // namespace bigtable
