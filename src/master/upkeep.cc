// The master's threads. One splits tablets that have become too large, merges small ones, and
// deletes what no call can look at any more; and it notices that writers are slowed no more. The
// other looks after lost servers, and nothing else: the first may wait for a server that is lost.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "master/master.h"

namespace bigtable {

void Master::UpkeepLoop() {
  while (true) {
    bool due = false;
    {
      MutexLock lock(&upkeep_mutex_);
      // Also without being asked: calls that looked at a retired route may have left.
      if (!stopping_ && !upkeep_due_) {
        upkeep_changed_.WaitFor(&upkeep_mutex_, absl::Milliseconds(500));
      }
      if (stopping_) return;
      due = std::exchange(upkeep_due_, false);
    }
    DeleteRetired();
    for (const auto& user : Users()) user->write_controller->NoteReason();
    if (due && ChangeTablets()) WakeUpkeep();  // the halves may be too large, too
  }
}

void Master::LivenessLoop() {
  while (true) {
    {
      MutexLock lock(&upkeep_mutex_);
      if (!liveness_stopping_ && !liveness_due_) {
        upkeep_changed_.WaitFor(&upkeep_mutex_, absl::Milliseconds(500));
      }
      if (liveness_stopping_) return;
      liveness_due_ = false;
    }
    ReplaceLostServers();
  }
}

void Master::WakeUpkeep() {
  MutexLock lock(&upkeep_mutex_);
  upkeep_due_ = liveness_due_ = true;
  upkeep_changed_.SignalAll();
}

bool Master::IsStopping() const {
  MutexLock lock(&upkeep_mutex_);
  return stopping_;
}

void Master::StopThreads() {
  const auto stop = [this](bool* flag) {
    MutexLock lock(&upkeep_mutex_);
    *flag = true;
    upkeep_changed_.SignalAll();
  };
  stop(&stopping_);
  // Before the first of the master's threads has ended, which may be waiting for a compaction.
  RemoveHolders();
  background_.Stop();
  if (upkeep_.joinable()) upkeep_.join();
  // For which the first may have waited.
  stop(&liveness_stopping_);
  if (liveness_.joinable()) liveness_.join();
  RemoveHolders();  // of servers that have taken the places of others meanwhile
}

void Master::RemoveHolders() {
  for (const auto& user : Users()) {
    options_.shared_memory_budget->RemoveHolder(user->write_controller.get());
  }
}

void Master::DeleteRetired() {
  std::vector<Retired> gone;  // deleted after the lock is
  MutexLock lock(&mutex_);
  if (retired_.empty()) return;
  gate_->TryAdvance();
  const uint64_t advances = gate_->advances();
  // From old to new.
  const auto kept = std::find_if(retired_.begin(), retired_.end(), [&](const Retired& retired) {
    return retired.advances + 2 > advances;
  });
  std::move(retired_.begin(), kept, std::back_inserter(gone));
  retired_.erase(retired_.begin(), kept);
}

// --- What the tables' rules ask for ---

absl::Status Master::WaitUntilQuiet(const CallLimits& limits) {
  do {
    BT_RETURN_IF_ERROR(background_.WaitUntilQuiet(limits));
  } while (!options_.read_only && ChangeTablets());
  return absl::OkStatus();
}

bool Master::ChangeTablets() {
  std::vector<std::pair<std::string, std::shared_ptr<const ServedTable>>> tables;
  {
    MutexLock lock(&mutex_);
    for (const auto& [name, route] : tables_) tables.emplace_back(name, route->Share());
  }
  bool changed = false;
  for (const auto& [name, table] : tables) {
    changed |= SplitLarge(name, *table);
    changed |= MergeSmall(name, *table);
  }
  return changed;
}

bool Master::SplitLarge(const std::string& name, const ServedTable& table) {
  const SplitRule rule = table.Layout()->split;
  if (rule.tablet_size == 0) return false;
  bool changed = false;
  for (const ServedTablet& served : table.tablets()) {
    const std::optional<std::string> row = RowToSplitAt(rule, *served.tablet);
    if (!row.has_value()) continue;
    const absl::Status split = SplitTablet(name, *row, {});
    if (IsStopping()) return false;
    // Or somebody was faster, or the table is gone: then there may be more to do than is known
    // here.
    if (split.ok() || absl::IsAlreadyExists(split) || absl::IsNotFound(split)) {
      changed = true;
      continue;
    }
    info_log_.Warning("a tablet of table ", name, " is not split: ", ToStd(split.message()));
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

bool Master::MergeSmall(const std::string& name, const ServedTable& table) {
  const SplitRule rule = table.Layout()->split;
  const std::vector<ServedTablet>& tablets = table.tablets();
  bool changed = false;
  for (size_t i = 0; rule.merge_size != 0 && i + 1 < tablets.size(); ++i) {
    const Tablet& right = *tablets[i + 1].tablet;
    if (tablets[i].tablet->DiskBytes() + right.DiskBytes() >= rule.merge_size) continue;
    const absl::Status merged = MergeTablets(name, right.rows().begin(), {});
    if (IsStopping()) return false;
    ++i;  // which is another tablet now
    if (merged.ok() || absl::IsNotFound(merged)) {
      changed = true;
      continue;
    }
    info_log_.Warning("two tablets of table ", name, " are not merged: ", ToStd(merged.message()));
  }
  return changed;
}

}  // namespace bigtable
