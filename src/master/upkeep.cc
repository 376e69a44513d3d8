// The master's threads. One splits tablets that have become too large and merges small ones, moves
// tablets from servers with much to do to others, sweeps files, and notices that writers are slowed
// no more. The others look after lost servers, one for each role, and do nothing else: the first
// may wait for a server that is lost, and each of these for one of a role before its own.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/retry_pause.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "master/master.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

namespace {

// One tablet that nobody can serve must not keep the others from what is theirs.
CallLimits ForOneStep(CallLimits limits) {
  limits.deadline = std::min(limits.deadline, Deadline::In(absl::Seconds(30)));
  return limits;
}

}  // namespace

absl::Status Master::StartThreads() {
  BT_ASSIGN_OR_RETURN(upkeep_, StartThread([this] { UpkeepLoop(); }));
  BT_ASSIGN_OR_RETURN(liveness_, StartThread([this] { LivenessLoop(ServerRole::kUser); }));
  return absl::OkStatus();
}

void Master::UpkeepLoop() {
  const absl::Duration interval = cluster_->environment()->options.balance_interval;
  constexpr absl::Duration kSweepInterval = absl::Minutes(10);
  SteadyTime balance_at = SteadyTime::Now();
  SteadyTime sweep_at = balance_at + kSweepInterval;
  while (true) {
    bool due = false;
    {
      MutexLock lock(&upkeep_mutex_);
      if (!stopping_ && !upkeep_due_) {
        upkeep_changed_.WaitFor(&upkeep_mutex_, std::min(interval, absl::Milliseconds(500)));
      }
      if (stopping_) return;
      due = std::exchange(upkeep_due_, false);
    }
    for (const auto& host : cluster_->servers()->Users()) host->write_controller()->NoteReason();
    if (due && active() && ChangeTablets({})) Wake();  // the halves may be too large, too
    if (active() && SteadyTime::Now() >= balance_at) {
      Balance();
      balance_at = SteadyTime::Now() + interval;
    }
    if (active() && SteadyTime::Now() >= sweep_at) {
      Sweep();
      sweep_at = SteadyTime::Now() + kSweepInterval;
    }
  }
}

void Master::LivenessLoop(ServerRole role) {
  const size_t place = static_cast<size_t>(role);
  constexpr uint64_t kSoon = 3;  // failures up to which it is tried again as soon as things change
  constexpr absl::Duration kLook = absl::Milliseconds(500);
  RetryPause pause(absl::Seconds(3));  // a log that cannot be replayed is sorted anew each time
  while (true) {
    {
      MutexLock lock(&upkeep_mutex_);
      const int64_t begin = NowNanos();
      const auto left = [&] {
        const int64_t now = NowNanos();
        return pause.failures() > 0 ? pause.Left(now) : kLook - absl::Nanoseconds(now - begin);
      };
      const auto is_due = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        if (liveness_stopping_[place] || liveness_now_[place]) return true;
        return liveness_due_[place] && pause.failures() <= kSoon;
      };
      while (!is_due() && left() > absl::ZeroDuration()) {
        upkeep_changed_.WaitFor(&upkeep_mutex_, left());
      }
      if (liveness_stopping_[place]) return;
      liveness_due_[place] = liveness_now_[place] = false;
    }
    if (ReplaceLostServers(role).ok()) {
      pause.Succeeded();
    } else {
      pause.Failed(NowNanos());
    }
  }
}

void Master::Wake() {
  MutexLock lock(&upkeep_mutex_);
  upkeep_due_ = true;
  liveness_due_.fill(true);
  upkeep_changed_.SignalAll();
}

void Master::AssignNow() {
  MutexLock lock(&upkeep_mutex_);
  liveness_now_.fill(true);
  upkeep_changed_.SignalAll();
}

bool Master::IsStopping() const {
  if (cluster_->environment()->is_closing) return true;
  MutexLock lock(&upkeep_mutex_);
  return stopping_;
}

void Master::BeginStopThreads() {
  MutexLock lock(&upkeep_mutex_);
  stopping_ = true;
  upkeep_changed_.SignalAll();
}

void Master::StopThreads() {
  BeginStopThreads();
  if (upkeep_.joinable()) upkeep_.join();
}

void Master::FinishThreads() { EndLiveness(ServerRole::kUser, &liveness_); }

void Master::EndLiveness(ServerRole role, std::thread* thread) {
  {
    MutexLock lock(&upkeep_mutex_);
    liveness_stopping_[static_cast<size_t>(role)] = true;
    upkeep_changed_.SignalAll();
  }
  if (thread->joinable()) thread->join();
}

// --- What the tables' rules ask for ---

bool Master::ChangeTablets(const CallLimits& limits) {
  std::vector<TableLayout> layouts;
  {
    MutexLock lock(&mutex_);
    for (const auto& [name, layout] : tables_) layouts.push_back(layout);
  }
  bool changed = false;
  for (const TableLayout& layout : layouts) {
    changed |= SplitLarge(layout, limits);
    changed |= MergeSmall(layout, limits);
  }
  changed |= SplitLargeMetadata(limits);
  return changed;
}

