#include "background/merging_compaction.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/time/clock.h"

#include "background/merge_parts.h"
#include "background/pick_output.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "tablet/unread_versions.h"

namespace bigtable {
namespace {

std::vector<EventFile> EventFiles(const std::vector<Ref<SSTable>>& files) {
  std::vector<EventFile> events;
  events.reserve(files.size());
  for (const Ref<SSTable>& file : files) {
    events.push_back({file->info().file_number, file->info().size});
  }
  return events;
}

CompactionReason ReasonOf(const CompactionPick& pick, bool rewrite_all) {
  if (rewrite_all) return CompactionReason::kMajor;
  switch (pick.kind) {
    case CompactionPick::Kind::kPush:
      return CompactionReason::kPush;
    case CompactionPick::Kind::kDrop:
      return CompactionReason::kDrop;
    case CompactionPick::Kind::kMerge:
    case CompactionPick::Kind::kWait:
      break;
  }
  return CompactionReason::kMerge;
}

// When the oldest deletion in the inputs was written; 0: there is none, or one has no time.
int64_t OldestDeletion(const std::vector<SortedRun>& inputs) {
  int64_t oldest = std::numeric_limits<int64_t>::max();
  for (const SortedRun& run : inputs) {
    for (const Ref<SSTable>& file : run.files) {
      if (file->info().deletions() == 0) continue;
      oldest = std::min(oldest, file->info().oldest_deletion);
    }
  }
  return oldest == std::numeric_limits<int64_t>::max() ? 0 : oldest;
}

// The sequence number up to which the inputs, which were picked from the run `first_run` on, have
// all entries of their rows; `visible` was read before the version was pinned.
SequenceNumber CompleteThrough(const GroupVersion& group, const CompactionInputs& inputs,
                               size_t first_run, SequenceNumber visible) {
  std::vector<const SSTable*> taken;  // inputs, and files without any of their rows
  for (const SortedRun& run : inputs.merged) {
    for (const Ref<SSTable>& file : run.files) taken.push_back(file.get());
  }
  for (const Ref<SSTable>& file : inputs.moved) taken.push_back(file.get());
  std::sort(taken.begin(), taken.end());

  SequenceNumber through = visible;
  const auto end_before = [&through](SequenceNumber first) {
    if (first != 0) through = std::min(through, first - 1);
  };
  end_before(group.active->first_sequence());
  for (const Ref<Memtable>& memtable : group.immutable) end_before(memtable->first_sequence());
  // A pick may take only some files of the first run. Older runs are considered only where these
  // have entries.
  for (size_t i = 0; i < group.runs.size() && i <= first_run; ++i) {
    for (const Ref<SSTable>& file : group.runs[i].files) {
      if (std::binary_search(taken.begin(), taken.end(), file.get())) continue;
      end_before(file->info().min_sequence);
    }
  }
  return through;
}

}  // namespace

absl::Status MergingCompaction::Run(const std::atomic<bool>* cancelled, const CallLimits& limits) {
  const FileNumbers::Work work(environment_.file_numbers);
  const Plan plan = MakePlan();
  const CompactionInputs& inputs = plan.inputs;
  if (inputs.merged.empty() && inputs.moved.empty() && inputs.dropped.empty()) {
    return absl::OkStatus();
  }
  if (!inputs.merged.empty()) {
    BT_RETURN_IF_ERROR(plan.layout->CheckCanMerge(plan.change.group_id));
  }
  if (tablet_->quarantine().HasAny(group_, inputs.merged)) {
    return rewrite_all_ ? tablet_->quarantine().Check(group_) : absl::OkStatus();
  }
  ListenerQueue* const events = environment_.events;
  if (events == nullptr) return Merge(plan, cancelled, limits);

  const SteadyTime begin = SteadyTime::Now();
  CompactionEvent event = EventOf(plan);
  events->Push(&EventListener::OnCompactionBegan, event);
  event.status = Merge(plan, cancelled, limits);
  event.duration = SteadyTime::Now() - begin;
  event.time = absl::Now();
  event.outputs = outcome_.outputs;
  event.bytes_read = outcome_.bytes_read;
  event.bytes_written = outcome_.bytes_written;
  event.cells_unfiltered = outcome_.cells_unfiltered;
  events->Push(&EventListener::OnCompactionEnded, event);
  return event.status;
}

MergingCompaction::Plan MergingCompaction::MakePlan() {
  Plan plan;
  plan.now = TimeBeforeLayout(environment_);
  const SequenceNumber visible = environment_.visible();
  const Pin<TabletVersion> version = tablet_->Version();
  const GroupVersion& group = version->groups()[group_];
  plan.layout = version->shared_layout();
  plan.inputs = ChooseInputs(group.runs, pick_, rewrite_all_);
  plan.complete_through = CompleteThrough(group, plan.inputs, pick_.first, visible);

  plan.replaced = plan.inputs.dropped;
  for (const SortedRun& run : plan.inputs.merged) {
    plan.replaced.insert(plan.replaced.end(), run.files.begin(), run.files.end());
  }
  plan.change.group_id = plan.layout->groups[group_].id;
  for (const Ref<SSTable>& file : plan.replaced) {
    plan.change.removed.push_back(file->info().file_number);
  }
  plan.change.policy_state = pick_.state;
  plan.order = group.files->OldestOrder(plan.inputs.target);
  for (const Ref<SSTable>& file : plan.inputs.moved) {
    // Many have this order already, and METADATA should stay small.
    if (group.files->OldestOrder({file}) == plan.order) continue;
    plan.change.added.push_back({plan.order, file->info()});
  }
  return plan;
}

CompactionEvent MergingCompaction::EventOf(const Plan& plan) const {
  CompactionEvent event;
  event.time = absl::Now();
  event.location = LocationOf(*tablet_, *plan.layout, group_);
  event.reason = ReasonOf(pick_, rewrite_all_);
  event.policy_reason = pick_.reason;
  event.is_major = plan.inputs.is_major;
  for (const SortedRun& run : plan.inputs.merged) {
    const std::vector<EventFile> files = EventFiles(run.files);
    event.inputs.insert(event.inputs.end(), files.begin(), files.end());
  }
  event.moved = EventFiles(plan.inputs.moved);
  event.dropped = EventFiles(plan.inputs.dropped);
  return event;
}

absl::Status MergingCompaction::Merge(const Plan& plan, const std::atomic<bool>* cancelled,
                                      const CallLimits& limits) {
  const CompactionInputs& inputs = plan.inputs;
  for (const SortedRun& run : inputs.merged) outcome_.bytes_read += run.bytes();
  for (const Ref<SSTable>& file : inputs.dropped) outcome_.bytes_dropped += file->info().size;
  for (const TabletFile& file : plan.change.added) outcome_.bytes_moved += file.info.size;
  if (plan.replaced.empty() && plan.change.added.empty()) return absl::OkStatus();

  CompactionJob job = MakeCompactionJob(*tablet_, *plan.layout, group_, inputs.is_major, plan.now);
  job.retention.complete_through = plan.complete_through;
  const UnreadVersions unread(tablet_, group_, plan.replaced);
  if (inputs.is_major) {
    job.retention.has_unread_older = [&unread](std::string_view column_prefix, int64_t timestamp) {
      return unread.HasOlder(column_prefix, timestamp);
    };
  }
  job.group = WithOutput(std::move(job.group), pick_.output);
  job.target_file_size = pick_.output.file_size.value_or(job.target_file_size);
  job.oldest_deletion = OldestDeletion(inputs.merged);
  job.rate_limiter = environment_.rate_limiter;
  job.cancelled = cancelled;
  job.limits = limits;
  for (const Ref<SSTable>& file : inputs.moved) job.split_at.push_back(file->info().smallest_key);
  for (const Ref<SSTable>& file : inputs.between) job.split_at.push_back(file->info().smallest_key);
  std::sort(job.split_at.begin(), job.split_at.end());
  BT_ASSIGN_OR_RETURN(const std::vector<SSTableInfo> written,
                      RunMergeParts(job, inputs.merged, tablet_->keys(), pick_.threads, &outcome_));
  for (const SSTableInfo& info : written) outcome_.Add(info);
  BT_RETURN_IF_ERROR(Commit(plan, written));
  for (const Ref<SSTable>& file : plan.replaced) {
    environment_.remove_file(file->info().file_number);
  }
  return absl::OkStatus();
}

absl::Status MergingCompaction::Commit(const Plan& plan, const std::vector<SSTableInfo>& written) {
  std::vector<TabletFile> output;
  output.reserve(written.size());
  for (const SSTableInfo& info : written) output.push_back({plan.order, info});
  absl::Status synced;
  if (!written.empty()) {
    synced = SyncDirectoryOf(environment_.file_system,
                             environment_.path_of(written.front().file_number));
  }
  const absl::StatusOr<std::vector<Ref<SSTable>>> opened =
      synced.ok() ? OpenSSTables(environment_, plan.layout->groups[group_], output) : synced;
  if (!opened.ok()) {
    RemoveWritten(environment_, written);
    return opened.status();
  }
  TabletChange change = plan.change;
  change.added.insert(change.added.end(), output.begin(), output.end());
  const absl::Status committed = environment_.store->Commit(tablet_->id(), change);
  if (!committed.ok()) {
    // Files that METADATA may name stay. They are swept once it is known that it does not.
    outcome_.is_in_doubt = environment_.store->IsInDoubt(committed);
    if (!outcome_.is_in_doubt) RemoveWritten(environment_, written);
    return committed;
  }
  // A filter removes cells without a write to their rows, which may be cached.
  const bool changes_rows = plan.layout->HasFilter(plan.change.group_id);
  tablet_->PublishChange(group_, change, *opened, 0, changes_rows);
  return absl::OkStatus();
}

}  // namespace bigtable
