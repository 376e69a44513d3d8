// Tablet's files that compactions could not read, and what is left to compact around them.
//
// Only runs that are neighbours in age are merged, because what lies between two runs may hide what
// is in the older one. So a run with a file that cannot be read parts the runs of its group: those
// above it and those below it are each compacted as if they were all there are. A run counts as a
// whole, also where its other files could be merged: it is rare, and what is not merged is bounded
// by what the policy keeps of runs in each part.
#include <algorithm>

#include "tablet/tablet.h"

namespace bigtable {

void Tablet::Quarantine(size_t group, uint64_t number, const absl::Status& status) {
  MutexLock lock(&mutex_);
  for (OpenFile& file : groups_[group].files) {
    if (file.table->info().file_number != number || !file.unreadable.ok()) continue;
    file.unreadable = status;
    file.unreadable_since = absl::Now();
  }
  const Pin<TabletVersion> version = version_.Get();
  most_runs_.store(MostRunsOf(version->layout(), version->groups()), std::memory_order_relaxed);
  SetMayPickOther(true);
}

absl::Status Tablet::CheckQuarantine(size_t group) const {
  MutexLock lock(&mutex_);
  for (const OpenFile& file : groups_[group].files) {
    if (!file.unreadable.ok()) return file.unreadable;
  }
  return absl::OkStatus();
}

void Tablet::LiftQuarantine() {
  MutexLock lock(&mutex_);
  bool is_any = false;
  for (Group& group : groups_) {
    for (OpenFile& file : group.files) {
      is_any |= !file.unreadable.ok();
      file.unreadable = absl::OkStatus();
    }
  }
  if (!is_any) return;
  const Pin<TabletVersion> version = version_.Get();
  most_runs_.store(MostRunsOf(version->layout(), version->groups()), std::memory_order_relaxed);
  SetMayPickOther(true);
}

void Tablet::AddQuarantined(std::vector<QuarantinedFile>* files) const {
  const std::shared_ptr<const TableLayout> layout = Layout();
  MutexLock lock(&mutex_);
  for (size_t i = 0; i < groups_.size() && i < layout->groups.size(); ++i) {
    for (const OpenFile& file : groups_[i].files) {
      if (file.unreadable.ok()) continue;
      files->push_back({.server = environment_->server,
                        .table = layout->name,
                        .locality_group = layout->groups[i].name,
                        .end_row = rows_.end(),
                        .number = file.table->info().file_number,
                        .status = file.unreadable,
                        .since = file.unreadable_since});
    }
  }
}

uint64_t Tablet::FileBytes(size_t group, uint64_t number) const {
  MutexLock lock(&mutex_);
  for (const OpenFile& file : groups_[group].files) {
    if (file.table->info().file_number == number) return file.table->info().size;
  }
  return 0;
}

bool Tablet::IsQuarantined(size_t group, const SSTable& file) const {
  return std::any_of(
      groups_[group].files.begin(), groups_[group].files.end(),
      [&](const OpenFile& open) { return open.table.get() == &file && !open.unreadable.ok(); });
}

bool Tablet::HasQuarantined(size_t group, const std::vector<SortedRun>& runs) const {
  MutexLock lock(&mutex_);
  const std::vector<Stretch> stretches = StretchesOf(group, runs);
  size_t sound = 0;
  for (const Stretch& stretch : stretches) sound += stretch.count;
  return sound < runs.size();
}

std::vector<Tablet::Stretch> Tablet::StretchesOf(size_t group,
                                                 const std::vector<SortedRun>& runs) const {
  const bool is_any = group < groups_.size() &&
                      std::any_of(groups_[group].files.begin(), groups_[group].files.end(),
                                  [](const OpenFile& file) { return !file.unreadable.ok(); });
  if (!is_any) return {{0, runs.size()}};
  std::vector<Stretch> stretches;
  size_t first = 0;
  for (size_t i = 0; i <= runs.size(); ++i) {
    const auto is_quarantined = [&](const Ref<SSTable>& file) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return IsQuarantined(group, *file);
    };
    if (i < runs.size() &&
        std::none_of(runs[i].files.begin(), runs[i].files.end(), is_quarantined)) {
      continue;
    }
    if (i > first) stretches.push_back({first, i - first});
    first = i + 1;
  }
  return stretches;
}

}  // namespace bigtable
