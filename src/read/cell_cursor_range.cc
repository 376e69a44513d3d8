// The parts of CellCursor that run once in a read, or once a row: the beginning of its rows, the
// previous row of a reverse read, and the rest of a row after a source has failed. And the merging
// of aggregates.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/compare.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/time_range.h"
#include "read/cell_cursor.h"

namespace bigtable {
namespace {

// The value of an aggregate, which is stored nowhere else.
class MergedValue final : public RefCounted {
 public:
  explicit MergedValue(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view view() const { return bytes_; }

 private:
  const std::string bytes_;
};

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

CellCursor::CellCursor(const TabletVersion* version, const ReadSpec& spec)
    : version_(version),
      spec_(spec),
      sequence_(spec.sequence),
      has_limits_(!spec.limits.deadline.is_never() || spec.limits.cancellation != nullptr),
      enters_first_(!has_limits_ && Shortcuts().Has(Shortcut::kEnterFirst)),
      enters_same_column_(!has_limits_ && !spec.reverse &&
                          Shortcuts().Has(Shortcut::kEnterSameColumn)),
      takes_plain_keys_(Shortcuts().Has(Shortcut::kPlainKeys)),
      counts_versions_(Shortcuts().Has(Shortcut::kCountVersions)),
      keeps_merges_(Shortcuts().Has(Shortcut::kKeptMerges)),
      steps_before_seek_(Shortcuts().Has(Shortcut::kSeekForward) ? kStepsBeforeSeek
                                                                 : std::numeric_limits<int>::max()),
      filter_(spec.filter),
      newest_(NewestThatPasses(filter_)),
      sources_(version, SettingsOf(spec, has_limits_), &filter_, &input_),
      pace_(&spec.limits, &status_) {
  if (has_limits_ && !filter_.passes_everything()) filter_.SetPace(&pace_);
}

void CellCursor::Reset() {
  sources_.Clear();
  status_ = absl::OkStatus();
  fresh_ = true;
  has_cell_ = false;
  skip_row_ = false;
  walks_ = false;
  is_merged_ = false;
  behind_row_ = absl::OkStatus();
  reverse_row_.clear();
  row_prefix_size_ = 0;
  same_column_size_ = 0;
  column_prefix_.clear();
  begin_.clear();
  end_.clear();
  single_row_ = false;
  single_row_is_plain_ = false;
}

void CellCursor::ReadRow(const RowProbe& row) {
  Reset();
  reverse_ = false;
  single_row_ = true;
  begin_.assign(row.prefix());
  single_row_is_plain_ = row.is_plain() && takes_plain_keys_;
  sources_.AddRow(row);
}

void CellCursor::ReadRange(const RowRange& range) {
  Reset();
  reverse_ = spec_.reverse;
  if (range.empty()) return;
  if (!range.begin().empty()) AppendRowPrefix(&begin_, range.begin());
  if (range.end().has_value()) AppendRowPrefix(&end_, *range.end());
  const bool knows_rows =
      !reverse_ && version_->empty_rows() != nullptr && Shortcuts().Has(Shortcut::kEmptyRows);
  has_skipped_ = false;
  if (knows_rows && version_->empty_rows()->is_watching()) [[unlikely]] {
    const EmptyRows::Skipped skipped = SkipEmptyRows(&begin_);
    if (skipped == EmptyRows::Skipped::kAll) return;
    has_skipped_ = skipped == EmptyRows::Skipped::kSome;
  }
  sources_.AddRange(begin_.view(), end_.view());
  walks_ = knows_rows && sources_.is_complete();
}

// --- Empty rows ---

EmptyRows::Skipped CellCursor::SkipEmptyRows(KeyBuffer* row) const {
  const EmptyRows::Skipped skipped =
      version_->empty_rows()->Skip({version_->empty_rows_epoch(), sequence_, spec_.now}, row);
  // Nothing at or after the end of the range is read.
  const bool is_at_end = !end_.empty() && row->view() >= end_.view();
  return is_at_end ? EmptyRows::Skipped::kAll : skipped;
}

bool CellCursor::Walk() {
  walked_rows_ = 0;
  next_skip_ = EmptyRows::thresholds().watch;
  const bool found = Next();
  if (walks_ && status_.ok()) EndWalk(found ? row_prefix() : end_.view());
  walks_ = false;
  return false;
}

bool CellCursor::SkipWalkedRows() {
  const uint32_t threshold = EmptyRows::thresholds().watch;
  // Again and again, so that the watch is not forgotten during the walk.
  version_->empty_rows()->Watch(version_->empty_rows_epoch(), begin_.view());
  next_skip_ = walked_rows_ + threshold;
  KeyBuffer row;
  row.assign(row_prefix());
  switch (SkipEmptyRows(&row)) {
    case EmptyRows::Skipped::kNone:
      return false;
    case EmptyRows::Skipped::kSome:
      input_.SeekForward(row.view());
      return true;
    case EmptyRows::Skipped::kAll:
      sources_.Clear();  // there is nothing else
      return true;
  }
  return false;
}

void CellCursor::EndWalk(std::string_view end) {
  walks_ = false;
  const EmptyRows::Thresholds thresholds = EmptyRows::thresholds();
  if (walked_rows_ < (has_skipped_ ? thresholds.extend : thresholds.watch)) return;
  version_->empty_rows()->Report({version_->empty_rows_epoch(), sequence_, spec_.now},
                                 begin_.view(), end, walked_rows_);
}

// For a reverse read: moves the input to the beginning of the last row before the current one, or
// of the range.
bool CellCursor::StartPreviousRow() {
  if (!reverse_row_.empty()) {
    input_.SeekBefore(reverse_row_.view());
  } else if (end_.empty()) {
    input_.SeekToLast();
  } else {
    input_.SeekBefore(end_.view());
  }
  behind_row_ = absl::OkStatus();
  row_prefix_size_ = 0;
  column_prefix_.clear();
  if (!input_.valid()) return input_.status().ok() ? false : Fail(input_.status());
  if (input_.key() < begin_.view()) return false;
  reverse_row_.assign(input_.key().substr(0, RowPrefixSize(input_.key())));
  input_.Seek(reverse_row_.view());
  return true;
}

bool CellCursor::LeaveFailed(std::string_view row_prefix) {
  absl::Status failure = input_.status();
  walks_ = false;
  if (row_prefix.empty() || !input_.LeaveFailed(row_prefix)) return Fail(std::move(failure));
  behind_row_ = std::move(failure);
  if (!reverse_ && !single_row_) end_.assign(PrefixSuccessor(row_prefix));
  return true;
}

// The input is at a deletion of a time range.
void CellCursor::AddTimeRange(EntryVersion version) {
  if (version.sequence <= family_->created) return;
  TimeRange range;
  if (ParseTimeRange(input_.value(), &range)) return deletions_.AddTimeRange(range, version);
  Fail(absl::DataLossError(Cat("malformed time-range deletion: ", DebugString(input_.key()))));
}

CellCursor::Step CellCursor::ExamineAggregate(EntryVersion version) {
  // The cell may be older than its last contribution: as old as any.
  constexpr SequenceNumber kWritten = 0;
  Step step = Step::kNext;
  const bool alive = !deletions_.Hides(version, timestamp_);
  if (!IsKept(version, kWritten, alive, &step)) return step;
  const ColumnHistory::Life* const life = played_ ? history_->FindLife(timestamp_) : nullptr;
  if (!MergeContributions(life != nullptr ? life->first : EntryVersion())) return Step::kStay;
  const FilterProgram::Verdict verdict = filter_.passes_everything()
                                             ? FilterProgram::Verdict::kPass
                                             : filter_.Judge(timestamp_, &value_);
  if (verdict == FilterProgram::Verdict::kPass) {
    is_new_row_ = !row_has_cells_;
    row_has_cells_ = true;
    return Step::kStay;
  }
  if (walks_) EndWalk(row_prefix());
  switch (verdict) {
    case FilterProgram::Verdict::kNextColumn:
      step = Step::kSkipColumn;
      break;
    case FilterProgram::Verdict::kNextRow:
      step = Step::kSkipRow;
      break;
    case FilterProgram::Verdict::kPass:
    case FilterProgram::Verdict::kNextCell:
    case FilterProgram::Verdict::kSeekColumn:
    case FilterProgram::Verdict::kNextFamily:
      break;
  }
  is_merged_ = false;
  return PastMerged(step);
}

bool CellCursor::MergeContributions(EntryVersion first) {
  if (family_->aggregate == nullptr) {
    return Fail(absl::DataLossError(Cat("family ", Quoted(family_->name),
                                        " holds bytes, and has a contribution to an aggregate")));
  }
  const AggregateOperator* const op = family_->aggregate->operator_or_null();
  if (op == nullptr) return Fail(family_->aggregate->MissingError(family_->name));
  const Contribution newest = ContributionHere();
  // A single state, as compactions leave it, stays where it is.
  value_ = newest.value;
  merged_owner_ = Ref<const RefCounted>(input_.value_owner());
  is_merged_ = true;
  const KeptMerge* const kept = UsableMerge(newest, first);
  const bool has_more = NextContribution(kept, first);
  if (!status_.ok()) return false;
  if (kept != nullptr || has_more) {
    return MergeWithOlder(*op, newest, kept, has_more, first);
  }
  if (newest.kind == EntryKind::kAddToCell) {
    std::string state(value_);
    if (const absl::Status made = MakeState(*op, newest.kind, &state); !made.ok()) {
      return Fail(Annotate(made, Cat("family ", Quoted(family_->name))));
    }
    const auto merged = MakeRef<MergedValue>(std::move(state));
    value_ = merged->view();
    merged_owner_ = merged;
  }
  return true;
}

bool CellCursor::MergeWithOlder(const AggregateOperator& op, const Contribution& newest,
                                const KeptMerge* kept, bool has_more, EntryVersion first) {
  ContributionMerge merge(op, keeps_merges_);
  absl::Status status = merge.Take(newest, kept);
  while (status.ok() && has_more) {
    const Contribution here = ContributionHere();
    kept = UsableMerge(here, first);
    status = merge.Take(here, kept);
    if (has_limits_ && !pace_.Count(here.value.size())) return false;
    has_more = NextContribution(kept, first);
  }
  std::string state;
  if (status.ok()) status = merge.Finish(&state);
  if (!status.ok()) return Fail(Annotate(status, Cat("family ", Quoted(family_->name))));
  const auto merged = MakeRef<MergedValue>(std::move(state));
  value_ = merged->view();
  merged_owner_ = merged;
  return status_.ok();
}

Contribution CellCursor::ContributionHere() const {
  const EntryCursor* const source = input_.current();
  return {.source = source,
          .place = source == nullptr ? nullptr : source->merge_place(),
          .version = VersionOf(input_.key()),
          .kind = KindOf(input_.key()),
          .value = input_.value()};
}

const KeptMerge* CellCursor::UsableMerge(const Contribution& here, EntryVersion first) {
  if (here.place == nullptr || !keeps_merges_) return nullptr;
  const KeptMerge* const kept = here.place->load(std::memory_order_acquire);
  if (kept == nullptr || !Counts(kept->oldest, first)) return nullptr;
  const std::string_view next = input_.KeyOfOthers();
  return next.empty() || next > KeyOfOldest(*kept) ? kept : nullptr;
}

std::string CellCursor::KeyOfOldest(const KeptMerge& kept) const {
  std::string key(column_prefix_.view());
  AppendTrailer(&key, timestamp_, kept.oldest, kept.oldest_kind);
  return key;
}

bool CellCursor::NextContribution(const KeptMerge* kept, EntryVersion first) {
  if (kept == nullptr) {
    input_.Next();
  } else {
    std::string behind = KeyOfOldest(*kept);
    behind.push_back('\0');
    input_.SeekForward(behind);
  }
  while (!input_.valid()) {
    if (input_.status().ok() || !LeaveFailed(row_prefix())) return false;
  }
  const std::string_view key = input_.key();
  return IsContribution(KindOf(key)) && key.size() == column_prefix_.size() + kTrailerSize &&
         BeginsWith(key, column_prefix_.view()) && TimestampOf(key) == timestamp_ &&
         Counts(VersionOf(key), first);
}

// If a contribution counts, so do all that were written after it.
bool CellCursor::Counts(EntryVersion version, EntryVersion first) {
  return version >= first && version.sequence > family_->created &&
         !deletions_.Hides(version, timestamp_) &&
         !family_->past.HasExpired(version.sequence, timestamp_);
}

CellCursor::Step CellCursor::PastMerged(Step step) const {
  const std::string_view skipped = step == Step::kSkipColumn ? column_prefix_.view()
                                   : step == Step::kSkipRow  ? row_prefix()
                                                             : std::string_view();
  const bool is_at = !skipped.empty() && input_.valid() && BeginsWith(input_.key(), skipped);
  return is_at ? step : Step::kAgain;
}

void CellCursor::LeaveMerged() {
  is_merged_ = false;
  if (filter_.done_with_column()) Take(PastMerged(Step::kSkipColumn));
}

}  // namespace bigtable
