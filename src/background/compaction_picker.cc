#include "background/compaction_picker.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "background/pick_output.h"
#include "background/tablet_compaction.h"
#include "base/status.h"
#include "base/strings.h"
#include "compaction/pick_check.h"
#include "compaction/policies.h"

namespace bigtable {
namespace {

// The average bytes of an entry in the runs from `first` on.
double AverageEntry(const std::vector<SortedRun>& runs, size_t first) {
  double bytes = 0, entries = 0;
  for (size_t i = first; i < runs.size(); ++i) {
    bytes += static_cast<double>(runs[i].bytes());
    entries += static_cast<double>(runs[i].entries());
  }
  return entries == 0 ? 0 : bytes / entries;
}

// Estimates which part of a file has timestamps before `expired_before`, as if they were spread
// evenly.
double ExpiredPart(const SSTableInfo& info, int64_t expired_before) {
  if (info.max_timestamp < info.min_timestamp || expired_before <= info.min_timestamp) return 0;
  const double from = static_cast<double>(info.min_timestamp);
  const double span = static_cast<double>(info.max_timestamp) - from + 1;
  return std::min(1.0, (static_cast<double>(expired_before) - from) / span);
}

absl::Time OldestDeletionOf(const SSTableInfo& info) {
  if (info.deletions() == 0) return absl::InfiniteFuture();
  // A file of SSTableWriter has no times.
  return info.oldest_deletion == 0 ? absl::InfinitePast()
                                   : absl::FromUnixMicros(info.oldest_deletion);
}

RunSummary SummarizeRun(const FileEstimates& estimates, const std::vector<SortedRun>& runs,
                        size_t i, int64_t expired_before) {
  RunSummary run;
  const double older_entry = AverageEntry(runs, i + 1);
  double garbage = 0;
  for (const Ref<SSTable>& file : runs[i].files) {
    const SSTableInfo& info = file->info();
    // Only the bytes that a compaction of this tablet would read.
    const uint64_t bytes = estimates.BytesWithin(*file);
    const uint64_t entries = std::max<uint64_t>(estimates.PartOf(info.entries, *file), 1);
    const uint64_t deletions = estimates.PartOf(info.deletions(), *file);
    const double others = static_cast<double>(entries - std::min(deletions, entries));
    garbage += older_entry * (static_cast<double>(deletions) +
                              others * estimates.Overwriting(*file, runs, i)) +
               ExpiredPart(info, expired_before) * static_cast<double>(bytes);
    run.bytes += bytes;
    run.files.push_back({.number = info.file_number,
                         .bytes = bytes,
                         .entries = entries,
                         .deletions = deletions,
                         .smallest_key = info.smallest_key,
                         .largest_key = info.largest_key,
                         .min_sequence = info.min_sequence,
                         .max_sequence = info.max_sequence,
                         .max_timestamp = info.max_timestamp,
                         .has_wide_deletions = info.column_deletions + info.row_deletions > 0,
                         .is_full = info.is_full && bytes == info.size,
                         .oldest_deletion = OldestDeletionOf(info),
                         .row_reads = file->row_reads().all(),
                         .useless_row_reads = file->row_reads().useless()});
  }
  run.garbage_bytes = static_cast<uint64_t>(garbage);
  return run;
}

// Marks the files that compactions with these reaches have, or write next to.
void MarkCompacting(const GroupVersion& group, const std::vector<CompactionReach>& running,
                    GroupSummary* summary) {
  std::unordered_map<uint64_t, uint64_t> orders;
  for (const GroupFiles::File& file : group.files->files()) {
    orders[file.table->info().file_number] = file.order;
  }
  for (size_t i = 0; i < group.runs.size(); ++i) {
    for (size_t j = 0; j < group.runs[i].files.size(); ++j) {
      const SSTable& file = *group.runs[i].files[j];
      const uint64_t order = orders.at(file.info().file_number);
      summary->runs[i].files[j].is_compacting =
          std::any_of(running.begin(), running.end(),
                      [&](const CompactionReach& reach) { return reach.Meets(order, file); });
    }
  }
}

GroupSummary Summarize(const Tablet& tablet, const TabletVersion& version, size_t group,
                       absl::Time now, const std::vector<CompactionReach>& running = {}) {
  const TableLayout& layout = version.layout();
  GroupSummary summary;
  summary.table = layout.name;
  summary.locality_group = layout.groups[group].name;
  summary.rows = tablet.rows();
  summary.now = tablet.environment()->clock->Now();
  summary.sequence = tablet.environment()->visible();
  summary.oldest_snapshot = tablet.environment()->snapshots->OldestSequence(summary.sequence);
  summary.state = version.groups()[group].files->policy_state();
  summary.flush_size = tablet.environment()->memtable_size();
  summary.target_file_size = tablet.environment()->target_file_size;
  summary.expired_before = std::numeric_limits<int64_t>::max();
  const Retention retention = layout.RetentionOf(layout.groups[group].id, now);
  for (const RetainedFamily& family : retention.families) {
    summary.expired_before = std::min(summary.expired_before, family.min_timestamp);
  }
  const std::vector<SortedRun>& runs = version.groups()[group].runs;
  for (size_t i = 0; i < runs.size(); ++i) {
    summary.runs.push_back(SummarizeRun(tablet.estimates(), runs, i, summary.expired_before));
  }
  SetOverlaps(&summary);
  if (!running.empty()) MarkCompacting(version.groups()[group], running, &summary);
  return summary;
}

absl::Status RefusedPick(const TableLayout& layout, size_t group, const absl::Status& why) {
  const GroupLayout& of = layout.groups[group];
  const std::string& name = of.options.compaction_policy;
  return absl::FailedPreconditionError(
      Cat("compaction policy ", name.empty() ? "of the engine" : Quoted(name),
          " has made a bad pick for table ", Quoted(layout.name), ", locality group ",
          Quoted(of.name), ": ", ToStd(why.message())));
}

// What the policy picks of this version; the runs are counted in all runs of the group.
absl::StatusOr<std::optional<CompactionPick>> Pick(Tablet* tablet, size_t group,
                                                   const TabletVersion& version,
                                                   const GroupSummary& summary, bool may_drop) {
  const TableLayout& layout = version.layout();
  const std::vector<SortedRun>& runs = version.groups()[group].runs;
  GuardedPolicy* const policy = tablet->policies()->Of(group, layout.groups[group].options);
  const bool drops_expired = policy->DropsExpired();
  if (!policy->error().ok()) return RefusedPick(layout, group, policy->error());
  if (drops_expired && may_drop) {
    if (std::optional<CompactionPick> drop = FifoPolicy().Pick(summary)) return drop;
  }
  // A compaction would fail; see MergingCompaction::Run.
  if (!layout.CheckCanMerge(layout.groups[group].id).ok()) return std::nullopt;
  std::optional<CompactionPick> wait;
  for (const FileQuarantine::Stretch& stretch : tablet->quarantine().StretchesOf(group, runs)) {
    GroupSummary part = summary;
    const auto first = summary.runs.begin() + static_cast<std::ptrdiff_t>(stretch.first);
    part.runs.assign(first, first + static_cast<std::ptrdiff_t>(stretch.count));
    part.reaches_oldest = stretch.first + stretch.count == summary.runs.size();
    // Entries below a quarantined file that a run hides stay, however often the run is merged.
    if (!part.reaches_oldest) {
      for (RunSummary& run : part.runs) run.garbage_bytes = 0;
    }
    std::optional<CompactionPick> pick = policy->Pick(part);
    if (!policy->error().ok()) return RefusedPick(layout, group, policy->error());
    if (pick.has_value()) {
      absl::Status checked = CheckPick(part, *pick);
      if (checked.ok()) checked = CheckOutput(pick->output);
      if (!checked.ok()) return RefusedPick(layout, group, checked);
      pick->first += stretch.first;
      if (pick->kind != CompactionPick::Kind::kWait) return pick;
      if (!wait.has_value() || pick->delay < wait->delay) wait = std::move(pick);
    }
  }
  return wait;
}

// The newest adjacent runs of which a sparse file is a good part; or the sparse files of one run. A
// policy could not pick a single run or file.
std::optional<CompactionPick> PickSparse(Tablet* tablet, size_t group, const TabletVersion& version,
                                         const SparseFiles& sparse) {
  constexpr uint64_t kMostBesides = 3;  // times the share that is written again
  constexpr const char* kReason = "sparse files";
  const TableLayout& layout = version.layout();
  if (sparse.empty() || !layout.CheckCanMerge(layout.groups[group].id).ok() ||
      !tablet->policies()->Of(group, layout.groups[group].options)->BoundsRuns()) {
    return std::nullopt;
  }
  const std::vector<SortedRun>& runs = version.groups()[group].runs;
  const auto sparse_of = [&](size_t run, bool* is_whole) {
    std::vector<uint64_t> numbers;
    uint64_t bytes = 0, of_sparse = 0;
    for (const Ref<SSTable>& file : runs[run].files) {
      const uint64_t own = tablet->estimates().BytesWithin(*file);
      bytes += own;
      if (!sparse.contains(file->info().file_number)) continue;
      numbers.push_back(file->info().file_number);
      of_sparse += own;
    }
    *is_whole = bytes <= (1 + kMostBesides) * of_sparse;
    return numbers;
  };
  for (const FileQuarantine::Stretch& stretch : tablet->quarantine().StretchesOf(group, runs)) {
    CompactionPick pick{.reason = kReason};
    for (size_t i = stretch.first; i < stretch.first + stretch.count; ++i) {
      bool is_whole = false;
      std::vector<uint64_t> numbers = sparse_of(i, &is_whole);
      if (!numbers.empty() && is_whole) {
        if (pick.count++ == 0) pick.first = i;
        continue;
      }
      if (pick.count > 0) break;
      if (!numbers.empty()) {
        return CompactionPick{
            .first = i, .count = 1, .files = std::move(numbers), .reason = kReason};
      }
    }
    if (pick.count > 0) return pick;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::optional<CompactionPlan>> PickCompaction(
    Tablet* tablet, size_t group, const std::vector<CompactionReach>& running,
    const SparseFiles& sparse) {
  // Files that a snapshot sees are not dropped, and expired cells in them are no garbage.
  const TabletEnvironment& environment = *tablet->environment();
  const absl::Time now = environment.snapshots->OldestTime(TimeBeforeLayout(environment));
  const TabletMoment moment(*tablet);
  const TabletVersion& version = *moment.version;
  if (version.groups()[group].runs.empty()) return std::nullopt;
  const GroupSummary summary = Summarize(*tablet, version, group, now, running);
  for (const bool may_drop : {true, false}) {
    BT_ASSIGN_OR_RETURN(std::optional<CompactionPick> pick,
                        Pick(tablet, group, version, summary, may_drop));
    if (!pick.has_value()) pick = PickSparse(tablet, group, version, sparse);
    if (!pick.has_value()) return std::nullopt;
    if (pick->kind == CompactionPick::Kind::kWait) {
      return CompactionPlan{.pick = *pick, .now = moment.now};
    }
    CompactionPlan plan = PlanOf(moment, group, *pick);
    if (std::none_of(running.begin(), running.end(),
                     [&](const CompactionReach& reach) { return reach.Meets(plan.reach); })) {
      return plan;
    }
    // A drop of expired files that has to wait holds up nothing else.
    if (pick->kind != CompactionPick::Kind::kDrop) return std::nullopt;
  }
  return std::nullopt;
}

size_t MostCompactions(Tablet* tablet, size_t group) {
  const std::shared_ptr<const TableLayout> layout = tablet->Layout();
  const int most = tablet->policies()->Of(group, layout->groups[group].options)->MostCompactions();
  return static_cast<size_t>(std::clamp(most, 1, CompactionPolicy::kMostCompactions));
}

absl::StatusOr<CompactionOutput> PickFlushOutput(const Tablet& tablet, size_t group) {
  const Pin<TabletVersion> version = tablet.Version();
  const LocalityGroup& options = version->layout().groups[group].options;
  if (options.compaction_policy.empty()) return CompactionOutput();  // one of the engine
  const TabletEnvironment& environment = *tablet.environment();
  const absl::Time now = environment.snapshots->OldestTime(TimeBeforeLayout(environment));
  const std::unique_ptr<GuardedPolicy> policy = MakePolicy(options);
  const CompactionOutput output = policy->FlushOutput(Summarize(tablet, *version, group, now));
  const absl::Status checked = policy->error().ok() ? CheckOutput(output) : policy->error();
  if (checked.ok()) return output;
  return absl::Status(checked.code(), Cat("compaction policy ", Quoted(options.compaction_policy),
                                          ", for a flush of table ", Quoted(version->layout().name),
                                          ": ", ToStd(checked.message())));
}

}  // namespace bigtable
