#include "background/background_work.h"

#include <algorithm>

#include "absl/base/macros.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"

#include "background/compaction_picker.h"
#include "background/joint_merge.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

absl::Status BackgroundWork::Start(std::vector<TabletServer*> servers, int compaction_threads,
                                   std::function<void()> on_progress) {
  on_progress_ = std::move(on_progress);
  {
    MutexLock lock(&mutex_);
    servers_ = std::move(servers);
  }
  CountRuns();
  for (const auto loop : {&BackgroundWork::FlushLoop, &BackgroundWork::UpkeepLoop}) {
    BT_ASSIGN_OR_RETURN(std::thread thread, StartThread([this, loop] { (this->*loop)(); }));
    threads_.push_back(std::move(thread));
  }
  return SetCompactionThreads(compaction_threads);
}

absl::Status BackgroundWork::SetCompactionThreads(int count) {
  if (threads_.empty()) return absl::OkStatus();
  MutexLock lock(&mutex_);
  changed_.SignalAll();
  const size_t before = std::exchange(wanted_compactors_, static_cast<size_t>(count));
  for (size_t i = 0; i < wanted_compactors_; ++i) {
    if (i == compactors_.size()) compactors_.emplace_back();
    Compactor& compactor = compactors_[i];
    if (!compactor.has_ended) continue;
    if (compactor.thread.joinable()) compactor.thread.join();
    absl::StatusOr<std::thread> started = StartThread([this, i] { CompactLoop(i); });
    if (!started.ok()) {
      wanted_compactors_ = before;
      return started.status();
    }
    compactor = {*std::move(started), false};
  }
  return absl::OkStatus();
}

void BackgroundWork::SetServers(std::vector<TabletServer*> servers) {
  MutexLock lock(&mutex_);
  servers_ = std::move(servers);
  held_since_.clear();
  const auto is_gone = [&](const auto& entry) {
    mutex_.AssertHeld();
    return std::find(servers_.begin(), servers_.end(), entry.first) == servers_.end();
  };
  std::erase_if(failed_flushes_, is_gone);
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
  std::deque<Compactor> compactors;
  {
    MutexLock lock(&mutex_);
    compactors.swap(compactors_);
  }
  for (Compactor& compactor : compactors) {
    if (compactor.thread.joinable()) compactor.thread.join();
  }
  MutexLock lock(&mutex_);
  ABSL_ASSERT(flushing_.empty() && compacting_.IsEmpty() && "all work has ended");
  servers_.clear();  // they may be deleted after this
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
      BeginFlush(work);
    }
    const absl::Status status = RunFlush(&work);
    if (!status.ok() && work.is_in_doubt) work.server->write_error().Set(status);
    FinishedFlush(work);
  }
}

void BackgroundWork::CompactLoop(size_t number) {
  constexpr absl::Duration kSearchAllInterval = absl::Seconds(10);
  while (true) {
    std::vector<Work> works(1);
    {
      MutexLock lock(&mutex_);
      while (!stopping_ && number < wanted_compactors_) {
        // Files grow too old without a change.
        if (!searched_all_at_.has_value() ||
            absl::Nanoseconds(NowNanos() - *searched_all_at_) >= kSearchAllInterval) {
          SearchAllTablets();
          continue;  // the lock was released
        }
        absl::Duration wait = kSearchAllInterval;
        if (FindCompaction(&works.front(), &wait)) break;
        changed_.WaitFor(&mutex_, wait);
      }
      if (stopping_) return;
      if (number >= wanted_compactors_) {
        compactors_[number].has_ended = true;
        return;
      }
      FindOthers(&works);
      for (Work& work : works) BeginCompaction(&work);
      // Others look for more, since only this thread may have known that it was time.
      changed_.SignalAll();
    }
    Work& first = works.front();
    if (!first.refused.ok()) {
      RecordCompaction(first, {}, first.refused, absl::ZeroDuration());
    } else if (works.size() > 1) {
      RunTogether(&works);
    } else {
      RunCompaction(&first, {}).IgnoreError();  // RecordCompaction has recorded it
    }
    FinishedCompactions(works);
  }
}