bool Master::SplitLarge(const TableLayout& layout, const CallLimits& limits) {
  if (layout.split.tablet_size == 0) return false;
  bool changed = false;
  for (const HostedTablet& hosted : cluster_->servers()->TabletsOf(layout.table_id)) {
    const std::optional<std::string> row = RowToSplitAt(layout.split, *hosted.tablet);
    if (!row.has_value()) continue;
    const absl::Status split = SplitTablet(layout.name, *row, ForOneStep(limits));
    if (IsStopping() || !active()) return false;
    // Or somebody was faster, or the table is gone: then there may be more to do than is known
    // here.
    if (split.ok() || absl::IsAlreadyExists(split) || absl::IsNotFound(split)) {
      changed = true;
      continue;
    }
    info_log_->Warning("a tablet of table ", layout.name,
                       " is not split: ", ToStd(split.message()));
  }
  return changed;
}

bool Master::SplitLargeMetadata(const CallLimits& limits) {
  const SplitRule rule{.tablet_size = cluster_->environment()->options.metadata_tablet_size};
  if (rule.tablet_size == 0) return false;
  bool changed = false;
  for (const auto& host : cluster_->servers()->OfRole(ServerRole::kMetadata)) {
    for (const std::shared_ptr<Tablet>& tablet : host->server()->Tablets()) {
      const std::optional<std::string> row = RowToSplitAt(rule, *tablet);
      if (!row.has_value() || !Step().ok()) continue;
      const absl::Status split =
          host->Split(lock_->epoch(), kMetadataTableId, *row, WithEnd(ForOneStep(limits)));
      if (IsStopping() || !active()) return false;
      changed |= split.ok();
      // Moved with its server, or split by who was faster: looked at again before long.
      if (split.ok() || absl::IsAlreadyExists(split) || absl::IsNotFound(split)) continue;
      info_log_->Warning("a tablet of METADATA is not split: ", ToStd(split.message()));
    }
  }
  return changed;
}

std::optional<std::string> Master::RowToSplitAt(const SplitRule& rule, const Tablet& tablet) {
  const uint64_t bytes = tablet.DiskBytes();
  if (bytes <= rule.tablet_size) return std::nullopt;
  {
    MutexLock lock(&mutex_);
    const auto found = unsplittable_.find(tablet.id());
    // Looked at again when it has grown by a quarter.
    if (found != unsplittable_.end() && bytes < found->second + found->second / 4) {
      return std::nullopt;
    }
  }
  std::optional<std::string> row = tablet.MiddleRow(rule.prefix_length);
  MutexLock lock(&mutex_);
  if (row.has_value()) {
    unsplittable_.erase(tablet.id());
  } else {
    unsplittable_[tablet.id()] = bytes;
  }
  return row;
}

void Master::Balance() {
  std::map<uint64_t, std::string> names;
  {
    MutexLock lock(&mutex_);
    for (const auto& [name, layout] : tables_) names[layout.table_id] = name;
  }
  std::vector<TabletLoad> loads;
  std::vector<std::shared_ptr<Tablet>> tablets;
  const std::vector<std::shared_ptr<ServerHost>> hosts = cluster_->servers()->Users();
  for (size_t server = 0; server < hosts.size(); ++server) {
    for (std::shared_ptr<Tablet>& tablet : hosts[server]->server()->Tablets()) {
      loads.push_back({.id = tablet->id(),
                       .server = server,
                       .bytes = ServerHost::LoadOf(*tablet),
                       .call_time = absl::Nanoseconds(tablet->counters()->call_nanos())});
      tablets.push_back(std::move(tablet));
    }
  }
  const std::optional<Balancer::Move> move = balancer_.Look(loads, hosts.size(), SteadyTime::Now());
  if (!move.has_value()) return;
  const Tablet& tablet = *tablets[move->tablet];
  const std::string& table = names[tablet.table_id()];
  const absl::Status moved =
      MoveTablet(table, tablet.rows().begin(), static_cast<int>(move->to), ForOneStep({}));
  if (moved.ok() || absl::IsNotFound(moved) || IsStopping() || !active()) return;
  info_log_->Warning("a tablet of table ", table, " is not moved: ", ToStd(moved.message()));
}

void Master::Sweep() {
  const absl::Status swept = SweepFiles();
  if (!swept.ok()) {
    info_log_->Warning("files that no table names stay for now: ", ToStd(swept.message()));
  }
}

bool Master::MergeSmall(const TableLayout& layout, const CallLimits& limits) {
  if (layout.split.merge_size == 0) return false;
  const std::vector<HostedTablet> tablets = cluster_->servers()->TabletsOf(layout.table_id);
  bool changed = false;
  for (size_t i = 0; i + 1 < tablets.size(); ++i) {
    const Tablet& left = *tablets[i].tablet;
    const Tablet& right = *tablets[i + 1].tablet;
    if (left.rows().end() != right.rows().begin()) continue;  // one between them is moving
    if (left.DiskBytes() + right.DiskBytes() >= layout.split.merge_size) continue;
    const absl::Status merged = MergeTablets(layout.name, right.rows().begin(), ForOneStep(limits));
    if (IsStopping() || !active()) return false;
    ++i;  // which is another tablet now
    if (merged.ok() || absl::IsNotFound(merged)) {
      changed = true;
      continue;
    }
    info_log_->Warning("two tablets of table ", layout.name,
                       " are not merged: ", ToStd(merged.message()));
  }
  return changed;
}

}  // namespace bigtable
