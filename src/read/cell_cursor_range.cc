// What of CellCursor runs once in a read, or once a row: the beginning of its rows, the previous
// row of a reverse read, and the rest of a row after a source has failed. And the cells of
// aggregates.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/compare.h"
#include "base/key_buffer.h"
#include "base/shortcuts.h"
#include "base/strings.h"
#include "base/time_range.h"
#include "read/aggregate_cell.h"
#include "read/cell_cursor.h"

namespace bigtable {
namespace {

int64_t NewestThatPasses(const FilterProgram& filter) {
  int64_t first;
  int64_t last;
  if (!Shortcuts().Has(Shortcut::kPassNewer) || !filter.BoundsTimestamps(&first, &last)) {
    return std::numeric_limits<int64_t>::max();
  }
  return std::max<int64_t>(last, 0);
}

// The spec outlives the cursor, and so do its limits.
ReadSettings SettingsOf(const ReadSpec& spec, bool has_limits) {
  ReadSettings settings = spec.settings;
  if (has_limits) settings.limits = &spec.limits;
  return settings;
}

}  // namespace

CellCursor::Taken::Taken(const ReadSpec& spec, bool has_limits)
    : enters_first(!has_limits && Shortcuts().Has(Shortcut::kEnterFirst)),
      enters_same_column(!has_limits && !spec.reverse &&
                         Shortcuts().Has(Shortcut::kEnterSameColumn)),
      plain_keys(Shortcuts().Has(Shortcut::kPlainKeys)),
      kept_merges(Shortcuts().Has(Shortcut::kKeptMerges)),
      seeks_forward(Shortcuts().Has(Shortcut::kSeekForward)) {}

CellCursor::CellCursor(const TabletVersion* version, const ReadSpec& spec)
    : version_(version),
      spec_(spec),
      sequence_(spec.sequence),
      has_limits_(!spec.limits.deadline.is_never() || spec.limits.cancellation != nullptr),
      taken_(spec, has_limits_),
      filter_(spec.filter),
      newest_(NewestThatPasses(filter_)),
      sources_(version, SettingsOf(spec, has_limits_), &filter_, &input_),
      pace_(&spec.limits, &status_),
      versions_(Shortcuts().Has(Shortcut::kCountVersions)) {
  if (!spec.reverse) sources_.ExpectRows(spec.most_rows);
}

void CellCursor::Reset() {
  sources_.Clear();
  status_ = absl::OkStatus();
  fresh_ = true;
  has_cell_ = false;
  skip_row_ = false;
  is_merged_ = false;
  row_has_cells_ = false;
  walk_.Stop();
  rows_.Clear();
  key_.Clear();
}

void CellCursor::ReadRow(const RowProbe& row) {
  Reset();
  rows_.SetRow(row, row.is_plain() && taken_.plain_keys);
  sources_.AddRow(row);
}

void CellCursor::ReadRange(const RowRange& range) {
  Reset();
  if (range.empty()) return;
  rows_.SetRange(range, spec_.reverse);
  EmptyRows* const known = version_->empty_rows();
  const bool knows_rows = known != nullptr && Shortcuts().Has(Shortcut::kEmptyRows);
  const EmptyRows::View view{version_->empty_rows_epoch(), sequence_, spec_.now};
  if (knows_rows && !walk_.SkipBeginning(known, view, spec_.reverse, rows_.mutable_begin(),
                                         rows_.mutable_end())) {
    return;
  }
  sources_.AddRange(rows_.begin(), rows_.end());
  if (knows_rows) walk_.Start(sources_.is_complete());
}

bool CellCursor::EndWalk() {
  if (status_.ok()) walk_.End(rows_.begin(), rows_.end());
  return false;
}

bool CellCursor::SkipWalkedRows() {
  KeyBuffer at;
  switch (walk_.SkipRows(key_.row_prefix(), rows_.begin(), rows_.end(), &at)) {
    case EmptyRows::Skipped::kNone:
      return false;
    case EmptyRows::Skipped::kSome:
      if (rows_.is_reverse()) {
        rows_.LeaveRowsFrom(at.view());
      } else {
        input_.SeekForward(at.view());
      }
      return true;
    case EmptyRows::Skipped::kAll:
      sources_.Clear();  // there is nothing else
      return true;
  }
  return false;
}

bool CellCursor::StartPreviousRow() {
  key_.Clear();
  if (rows_.StartPrevious(&input_)) return true;
  return input_.status().ok() ? false : Fail(input_.status());
}

bool CellCursor::LeaveFailed(std::string_view row_prefix) {
  walk_.Stop();
  if (rows_.LeaveFailed(row_prefix, &input_)) return true;
  return Fail(input_.status());
}

// The input is at a deletion of a time range.
void CellCursor::AddTimeRange(EntryVersion version) {
  if (version.sequence <= family().created) return;
  TimeRange range;
  if (ParseTimeRange(input_.value(), &range)) {
    return column_.deletions().AddTimeRange(range, version);
  }
  Fail(absl::DataLossError(Cat("malformed time-range deletion: ", DebugString(input_.key()))));
}

CellCursor::Step CellCursor::ExamineAggregate(EntryVersion version) {
  // The cell may be older than its last contribution: as old as any.
  constexpr SequenceNumber kWritten = 0;
  Step step = Step::kNext;
  const bool alive = !column_.deletions().Hides(version, timestamp());
  if (!IsKept(version, kWritten, alive, &step)) return step;
  const ColumnHistory::Life* const life = versions_.LifeAt(timestamp());
  const auto leave_failed = [this] { return LeaveFailed(key_.row_prefix()); };
  AggregateCell cell(&input_, &key_, &column_, life != nullptr ? life->first : EntryVersion(),
                     leave_failed, &status_);
  is_merged_ = true;
  CallPace* const pace = has_limits_ ? &pace_ : nullptr;
  if (!(filter_.needs_values() ? cell.Merge(pace, taken_.kept_merges)
                               : cell.Pass(pace, taken_.kept_merges))) {
    return Step::kStay;
  }
  value_ = cell.value();
  merged_owner_ = cell.TakeOwner();
  if (PassesFilter(&step)) return Step::kStay;
  is_merged_ = false;
  return PastMerged(step);
}

CellCursor::Step CellCursor::PastMerged(Step step) const {
  const std::string_view skipped = step == Step::kSkipColumn ? key_.column_prefix()
                                   : step == Step::kSkipRow  ? key_.row_prefix()
                                                             : std::string_view();
  const bool is_at = !skipped.empty() && input_.valid() && BeginsWith(input_.key(), skipped);
  return is_at ? step : Step::kAgain;
}

void CellCursor::LeaveMerged() {
  is_merged_ = false;
  if (filter_.done_with_column()) Take(PastMerged(Step::kSkipColumn));
}

}  // namespace bigtable