void BackgroundWork::UpkeepLoop() {
  // It also runs without a wake, for logs whose segments a reader had pinned until now.
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

// A writer that finds no segment ready tries to make one too, without a pause.
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
    const auto failed = failed_flushes_.find(server);
    if (!server->write_error().status().ok()) {
      if (failed != failed_flushes_.end())
        failed_flushes_.erase(failed);  // the error is reported instead
      continue;
    }
    if (failed != failed_flushes_.end() && !failed->second.pause.IsDue(now)) {
      *wait = std::min(*wait, failed->second.pause.Left(now));
      continue;
    }
    std::vector<ImmutableMemtables> immutable = server->rotation().MemtablesToFlush();
    const size_t claimed = std::erase_if(immutable, [&](const ImmutableMemtables& memtables) {
      mutex_.AssertHeld();
      return IsClaimed(memtables.tablet.get());
    });
    std::erase_if(immutable, [&](const ImmutableMemtables& memtables) {
      mutex_.AssertHeld();
      return flushing_.contains({memtables.tablet.get(), memtables.group});
    });
    if (!immutable.empty() && claimed > 0) {
      // A split takes milliseconds. Without its tablet, the flush of the others would need the log.
      const int64_t since = held_since_.try_emplace(server, now).first->second;
      if (absl::Nanoseconds(now - since) < kClaimTimeout) {
        *wait = std::min(*wait, kClaimTimeout);
        continue;
      }
    }
    held_since_.erase(server);
    if (immutable.empty()) {
      // The memtables that could not be flushed were dropped with their tablet.
      if (failed != failed_flushes_.end() && claimed == 0 && flushing_.empty()) {
        failed_flushes_.erase(failed);
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

void BackgroundWork::SearchAllTablets() {
  searched_all_at_ = NowNanos();
  const std::vector<TabletServer*> servers = servers_;
  mutex_.Unlock();  // a look at each file of ten thousand tablets takes some milliseconds
  SparseFiles sparse = FindSparseFiles(servers);
  mutex_.Lock();
  sparse_files_ = std::move(sparse);
  for (TabletServer* server : servers_) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All())
      tablet->SetMayPickOther(true);
  }
}

// Common files (shared_output.h) of which most was compacted away. What is left of them is written
// again, which is less than what is freed. A file is left alone if a tablet that names it is not
// here, because it moves or is not loaded yet.
SparseFiles BackgroundWork::FindSparseFiles(absl::Span<TabletServer* const> servers) {
  struct Found {
    uint64_t size = 0;
    uint64_t named = 0;  // the sum of the shares
    uint64_t tablets = 0;
    const SharedFiles* counts = nullptr;
  };
  absl::flat_hash_map<uint64_t, Found> files;
  for (TabletServer* server : servers) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      const Pin<TabletVersion> version = tablet->Version();
      for (const GroupVersion& group : version->groups()) {
        for (const GroupFiles::File& file : group.files->files()) {
          if (file.share == 0) continue;
          Found& found = files[file.table->info().file_number];
          found.size = file.table->info().size;
          found.named += file.share;
          ++found.tablets;
          found.counts = server->environment()->shared_files;
        }
      }
    }
  }
  SparseFiles sparse;
  for (const auto& [number, found] : files) {
    if (found.named >= found.size / 2 || found.counts == nullptr) continue;
    if (found.tablets == found.counts->Names(number)) sparse.insert(number);
  }
  return sparse;
}

void BackgroundWork::WaitForPolicy(Tablet* tablet, absl::Duration delay, absl::Duration* wait) {
  constexpr absl::Duration kMost = absl::Hours(1);
  delay = std::clamp(delay, CompactionPick::kLeastDelay, kMost);
  *wait = std::min(*wait, delay);
  const int64_t at = NowNanos() + absl::ToInt64Nanoseconds(delay);
  const int64_t before = tablet->pick_again_at();
  tablet->SetPickAgainAt(before == 0 ? at : std::min(before, at));
}

bool BackgroundWork::FindCompaction(Work* work, absl::Duration* wait) {
  if (pauses_ > 0 || cancelling_ > 0 || closing_ || !compaction_error_.ok()) return false;
  const int64_t now = NowNanos();
  for (TabletServer* server : servers_) {
    for (std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      const int64_t again_at = tablet->pick_again_at();
      if (!tablet->MayPickOther() && (again_at == 0 || now < again_at)) {
        if (again_at != 0) *wait = std::min(*wait, absl::Nanoseconds(again_at - now));
        continue;
      }
      // A stopped tablet is about to be superseded, or will take writes again.
      if (claims_.contains(tablet.get()) || tablet->flags().stopped()) continue;
      if (FindInTablet(server, tablet, work, wait)) return true;
    }
  }
  return false;
}

bool BackgroundWork::FindInTablet(TabletServer* server, const std::shared_ptr<Tablet>& tablet,
                                  Work* work, absl::Duration* wait) {
  tablet->SetMayPickOther(false);
  tablet->SetPickAgainAt(0);
  const size_t groups = tablet->Version()->groups().size();
  for (size_t group = 0; group < groups; ++group) {
    if (FindIn(server, tablet, group, work, wait)) return true;
  }
  return false;
}

bool BackgroundWork::FindIn(TabletServer* server, const std::shared_ptr<Tablet>& tablet,
                            size_t group, Work* work, absl::Duration* wait) {
  const int64_t now = NowNanos();
  const WorkId id = {tablet.get(), group};
  const auto failed = failed_compactions_.find(id);
  if (failed != failed_compactions_.end() && failed->second.tablet.lock() == tablet &&
      !failed->second.pause.IsDue(now)) {
    tablet->SetMayPickOther(true);
    *wait = std::min(*wait, failed->second.pause.Left(now));
    return false;
  }
  // The tablet is searched again when one of them ends.
  const std::vector<CompactionReach> running = compacting_.Of(id);
  if (compacting_.IsAwaited(id)) return false;
  if (!running.empty() && (failed != failed_compactions_.end() ||
                           running.size() >= MostCompactions(tablet.get(), group))) {
    return false;
  }
  absl::StatusOr<std::optional<CompactionPlan>> plan =
      PickCompaction(tablet.get(), group, running, sparse_files_);
  const bool waits =
      plan.ok() && plan->has_value() && (*plan)->pick.kind == CompactionPick::Kind::kWait;
  if (plan.ok() && (!plan->has_value() || waits)) {
    // A requested compaction has failed, and nothing retries it any more.
    if (failed != failed_compactions_.end()) failed_compactions_.erase(failed);
    if (waits) WaitForPolicy(tablet.get(), (*plan)->pick.delay, wait);
    return false;
  }
  tablet->SetMayPickOther(true);
  *work = {server, tablet, group};
  if (plan.ok()) {
    work->plan = **std::move(plan);
  } else {
    work->refused = plan.status();
  }
  return true;
}

