// What callers request of BackgroundWork: flushes and compactions of a tablet, claims of tablets,
// and waits.
#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "background/background_work.h"
#include "base/status.h"
#include "base/strings.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

absl::Status BackgroundWork::WaitForChange(const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckOpen());
  BT_RETURN_IF_ERROR(limits.Check());
  changed_.WaitFor(&mutex_, std::min(limits.MostSleep(), absl::Seconds(1)));
  return absl::OkStatus();
}

absl::Status BackgroundWork::CheckOpen() const {
  return closing_ ? absl::FailedPreconditionError("the database is closed") : absl::OkStatus();
}

uint64_t BackgroundWork::BeginWaiting(TabletServer* server) {
  MutexLock lock(&mutex_);
  const auto failed = failed_flushes_.find(server);
  if (failed != failed_flushes_.end()) failed->second.pause.TryNow();
  return flush_failures_;
}

BackgroundWork::Immutable BackgroundWork::ImmutableOf(std::shared_ptr<Tablet> tablet,
                                                      SequenceNumber due_through) {
  Immutable immutable;
  for (Pin<TabletVersion> version = tablet->Version();
       const GroupVersion& group : version->groups()) {
    const auto newest_due = std::find_if(
        group.immutable.begin(), group.immutable.end(),
        [&](const auto& memtable) { return memtable->last_sequence() <= due_through; });
    immutable.last.push_back(newest_due == group.immutable.end() ? 0
                                                                 : (*newest_due)->last_sequence());
  }
  immutable.tablet = std::move(tablet);
  return immutable;
}

absl::Status BackgroundWork::FlushTablets(TabletServer* server,
                                          absl::Span<const std::shared_ptr<Tablet>> tablets,
                                          const CallLimits& limits) {
  BT_RETURN_IF_ERROR(limits.Check());
  const uint64_t last_failure = BeginWaiting(server);
  BT_RETURN_IF_ERROR(server->rotation().RotateAll(tablets, limits));
  const SequenceNumber due_through = server->rotation().DueThrough();
  std::vector<Immutable> all;
  for (const std::shared_ptr<Tablet>& tablet : tablets) {
    all.push_back(ImmutableOf(tablet, due_through));
  }
  MutexLock lock(&mutex_);
  for (const Immutable& immutable : all) {
    BT_RETURN_IF_ERROR(AwaitFlushes(server, immutable, last_failure, limits));
  }
  return absl::OkStatus();
}

BackgroundWork::OwnFiles::OwnFiles(BackgroundWork* background, uint64_t table_id)
    : background_(background), table_id_(table_id) {
  MutexLock lock(&background_->mutex_);
  background_->own_files_.insert(table_id_);
}

BackgroundWork::OwnFiles::~OwnFiles() {
  MutexLock lock(&background_->mutex_);
  background_->own_files_.erase(background_->own_files_.find(table_id_));
}

absl::Status BackgroundWork::FlushServer(TabletServer* server, const CallLimits& limits) {
  BT_RETURN_IF_ERROR(limits.Check());
  const uint64_t last_failure = BeginWaiting(server);
  BT_RETURN_IF_ERROR(server->rotation().RotateEverything(limits));
  // What a split rotates after this waits for others to be due, perhaps for ever.
  const SequenceNumber due_through = server->rotation().DueThrough();
  std::vector<Immutable> all;
  for (std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
    all.push_back(ImmutableOf(std::move(tablet), due_through));
  }
  MutexLock lock(&mutex_);
  for (const Immutable& immutable : all) {
    const absl::Status flushed = AwaitFlushes(server, immutable, last_failure, limits);
    if (!absl::IsNotFound(flushed)) BT_RETURN_IF_ERROR(flushed);  // its table was deleted
  }
  return absl::OkStatus();
}

absl::Status BackgroundWork::AwaitFlushes(TabletServer* server, const Immutable& immutable,
                                          uint64_t last_failure, const CallLimits& limits) {
  for (size_t group = 0; group < immutable.last.size(); ++group) {
    BT_RETURN_IF_ERROR(
        AwaitFlush(server, *immutable.tablet, group, immutable.last[group], last_failure, limits));
  }
  return absl::OkStatus();
}

absl::Status BackgroundWork::AwaitFlush(TabletServer* server, const Tablet& tablet, size_t group,
                                        SequenceNumber through, uint64_t last,
                                        const CallLimits& limits) {
  while (tablet.FlushedThrough(group) < through) {
    if (tablet.flags().removed()) return absl::NotFoundError("the table was deleted");
    if (tablet.flags().superseded()) return absl::OkStatus();
    // A server that has lost its lock will be replaced. It lost it before it had an error that says
    // so.
    absl::Status error = server->write_error().status();
    if (server->state().serving()) {
      BT_RETURN_IF_ERROR(std::move(error));
      const auto failed = failed_flushes_.find(server);
      if (failed != failed_flushes_.end() && failed->second.last > last) {
        return failed->second.status;
      }
    }
    BT_RETURN_IF_ERROR(WaitForChange(limits));
  }
  return absl::OkStatus();
}

