#include "background/compaction_plan.h"

#include <algorithm>
#include <vector>

#include "background/tablet_compaction.h"
#include "compaction/row_span.h"

namespace bigtable {
namespace {

// The files that the pick removes, moves or writes again.
std::vector<Ref<SSTable>> TakenFiles(const CompactionInputs& inputs) {
  std::vector<Ref<SSTable>> taken = inputs.dropped;
  for (const SortedRun& run : inputs.merged) {
    taken.insert(taken.end(), run.files.begin(), run.files.end());
  }
  return taken;
}

// The sequence number up to which the inputs, which were picked from the run `first_run` on, have
// all entries of their rows.
SequenceNumber CompleteThrough(const GroupVersion& group, const std::vector<Ref<SSTable>>& inputs,
                               size_t first_run, SequenceNumber visible) {
  std::vector<const SSTable*> taken;  // inputs, and files without any of their rows
  taken.reserve(inputs.size());
  for (const Ref<SSTable>& file : inputs) taken.push_back(file.get());
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

CompactionReach ReachOf(const GroupVersion& group, const CompactionPlan& plan,
                        const std::vector<Ref<SSTable>>& taken) {
  CompactionReach reach;
  if (taken.empty()) return reach;
  // The picked runs with all of their files, since the output joins the oldest one.
  std::vector<Ref<SSTable>> of_runs = plan.inputs.target;
  if (of_runs.empty()) {
    of_runs = plan.inputs.dropped;
  } else {
    const std::vector<Ref<SSTable>>& newest = group.runs[plan.pick.first].files;
    of_runs.insert(of_runs.end(), newest.begin(), newest.end());
  }
  const GroupFiles::Orders orders = group.files->OrdersOf(of_runs);
  RowSpan rows = RowSpan::Of(*taken.front());
  for (const Ref<SSTable>& file : taken) {
    rows.first = std::min(rows.first, RowSpan::Of(*file).first);
    rows.last = std::max(rows.last, RowSpan::Of(*file).last);
  }
  reach.oldest = orders.oldest;
  reach.newest = orders.newest;
  reach.first_row = rows.first;
  reach.last_row.emplace(rows.last);
  return reach;
}

}  // namespace

bool CompactionReach::Meets(std::string_view first, std::string_view last) const {
  return first_row <= last && (!last_row.has_value() || first <= *last_row);
}

bool CompactionReach::Meets(uint64_t order, const SSTable& file) const {
  const RowSpan rows = RowSpan::Of(file);
  return oldest <= order && order <= newest && Meets(rows.first, rows.last);
}

bool CompactionReach::Meets(const CompactionReach& other) const {
  if (oldest > newest || other.oldest > other.newest) return false;
  if (oldest > other.newest || other.oldest > newest) return false;
  return other.last_row.has_value() ? Meets(other.first_row, *other.last_row)
                                    : !last_row.has_value() || other.first_row <= *last_row;
}

uint64_t CompactionPlan::InputBytes(const FileEstimates& estimates) const {
  uint64_t bytes = 0;
  for (const SortedRun& run : inputs.merged) {
    for (const Ref<SSTable>& file : run.files) bytes += estimates.BytesWithin(*file);
  }
  return bytes;
}

TabletMoment::TabletMoment(const Tablet& tablet)
    : now(TimeBeforeLayout(*tablet.environment())),
      visible(tablet.environment()->visible()),
      version(tablet.Version()) {}

CompactionPlan PlanOf(const TabletMoment& moment, size_t group, const CompactionPick& pick,
                      bool rewrite_all) {
  const GroupVersion& of_group = moment.version->groups()[group];
  CompactionPlan plan{.pick = pick, .rewrite_all = rewrite_all, .now = moment.now};
  plan.layout = moment.version->shared_layout();
  plan.inputs = ChooseInputs(of_group.runs, pick);
  const std::vector<Ref<SSTable>> taken = TakenFiles(plan.inputs);
  plan.complete_through = CompleteThrough(of_group, taken, pick.first, moment.visible);
  plan.reach = ReachOf(of_group, plan, taken);
  return plan;
}

}  // namespace bigtable