// A compaction that has failed is retried alone, so that no other fails with it again.
void BackgroundWork::FindOthers(std::vector<Work>* works) {
  const auto is_taken = [&](const Work& work) {
    mutex_.AssertHeld();
    return work.refused.ok() && FailuresOf(work) == 0 &&
           JointMerge::Takes(*work.tablet, work.group, work.plan);
  };
  TabletServer* const server = works->front().server;
  const Tablet& first = *works->front().tablet;
  const size_t group = works->front().group;
  if (own_files_.contains(first.table_id()) || !is_taken(works->front())) return;
  constexpr int kMostMisses = 16;
  int misses = 0;
  uint64_t left = JointMerge::MostBytes(*server->environment());
  left -= std::min(left, works->front().plan.InputBytes(first.estimates()));
  for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
    if (works->size() == JointMerge::kMost || misses == kMostMisses) break;
    if (tablet->table_id() != first.table_id() || !tablet->MayPickOther()) continue;
    if (tablet->keys().begin() <= first.keys().begin()) continue;
    if (claims_.contains(tablet.get()) || tablet->flags().stopped()) continue;
    if (failed_compactions_.contains({tablet.get(), group})) continue;
    Work other;
    absl::Duration wait = absl::InfiniteDuration();
    if (!FindInTablet(server, tablet, &other, &wait)) continue;
    const uint64_t bytes = other.plan.InputBytes(tablet->estimates());
    if (other.group != group || !is_taken(other) ||
        other.plan.layout != works->front().plan.layout) {
      ++misses;  // it is planned again
      continue;
    }
    if (bytes > left) break;
    left -= bytes;
    works->push_back(std::move(other));
  }
}

// --- Progress ---

void BackgroundWork::BeginFlush(const FlushWork& work) {
  for (const WorkId& id : work.ids) {
    [[maybe_unused]] const bool is_new = flushing_.insert(id).second;
    ABSL_ASSERT(is_new && "one thread flushes a group");
  }
}

void BackgroundWork::BeginCompaction(Work* work) {
  work->running = compacting_.Begin(work->id(), work->plan.reach);
  work->failures = FailuresOf(*work);
  work->resumed = resumed_;
}

void BackgroundWork::FinishedFlush(const FlushWork& work) {
  CountRuns();
  {
    MutexLock lock(&mutex_);
    for (const WorkId& id : work.ids) {
      [[maybe_unused]] const size_t erased = flushing_.erase(id);
      ABSL_ASSERT(erased == 1 && "no two threads flush the same group");
    }
    ++wakes_;
    changed_.SignalAll();
  }
  if (on_progress_) on_progress_();
}

void BackgroundWork::FinishedCompactions(absl::Span<const Work> works) {
  CountRuns();
  {
    MutexLock lock(&mutex_);
    for (const Work& work : works) {
      compacting_.End(work.running);
      // Also if it has changed nothing, since picks may have waited for it.
      work.tablet->SetMayPickOther(true);
    }
    ++wakes_;
    changed_.SignalAll();
  }
  if (on_progress_) on_progress_();
}

// Tablets whose compactions fail do not count: writers must not wait for what does not get better.
void BackgroundWork::CountRuns() {
  std::vector<TabletServer*> servers;
  std::set<const Tablet*> failing;
  {
    MutexLock lock(&mutex_);
    servers = servers_;
    for (const auto& [id, failed] : failed_compactions_) failing.insert(id.first);
  }
  size_t most = 0;
  for (TabletServer* server : servers) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      if (!failing.contains(tablet.get())) most = std::max(most, tablet->MostRuns());
    }
  }
  meter_.SetMostRuns(most);
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

// --- Pauses and errors ---

bool BackgroundWork::AreCompactionsStopped() const {
  MutexLock lock(&mutex_);
  return AreStopped();
}

bool BackgroundWork::AreStopped() const {
  return pauses_ > 0 || cancelling_ > 0 || !compaction_error_.ok();
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
  while (!compacting_.IsEmpty()) changed_.Wait(&mutex_);
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
    ++resumed_;
    for (auto& [server, failed] : failed_flushes_) failed.pause.TryNow();
    failed_compactions_.clear();
    upkeep_pauses_.clear();
  }
  for (TabletServer* server : servers) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      tablet->LiftQuarantine();
      tablet->pending_collection()->Settle();
    }
  }
  Wake();
}

}  // namespace bigtable
