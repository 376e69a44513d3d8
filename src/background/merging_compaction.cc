#include "background/merging_compaction.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "background/merge_input.h"
#include "background/merge_parts.h"
#include "background/pick_output.h"
#include "base/status.h"
#include "compaction/compaction_inputs.h"
#include "tablet/tablet_version.h"

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

}  // namespace

absl::Status MergingCompaction::Run(const std::atomic<bool>* cancelled, const CallLimits& limits) {
  const FileNumbers::Work work(environment_.file_numbers);
  BT_ASSIGN_OR_RETURN(const bool has_work, Begin(!plan_.rewrite_all && !plan_.joins_files()));
  if (!has_work) return absl::OkStatus();
  absl::Status status = Write(cancelled, limits);
  if (status.ok()) status = Commit();
  End(status);
  return status;
}

absl::StatusOr<bool> MergingCompaction::Begin(bool moves) {
  if (plan_.IsEmpty()) return false;
  if (moves) TakeMoved(&plan_.inputs);
  const CompactionInputs& inputs = plan_.inputs;
  PrepareChange();
  if (replaced_.empty() && change_.added.empty()) return false;
  if (!inputs.merged.empty()) {
    BT_RETURN_IF_ERROR(plan_.layout->CheckCanMerge(change_.group_id));
  }
  if (tablet_->quarantine().HasAny(group_, inputs.merged)) {
    if (plan_.rewrite_all) BT_RETURN_IF_ERROR(tablet_->quarantine().Check(group_));
    return false;
  }
  if (environment_.events != nullptr) {
    began_ = SteadyTime::Now();
    event_ = NewEvent();
    environment_.events->Push(&EventListener::OnCompactionBegan, event_);
  }
  outcome_.bytes_read += plan_.InputBytes(tablet_->estimates());
  for (const Ref<SSTable>& file : plan_.inputs.dropped) {
    outcome_.bytes_dropped += tablet_->estimates().BytesWithin(*file);
    collected_at_ = plan_.now;  // all of its cells had expired
  }
  for (const TabletFile& file : change_.added) outcome_.bytes_moved += file.bytes();
  return true;
}

void MergingCompaction::End(const absl::Status& status) {
  note_.reset();
  ABSL_ASSERT(status.ok() == is_committed_ && "inputs that METADATA names stay");
  if (is_committed_) {
    for (const uint64_t number : change_.removed) environment_.remove_file(number);
  } else if (!outcome_.is_in_doubt) {
    // Files that METADATA may name stay. They are swept once it is known that it does not.
    RemoveWritten(environment_, written_);
  }
  if (environment_.events == nullptr) return;
  event_.status = status;
  event_.duration = SteadyTime::Now() - began_;
  event_.time = absl::Now();
  event_.outputs = outcome_.outputs;
  event_.bytes_read = outcome_.bytes_read;
  event_.bytes_written = outcome_.bytes_written;
  event_.cells_unfiltered = outcome_.cells_unfiltered;
  environment_.events->Push(&EventListener::OnCompactionEnded, event_);
}

void MergingCompaction::PrepareChange() {
  const CompactionInputs& inputs = plan_.inputs;
  replaced_ = inputs.dropped;
  for (const SortedRun& run : inputs.merged) {
    replaced_.insert(replaced_.end(), run.files.begin(), run.files.end());
  }
  change_.group_id = plan_.layout->groups[group_].id;
  for (const Ref<SSTable>& file : replaced_) {
    change_.removed.push_back(file->info().file_number);
  }
  change_.policy_state = plan_.pick.state;
  for (const Ref<SSTable>& file : inputs.moved) {
    // Many have this order already, and METADATA should stay small.
    const GroupFiles::File before = FindInput(file);
    if (before.order == plan_.reach.oldest) continue;
    change_.added.push_back({plan_.reach.oldest, file->info(), before.share});
  }
}

GroupFiles::File MergingCompaction::FindInput(const Ref<SSTable>& file) const {
  const Pin<TabletVersion> version = tablet_->Version();
  const std::vector<GroupFiles::File>& files = version->groups()[group_].files->files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const GroupFiles::File& other) {
    return other.table.get() == file.get();
  });
  ABSL_ASSERT(found != files.end() && "the plan is of the tablet's present files");
  return *found;
}

CompactionEvent MergingCompaction::NewEvent() const {
  CompactionEvent event;
  event.time = absl::Now();
  event.location = LocationOf(*tablet_, *plan_.layout, group_);
  event.reason = ReasonOf(plan_.pick, plan_.rewrite_all);
  event.policy_reason = plan_.pick.reason;
  event.is_major = plan_.inputs.is_major;
  for (const SortedRun& run : plan_.inputs.merged) {
    const std::vector<EventFile> files = EventFiles(run.files);
    event.inputs.insert(event.inputs.end(), files.begin(), files.end());
  }
  event.moved = EventFiles(plan_.inputs.moved);
  event.dropped = EventFiles(plan_.inputs.dropped);
  return event;
}

CompactionJob MergingCompaction::MakeJob(bool is_major, const std::vector<SortedRun>& runs,
                                         const std::atomic<bool>* cancelled,
                                         const CallLimits& limits) const {
  CompactionJob job = MakeCompactionJob(*tablet_, *plan_.layout, group_, is_major, plan_.now);
  job.oldest_deletion = OldestDeletion(runs);
  job.rate_limiter = environment_.rate_limiter;
  job.cancelled = cancelled;
  job.limits = limits;
  return job;
}

