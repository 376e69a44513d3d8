#include "master/upkeep.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"

#include "base/start_thread.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "master/change_retention.h"
#include "tablet/tablet_change.h"

namespace bigtable {
namespace {

// One unserved tablet must not keep the others from being split or merged.
CallLimits ForOneStep(CallLimits limits) {
  limits.deadline = std::min(limits.deadline, Deadline::In(absl::Seconds(30)));
  return limits;
}

}  // namespace

absl::Status Upkeep::Start() {
  BT_ASSIGN_OR_RETURN(thread_, StartThread([this] { Loop(); }));
  return absl::OkStatus();
}

void Upkeep::Join() {
  if (thread_.joinable()) thread_.join();
}

void Upkeep::Wake() {
  MutexLock lock(&mutex_);
  due_ = true;
  changed_.SignalAll();
}

void Upkeep::Loop() {
  constexpr absl::Duration kSweepInterval = absl::Minutes(10);
  // A program that drops many ranges has dropped those beside each other by then.
  constexpr absl::Duration kDropSplitAge = absl::Seconds(10);
  std::optional<SteadyTime> balanced_at;
  SteadyTime sweep_at = SteadyTime::Now() + kSweepInterval;
  while (true) {
    const absl::Duration interval = live_->balance_interval;
    bool due = false;
    {
      MutexLock lock(&mutex_);
      if (!context_->is_stopping && !due_) {
        changed_.WaitFor(&mutex_, std::min(interval, absl::Milliseconds(500)));
      }
      if (context_->is_stopping) return;
      due = std::exchange(due_, false);
    }
    for (const auto& host : context_->servers->Users()) host->write_controller()->RecordStall();
    due |= merges_wait_ && MayMerge();
    if (due && context_->active() && ChangeTablets({})) {
      context_->wake();  // the halves may be too large too
    }
    if (context_->active()) tables_->TryFinishDeletions();
    if (context_->active()) UndoDropSplits(kDropSplitAge, {});
    if (context_->active()) DropOldChanges();
    const bool is_balanced = balanced_at.has_value() && SteadyTime::Now() < *balanced_at + interval;
    if (context_->active() && !is_balanced) {
      Balance();
      balanced_at = SteadyTime::Now();
    }
    if (context_->active() && SteadyTime::Now() >= sweep_at) {
      sweeper_->Sweep();
      sweep_at = SteadyTime::Now() + kSweepInterval;
    }
  }
}

void Upkeep::DropOldChanges() {
  for (const auto& layout : catalogue_->All()) {
    bigtable::DropOldChanges(*context_, *layout, tables_->SlowestReaderOf(layout->table_id));
  }
}

// --- Splits and merges by rule ---

bool Upkeep::ChangeTablets(const CallLimits& limits) {
  const bool may_merge = MayMerge();
  merges_wait_ = !may_merge;
  bool changed = false;
  for (const auto& layout : catalogue_->All()) {
    changed |= SplitLarge(*layout, limits);
    if (may_merge) changed |= MergeSmall(*layout, limits);
  }
  changed |= SplitLargeMetadata(limits);
  return changed;
}

bool Upkeep::SplitLarge(const TableLayout& layout, const CallLimits& limits) {
  if (layout.split.tablet_size == 0) return false;
  bool changed = false;
  for (const HostedTablet& hosted : context_->servers->TabletsOf(layout.table_id)) {
    const std::optional<std::string> row = RowToSplitAt(layout.split, *hosted.tablet);
    if (!row.has_value()) continue;
    const absl::Status split = tablets_->SplitTablet(layout.name, *row, ForOneStep(limits));
    if (IsOver()) return false;
    // AlreadyExists and NotFound: another caller was faster, or the table was deleted. Then there
    // may be more work than is known here.
    if (split.ok() || absl::IsAlreadyExists(split) || absl::IsNotFound(split)) {
      changed = true;
      continue;
    }
    context_->info_log->Warning("a tablet of table ", layout.name,
                                " is not split: ", ToStd(split.message()));
  }
  return changed;
}

bool Upkeep::SplitLargeMetadata(const CallLimits& limits) {
  const SplitRule rule{.tablet_size = live_->metadata_tablet_size};
  if (rule.tablet_size == 0) return false;
  bool changed = false;
  for (const auto& host : context_->servers->OfRole(ServerRole::kMetadata)) {
    for (const std::shared_ptr<Tablet>& tablet : host->server()->tablets().All()) {
      const std::optional<std::string> row = RowToSplitAt(rule, *tablet);
      if (!row.has_value()) continue;
      const absl::Status split =
          tablets_->SplitMetadataTablet(host.get(), *row, ForOneStep(limits));
      if (IsOver()) return false;
      changed |= split.ok();
      // Moved with its server, or split by another caller: it is looked at again soon.
      if (split.ok() || absl::IsAlreadyExists(split) || absl::IsNotFound(split)) continue;
      context_->info_log->Warning("a tablet of METADATA is not split: ", ToStd(split.message()));
    }
  }
  return changed;
}

std::optional<std::string> Upkeep::RowToSplitAt(const SplitRule& rule, const Tablet& tablet) {
  const uint64_t bytes = tablet.DiskBytes();
  if (bytes <= rule.tablet_size) return std::nullopt;
  {
    MutexLock lock(&mutex_);
    const auto found = unsplittable_.find(tablet.id());
    // A tablet that could not be split is looked at again when it has grown by a quarter.
    if (found != unsplittable_.end() && bytes < found->second + found->second / 4) {
      return std::nullopt;
    }
  }
  std::optional<std::string> row = MiddleRow(tablet, rule.prefix_length);
  MutexLock lock(&mutex_);
  if (row.has_value()) {
    unsplittable_.erase(tablet.id());
  } else {
    unsplittable_[tablet.id()] = bytes;
  }
  return row;
}

void Upkeep::Balance() {
  std::map<uint64_t, std::string> names;
  for (const auto& layout : catalogue_->All()) names[layout->table_id] = layout->name;
  std::vector<TabletLoad> loads;
  std::vector<std::shared_ptr<Tablet>> tablets;
  const std::vector<std::shared_ptr<ServerHost>> hosts = context_->servers->Users();
  for (size_t server = 0; server < hosts.size(); ++server) {
    for (std::shared_ptr<Tablet>& tablet : hosts[server]->server()->tablets().All()) {
      loads.push_back({.id = tablet->id(),
                       .server = server,
                       .bytes = ServerHost::LoadOf(*tablet),
                       .call_time = absl::Nanoseconds(tablet->counters()->call_nanos())});
      tablets.push_back(std::move(tablet));
    }
  }
  const std::optional<Balancer::Move> move =
      balancer_.ChooseMove(loads, hosts.size(), SteadyTime::Now());
  if (!move.has_value()) return;
  const Tablet& tablet = *tablets[move->tablet];
  const std::string& table = names[tablet.table_id()];
  const absl::Status moved = tablets_->MoveTablet(table, tablet.rows().begin(),
                                                  static_cast<int>(move->to), ForOneStep({}));
  if (moved.ok() || absl::IsNotFound(moved) || IsOver()) return;
  context_->info_log->Warning("a tablet of table ", table,
                              " is not moved: ", ToStd(moved.message()));
}

bool Upkeep::MergeSmall(const TableLayout& layout, const CallLimits& limits) {
  if (layout.split.merge_size == 0) return false;
  const std::vector<HostedTablet> tablets = context_->servers->TabletsOf(layout.table_id);
  bool changed = false;
  for (size_t i = 0; i + 1 < tablets.size(); ++i) {
    const Tablet& left = *tablets[i].tablet;
    const Tablet& right = *tablets[i + 1].tablet;
    if (left.rows().end() != right.rows().begin()) continue;  // a tablet between them is moving
    if (left.DiskBytes() + right.DiskBytes() >= layout.split.merge_size) continue;
    const absl::Status merged = Merge(layout.name, right.rows().begin(), limits);
    if (IsOver()) return false;
    ++i;  // `right` was superseded
    if (merged.ok() || absl::IsNotFound(merged)) {
      changed = true;
      continue;
    }
    // Such as because compactions were stopped meanwhile.
    if (absl::IsUnavailable(merged)) merges_wait_ = true;
    context_->info_log->Warning("two tablets of table ", layout.name,
                                " are not merged: ", ToStd(merged.message()));
  }
  return changed;
}

bool Upkeep::MayMerge() const { return !context_->background->AreCompactionsStopped(); }

absl::Status Upkeep::Merge(std::string_view table, std::string_view row, const CallLimits& limits) {
  return tablets_->MergeTablets(table, row, ForOneStep(limits), BackgroundWork::IfStopped::kRefuse);
}

bool Upkeep::UndoDropSplits(absl::Duration age, const CallLimits& limits) {
  if (!MayMerge()) return false;
  constexpr size_t kMostAtOnce = 16;
  bool changed = false;
  for (const DropSplits::Split& split : tablets_->drop_splits()->Take(age, kMostAtOnce)) {
    std::string table;
    if (!CanUndo(split, &table)) {
      changed = true;  // there may be more
      continue;
    }
    const absl::Status merged = Merge(table, split.row, limits);
    if (IsOver()) return false;
    if (merged.ok() || absl::IsNotFound(merged)) {
      changed = true;
      continue;
    }
    tablets_->drop_splits()->Add(split.table_id, split.row);  // to be tried again
    context_->info_log->Warning("two tablets of table ", table,
                                " beside dropped rows are not merged: ", ToStd(merged.message()));
  }
  return changed;
}

bool Upkeep::CanUndo(const DropSplits::Split& split, std::string* table) const {
  const HostedTablet right = context_->servers->FindTablet(split.table_id, split.row);
  if (!right || right.tablet->rows().begin() != split.row) return false;
  std::shared_ptr<Tablet> left;
  for (const std::shared_ptr<ServerHost>& host : context_->servers->Users()) {
    left = host->server()->tablets().FindBefore(split.table_id, split.row);
    if (left != nullptr && left->rows().end() == split.row) break;
    left = nullptr;
  }
  if (left == nullptr) return false;
  const std::shared_ptr<const TableLayout> layout = right.tablet->Layout();
  *table = layout->name;
  const uint64_t most = layout->split.tablet_size;
  return most == 0 || left->DiskBytes() + right.tablet->DiskBytes() <= most;
}

}  // namespace bigtable