absl::Status BackgroundWork::FlushNow(TabletServer* server, const CallLimits& limits) {
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    FlushWork work;
    {
      MutexLock lock(&mutex_);
      // A tablet that is about to be split, merged or moved must not be flushed twice; and the
      // thread that has claimed it may need the log that the caller is about to drop.
      const std::vector<std::shared_ptr<Tablet>> tablets = server->tablets().All();
      if (std::any_of(tablets.begin(), tablets.end(), [&](const auto& tablet) {
            mutex_.AssertHeld();
            return IsClaimed(tablet.get());
          })) {
        changed_.WaitFor(&mutex_, limits.MostSleep());
        continue;
      }
      work = FlushWork(server, server->rotation().MemtablesToFlush());
      if (work.ids.empty()) return absl::OkStatus();
      const auto is_flushed = [&](const WorkId& id) {
        mutex_.AssertHeld();
        return flushing_.contains(id);
      };
      if (std::any_of(work.ids.begin(), work.ids.end(), is_flushed)) {
        changed_.WaitFor(&mutex_, limits.MostSleep());
        continue;
      }
      BeginFlush(work);
    }
    const absl::Status status = RunFlush(&work);
    FinishedFlush(work);
    BT_RETURN_IF_ERROR(status);
  }
}

absl::Status BackgroundWork::CompactTablet(TabletServer* server,
                                           const std::shared_ptr<Tablet>& tablet,
                                           const CallLimits& limits, IfStopped if_stopped) {
  BT_RETURN_IF_ERROR(FlushTablet(server, tablet, limits));
  const size_t groups = tablet->Version()->groups().size();
  absl::Status damaged;
  for (size_t group = 0; group < groups; ++group) {
    Work work{server, tablet, group};
    work.plan.reach = CompactionReach::Everything();
    {
      MutexLock lock(&mutex_);
      BT_RETURN_IF_ERROR(AwaitCompactions(work, limits));
      BT_RETURN_IF_ERROR(CheckOpen());
      if (tablet->flags().removed()) return absl::NotFoundError("the table was deleted");
      if (tablet->flags().superseded()) return absl::OkStatus();
      if (if_stopped == IfStopped::kRefuse && AreStopped()) {
        return absl::UnavailableError("compactions are stopped");
      }
      BeginCompaction(&work);
    }
    absl::Status status = tablet->quarantine().Check(group);
    if (status.ok()) {
      work.plan = PlanOf(TabletMoment(*tablet), group, {.first = 0, .count = SIZE_MAX}, true);
      status = RunCompaction(&work, limits);
    }
    FinishedCompactions({&work, 1});
    if (absl::IsCancelled(status)) {
      MutexLock lock(&mutex_);
      BT_RETURN_IF_ERROR(CheckOpen());
    }
    if (!absl::IsDataLoss(status)) BT_RETURN_IF_ERROR(status);
    damaged.Update(status);
  }
  return damaged;
}

absl::Status BackgroundWork::AwaitCompactions(const Work& work, const CallLimits& limits) {
  const Tablet& tablet = *work.tablet;
  compacting_.BeginWait(work.id());
  absl::Status status;
  // A stopped tablet is about to be superseded, or will take writes again.
  while (status.ok() && !tablet.flags().ended() &&
         (!compacting_.Of(work.id()).empty() || claims_.contains(&tablet) ||
          tablet.flags().stopped() || cancelling_ > 0)) {
    status = WaitForChange(limits);
  }
  compacting_.EndWait(work.id());
  // No search has found work of the group meanwhile.
  work.tablet->SetMayPickOther(true);
  if (!status.ok()) changed_.SignalAll();
  return status;
}

absl::Status BackgroundWork::EraseOldLog(TabletServer* server, uint64_t table_id,
                                         const CallLimits& limits) {
  if (!server->rotation().HasLogged(table_id)) return absl::OkStatus();
  const SequenceNumber last = server->visible();  // later mutations may be in the fresh file
  absl::Status erased = server->StartFreshLogSegment(limits);
  if (erased.ok()) erased = FlushServer(server, limits);
  if (erased.ok()) erased = server->log().Trim(limits);
  // The log of a server that has ended is removed once it is recovered.
  if (!erased.ok() && server->state().ended()) return absl::OkStatus();
  BT_RETURN_IF_ERROR(std::move(erased));
  server->rotation().MarkErased(last);
  return absl::OkStatus();
}