CompactionJob MergingCompaction::MakeMainJob(const UnreadVersions& unread,
                                             const std::atomic<bool>* cancelled,
                                             const CallLimits& limits) const {
  CompactionJob job = MakeJob(plan_.inputs.is_major, plan_.inputs.merged, cancelled, limits);
  job.retention.complete_through = plan_.complete_through;
  if (plan_.inputs.is_major) {
    job.retention.has_unread_older = [&unread](std::string_view column_prefix, int64_t timestamp) {
      return unread.HasOlder(column_prefix, timestamp);
    };
  }
  return job;
}

absl::Status MergingCompaction::WriteTo(SharedOutput* output, const std::atomic<bool>* cancelled) {
  const UnreadVersions unread(tablet_, group_, replaced_);
  CompactionJob job = MakeMainJob(unread, cancelled, {});
  uint64_t unfiltered = 0;
  job.cells_unfiltered = &unfiltered;
  job.has_collected = &outcome_.has_collected;
  MergeInput input(plan_.inputs.merged, tablet_->keys().begin(), tablet_->keys().end());
  const absl::Status status = output->Add(job, input.cursor());
  collected_at_ = std::max(collected_at_, job.retention.rules_as_of);
  outcome_.cells_unfiltered += unfiltered;
  if (!status.ok()) outcome_.unreadable_file = input.UnreadableFile();
  return status;
}

void MergingCompaction::Adopt(const std::vector<SharedOutput::Piece>& pieces) {
  for (const SharedOutput::Piece& piece : pieces) {
    written_.push_back({plan_.reach.oldest, piece.info, piece.share});
    outcome_.AddShare(written_.back(), piece.is_first);
  }
}

absl::Status MergingCompaction::Write(const std::atomic<bool>* cancelled,
                                      const CallLimits& limits) {
  if (replaced_.empty()) return absl::OkStatus();
  const CompactionInputs& inputs = plan_.inputs;
  const UnreadVersions unread(tablet_, group_, replaced_);
  CompactionJob job = MakeMainJob(unread, cancelled, limits);
  job.group = WithOutput(std::move(job.group), plan_.pick.output);
  job.target_file_size = plan_.pick.output.file_size.value_or(job.target_file_size);
  for (const Ref<SSTable>& file : inputs.moved) job.split_at.push_back(file->info().smallest_key);
  for (const Ref<SSTable>& file : inputs.between) job.split_at.push_back(file->info().smallest_key);
  std::sort(job.split_at.begin(), job.split_at.end());
  BT_RETURN_IF_ERROR(
      WriteRun(job, inputs.merged, inputs.range, plan_.pick.threads, plan_.reach.oldest));

  // What the files have outside of the range stays as old as it is.
  for (const Ref<SSTable>& file : replaced_) {
    for (const std::optional<KeyRange>& rest : {inputs.range.Before(), inputs.range.After()}) {
      if (!rest.has_value() || !rest->Overlaps(file->info())) continue;
      const std::vector<SortedRun> run = {SortedRun{{file}}};
      BT_RETURN_IF_ERROR(WriteRun(MakeJob(/*is_major=*/false, run, cancelled, limits), run, *rest,
                                  1, FindInput(file).order));
    }
  }
  return absl::OkStatus();
}

absl::Status MergingCompaction::WriteRun(const CompactionJob& job,
                                         const std::vector<SortedRun>& runs, const KeyRange& range,
                                         int threads, uint64_t order) {
  BT_ASSIGN_OR_RETURN(const std::vector<SSTableInfo> written,
                      RunMergeParts(job, runs, tablet_->keys().And(range), threads, &outcome_));
  collected_at_ = std::max(collected_at_, job.retention.rules_as_of);
  for (const SSTableInfo& info : written) {
    outcome_.Add(info);
    written_.push_back({order, info});
  }
  return absl::OkStatus();
}

absl::Status MergingCompaction::Commit() {
  if (!written_.empty()) {
    BT_RETURN_IF_ERROR(SyncDirectoryOf(environment_.file_system,
                                       environment_.path_of(written_.front().info.file_number)));
  }
  BT_RETURN_IF_ERROR(PrepareCommit());
  // Of one tablet, so METADATA takes both or none.
  const absl::Status status = environment_.store->Commit(steps_);
  Committed(status);
  return status;
}

absl::Status MergingCompaction::PrepareCommit() {
  BT_ASSIGN_OR_RETURN(opened_, OpenSSTables(environment_, plan_.layout->groups[group_], written_));
  TabletChange change = change_;
  change.added.insert(change.added.end(), written_.begin(), written_.end());
  steps_.push_back({tablet_->id(), std::move(change)});
  if (std::vector<std::string> families = FamiliesToNote(); !families.empty()) {
    note_.emplace(tablet_);
    BT_ASSIGN_OR_RETURN(TabletStep noted, note_->TakeStep(std::move(families), collected_at_));
    steps_.push_back(std::move(noted));
  }
  return absl::OkStatus();
}

void MergingCompaction::Committed(const absl::Status& status) {
  is_committed_ = status.ok();
  if (!status.ok()) {
    outcome_.is_in_doubt = environment_.store->IsInDoubt(status);
    if (outcome_.is_in_doubt && note_.has_value()) note_->LeaveInDoubt();
    return;
  }
  if (note_.has_value()) tablet_->PublishChangeFiles(steps_.back().change, {});
  // A filter removes cells without a write to their rows, which may be cached.
  const bool changes_rows = plan_.layout->HasFilter(change_.group_id);
  tablet_->PublishChange(group_, steps_.front().change, opened_, 0, changes_rows);
}

std::vector<std::string> MergingCompaction::FamiliesToNote() const {
  if (tablet_->Layout()->changes_since == 0) return {};
  if (!outcome_.has_collected && plan_.inputs.dropped.empty()) return {};
  return CollectedFamilies(*plan_.layout, change_.group_id);
}

}  // namespace bigtable
