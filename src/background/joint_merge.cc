#include "background/joint_merge.h"

#include <algorithm>

#include "base/status.h"

namespace bigtable {

uint64_t JointMerge::MostBytes(const TabletEnvironment& environment) {
  const uint64_t most = environment.target_file_size / 4;
  const uint64_t rate = environment.rate_limiter == nullptr ? 0 : environment.rate_limiter->rate();
  return rate == 0 ? most : std::min(most, rate);  // who claims a tablet waits for all of them
}

bool JointMerge::Takes(const Tablet& tablet, size_t group, const CompactionPlan& plan) {
  const CompactionPick& pick = plan.pick;
  const CompactionInputs& inputs = plan.inputs;
  // Of whole runs, so no other file has the order of the output.
  const bool is_plain = !plan.rewrite_all && pick.kind == CompactionPick::Kind::kMerge &&
                        pick.files.empty() && pick.rows == RowRange() && pick.threads <= 1 &&
                        inputs.dropped.empty() && inputs.between.empty();
  if (!is_plain || pick.output != CompactionOutput() || plan.layout->changes_since != 0) {
    return false;
  }
  return tablet.environment()->SharesFiles(plan.layout->groups[group].options,
                                           plan.InputBytes(tablet.estimates()));
}

void JointMerge::Run(const std::atomic<bool>* cancelled) {
  const FileNumbers::Work work(parts_.front()->environment_.file_numbers);
  std::vector<size_t> begun;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const absl::StatusOr<bool> has_work = parts_[i]->Begin(/*moves=*/false);
    statuses_[i] = has_work.status();
    if (!has_work.ok() || !*has_work) continue;
    // Until it is committed.
    statuses_[i] =
        absl::CancelledError("a compaction of another tablet has failed or was cancelled");
    begun.push_back(i);
  }
  if (!begun.empty() && Write(begun, cancelled)) Commit(begun);
  for (const size_t i : begun) parts_[i]->End(statuses_[i]);
}

bool JointMerge::Write(const std::vector<size_t>& begun, const std::atomic<bool>* cancelled) {
  MergingCompaction& first = *parts_[begun.front()];
  std::vector<SortedRun> runs;
  for (const size_t i : begun) {
    const std::vector<SortedRun>& merged = parts_[i]->plan_.inputs.merged;
    runs.insert(runs.end(), merged.begin(), merged.end());
  }
  // The time of the oldest deletion of all.
  const CompactionJob job = first.MakeJob(/*is_major=*/false, runs, cancelled, {});
  SharedOutput output(&job, first.environment_.shared_files);
  for (const size_t i : begun) {
    const absl::Status written = parts_[i]->WriteTo(&output, cancelled);
    if (written.ok()) continue;
    NoteOutcome(output.has_failed() ? absl::MakeConstSpan(begun) : absl::MakeConstSpan(&i, 1),
                written);
    return false;
  }
  auto pieces = output.Finish();
  if (!pieces.ok()) {
    NoteOutcome(begun, pieces.status());
    return false;
  }
  for (size_t k = 0; k < begun.size(); ++k) parts_[begun[k]]->Adopt((*pieces)[k]);
  return true;
}

std::vector<TabletStep> JointMerge::StepsOf(absl::Span<const size_t> parts) const {
  std::vector<TabletStep> steps;
  for (const size_t i : parts) {
    steps.insert(steps.end(), parts_[i]->steps_.begin(), parts_[i]->steps_.end());
  }
  return steps;
}

void JointMerge::NoteOutcome(absl::Span<const size_t> parts, const absl::Status& status) {
  for (const size_t i : parts) statuses_[i] = status;
}

void JointMerge::Commit(absl::Span<const size_t> written) {
  const TabletEnvironment& environment = parts_.front()->environment_;
  for (const size_t i : written) {
    const std::vector<TabletFile>& files = parts_[i]->written_;
    if (files.empty()) continue;
    const absl::Status synced = SyncDirectoryOf(
        environment.file_system, environment.path_of(files.front().info.file_number));
    if (!synced.ok()) return NoteOutcome(written, synced);
    break;
  }
  for (const size_t i : written) {
    const absl::Status prepared = parts_[i]->PrepareCommit();
    if (!prepared.ok()) return NoteOutcome(written, prepared);
  }
  const auto steps_of = [&](absl::Span<const size_t> parts) { return StepsOf(parts); };
  const auto commit = [&](absl::Span<const size_t> parts, bool* is_refused) {
    const absl::Status status = environment.store->Commit(StepsOf(parts));
    *is_refused = absl::IsFailedPrecondition(status) && parts.size() > 1;
    if (*is_refused) return status;
    for (const size_t i : parts) parts_[i]->Committed(status);
    NoteOutcome(parts, status);
    return status;
  };
  CommitTogether(*environment.store, steps_of, commit, &written).IgnoreError();  // it is noted
}

}  // namespace bigtable