bool BackgroundWork::IsFlushed(const Tablet* tablet) const {
  return std::any_of(flushing_.begin(), flushing_.end(),
                     [&](const WorkId& id) { return id.first == tablet; });
}

absl::Status BackgroundWork::ClaimTablet(const Tablet* tablet, const CallLimits& limits) {
  MutexLock lock(&mutex_);
  while (claims_.contains(tablet)) BT_RETURN_IF_ERROR(WaitForChange(limits));
  claims_[tablet] = Claim::kMergingCompactions;
  absl::Status status;
  while (status.ok() && compacting_.HasTablet(tablet)) status = WaitForChange(limits);
  if (status.ok()) claims_[tablet] = Claim::kAll;
  while (status.ok() && IsFlushed(tablet)) status = WaitForChange(limits);
  if (status.ok()) status = CheckOpen();
  if (!status.ok()) {
    claims_.erase(tablet);
    changed_.SignalAll();
  }
  return status;
}

void BackgroundWork::ReleaseTablet(const Tablet* tablet) {
  MutexLock lock(&mutex_);
  [[maybe_unused]] const size_t erased = claims_.erase(tablet);
  ABSL_ASSERT(erased == 1 && "it was claimed");
  ++wakes_;
  changed_.SignalAll();
}

absl::Status BackgroundWork::FlushClaimed(TabletServer* server,
                                          absl::Span<const std::shared_ptr<Tablet>> tablets) {
  std::vector<ImmutableMemtables> immutable;
  for (const std::shared_ptr<Tablet>& tablet : tablets) {
    for (ImmutableMemtables& memtables : ImmutableMemtablesOf(tablet)) {
      immutable.push_back(std::move(memtables));
    }
  }
  while (!immutable.empty()) {
    const size_t count = std::min(immutable.size(), FlushWork::kMostTogether);
    const auto end = immutable.begin() + static_cast<ptrdiff_t>(count);
    FlushWork work(server, {immutable.begin(), end});
    BT_RETURN_IF_ERROR(RunFlush(&work));
    immutable.erase(immutable.begin(), end);
  }
  return absl::OkStatus();
}

absl::Status BackgroundWork::WaitForTablet(const Tablet* tablet, const CallLimits& limits) {
  // A thread finds work and enters it into the sets in one step under the lock.
  MutexLock lock(&mutex_);
  while (IsFlushed(tablet) || compacting_.HasTablet(tablet)) {
    BT_RETURN_IF_ERROR(limits.Check());
    changed_.WaitFor(&mutex_, limits.MostSleep());
  }
  return absl::OkStatus();
}

absl::Status BackgroundWork::WaitUntilQuiet(const CallLimits& limits) {
  BT_RETURN_IF_ERROR(limits.Check());
  std::vector<TabletServer*> servers;
  {
    MutexLock lock(&mutex_);
    bool has_searched = false;  // all tablets, since something was found or has changed
    while (true) {
      bool is_one_lost = false;
      for (TabletServer* server : servers_) {
        // One that has ended will be replaced, so its error does not matter. It ended before it had
        // an error that says so.
        absl::Status error = server->write_error().status();
        const bool is_lost = server->state().ended();
        is_one_lost |= is_lost;
        if (!error.ok() && !is_lost) return error;
      }
      BT_RETURN_IF_ERROR(compaction_error_);
      BT_RETURN_IF_ERROR(AnyFailure());
      BT_RETURN_IF_ERROR(CheckOpen());
      if (!is_one_lost && flushing_.empty() && compacting_.IsIdle() && claims_.empty()) {
        FlushWork flush;
        Work compaction;
        absl::Duration wait = absl::InfiniteDuration();
        const auto finds_work = [&] {
          mutex_.AssertHeld();
          return FindFlush(&flush, &wait) || FindCompaction(&compaction, &wait);
        };
        const bool is_quiet = !finds_work();
        // Only then: to search all tablets after each compaction takes as long as compacting some.
        if (is_quiet && !std::exchange(has_searched, true)) {
          SearchAllTablets();
          continue;  // the lock was released
        }
        // The threads may not know of work, or until when a policy waits: files grow too old
        // without a change.
        if (!is_quiet || wait < absl::InfiniteDuration()) changed_.SignalAll();
        if (is_quiet) break;
      }
      has_searched = false;
      BT_RETURN_IF_ERROR(WaitForChange(limits));
    }
    servers = servers_;
  }
  // The logs take no space that only further writes would need.
  for (TabletServer* server : servers) {
    if (const absl::Status status = server->log().Trim(limits); !status.ok()) {
      BT_RETURN_IF_ERROR(limits.Check());
      info_log_->Warning("server ", server->name(),
                         ": a free log segment stays: ", ToStd(status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace bigtable
