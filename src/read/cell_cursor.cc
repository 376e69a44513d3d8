// The path from one cell to the next. It is one long file so that the compiler can inline most of
// it into Next and NextInRow. Code that is not on this path is in cell_cursor_range.cc.
#include "read/cell_cursor.h"

#include <cstring>
#include <memory>
#include <utility>

#include "absl/base/macros.h"

#include "base/compare.h"
#include "base/strings.h"

namespace bigtable {

bool CellCursor::Next() {
  if (!status_.ok() || sources_.empty()) return false;
  if (!behind_row_.ok()) [[unlikely]] {
    if (has_cell_ && !skip_row_ && NextInRow()) return true;
    if (!status_.ok()) return false;
    if (!reverse_) return FailBehindRow();
    // The next rows are those before it.
  }
  is_new_row_ = false;
  if (fresh_) {
    if (!Begin()) return has_cell_;
  } else if (skip_row_ && row_prefix_size_ > 0) {
    Take(is_merged_ ? PastMerged(Step::kSkipRow) : Step::kSkipRow);
    is_merged_ = false;
  } else if (has_cell_) {
    LeaveCell();
  }
  skip_row_ = false;
  has_cell_ = Find();
  return has_cell_;
}

bool CellCursor::NextInRow() {
  ABSL_ASSERT(has_cell_ && "the last call has found a cell");
  is_new_row_ = false;
  LeaveCell();
  has_cell_ = !HasLeftRow() && FindInRow();
  return has_cell_;
}

bool CellCursor::Begin() {
  fresh_ = false;
  if (single_row_) {
    sources_.SeekPlanned(begin_.view());
    input_.Start();
  } else if (!reverse_) {
    input_.Seek(begin_.view());
    if (walks_) return Walk();
  } else {
    return StartPreviousRow();
  }
  return true;
}

inline void CellCursor::LeaveCell() {
  if (is_merged_) [[unlikely]] {
    LeaveMerged();
  } else if (filter_.done_with_column()) {
    Take(Step::kSkipColumn);
  } else {
    input_.Next();
  }
}

bool CellCursor::Find() {
  while (true) {
    if (!input_.valid() || IsAtEnd(input_.key())) {
      if (!input_.status().ok()) {
        if (!LeaveFailed(RowToFinish())) return false;
      } else if (!reverse_) {
        return behind_row_.ok() ? false : FailBehindRow();
      } else if (!StartPreviousRow()) {
        return false;
      }
      continue;
    }
    const std::string_view key = input_.key();
    if (row_prefix_size_ > 0 ? EnterSameColumn(key) : EnterFirst(key)) return true;
    const Step step = Examine(key);
    if (step == Step::kStay) return status_.ok();
    Take(step);
  }
}

std::string_view CellCursor::RowToFinish() const {
  if (reverse_) return reverse_row_.view();
  if (single_row_) return begin_.view();
  const std::string_view key = input_.SmallestKey();
  if (key.empty() || IsAtEnd(key)) return {};
  return key.substr(0, RowPrefixSize(key));
}

inline bool CellCursor::HasLeftRow() const {
  return input_.valid() && !BeginsWith(input_.key(), row_prefix());
}

// Not inlined: most calls of NextInRow end before it, and save the registers of this call.
[[gnu::noinline]] bool CellCursor::FindInRow() {
  do {
    if (!input_.valid()) {
      if (input_.status().ok() || !LeaveFailed(row_prefix())) return false;
      continue;
    }
    const Step step = Examine(input_.key());
    if (step == Step::kStay) return status_.ok();
    if (step == Step::kSkipRow) {
      skip_row_ = true;  // by Next()
      return false;
    }
    Take(step);
  } while (!HasLeftRow());
  return false;
}

// What to do with the input's entry. kStay: it is a cell to be returned, unless status() has an
// error.
inline CellCursor::Step CellCursor::Examine(std::string_view key) {
  if (has_limits_ && !pace_.Count(input_.value().size())) return Step::kStay;
  if (VersionOf(key).sequence > sequence_) return Step::kNext;
  Step step = Enter(key);
  if (step == Step::kStay) step = ExamineEntry(key);
  return status_.ok() ? step : Step::kStay;
}

inline bool CellCursor::IsAtEnd(std::string_view key) const {
  if (reverse_) return !key.starts_with(reverse_row_.view());
  if (single_row_) return !BeginsWith(key, begin_.view());
  return !end_.empty() && !Less(key, end_.view());
}

// The usual case of a scan: a cell of the same column as the last one, in the next row, and nothing
// to skip. True if the cursor is at it now.
//
// The ends of both keys, from the row's end mark to the trailer, are equal, and the mark has the
// first zero byte. That separates the row from the column without parsing the key.
inline bool CellCursor::EnterSameColumn(std::string_view key) {
  if (same_column_size_ == 0 || key.size() <= same_column_size_ + kTrailerSize) return false;
  const size_t row_size = key.size() - kTrailerSize - same_column_size_;
  const std::string_view column = column_prefix_.view();
  if (!SameBytes(key.data() + row_size, column.data() + column.size() - same_column_size_,
                 same_column_size_) ||
      std::memchr(key.data(), 0, row_size) != nullptr) {
    return false;
  }
  const bool same_row =
      row_size + 2 == row_prefix_size_ && SameBytes(key.data(), column.data(), row_size);
  const EntryVersion version = VersionOf(key);
  const int64_t timestamp = TimestampOf(key);
  if (same_row || KindOf(key) != EntryKind::kCell || version.sequence > sequence_ ||
      version.sequence <= family_->created || timestamp < min_timestamp_ || deletions_.has_wide()) {
    return false;
  }
  column_prefix_.assign(ColumnPrefix(key));
  ABSL_ASSERT(in_family_ && "the column before was of the same family");
  row_prefix_size_ = row_size + 2;
  const size_t column_end = column_prefix_.size() - 2;
  qualifier_ = column_prefix_.view().substr(column_end - qualifier_.size(), qualifier_.size());
  EnterCell(timestamp);
  return true;
}

// The usual first entry of a single-row read: a cell with no deletion before it. True if the cursor
// is at it now.
inline bool CellCursor::EnterFirst(std::string_view key) {
  if (!single_row_is_plain_ || !filter_.passes_everything() || !enters_first_ ||
      KindOf(key) != EntryKind::kCell || deletions_.has_wide()) {
    return false;
  }
  const std::string_view rest = ColumnPrefix(key).substr(begin_.size());
  const FamilyLayout* const family = version_->layout().FamilyBefore(rest);
  if (family == nullptr) return false;
  const std::string_view escaped = rest.substr(family->name.size() + 1);
  const EntryVersion version = VersionOf(key);
  const int64_t timestamp = TimestampOf(key);
  min_timestamp_ = family->SuspectBefore(spec_.now);
  family_ = family;
  if (std::memchr(escaped.data(), 0, escaped.size() - 2) != nullptr ||
      version.sequence > sequence_ || version.sequence <= family->created ||
      timestamp < min_timestamp_) {
    return false;
  }
  column_prefix_.assign(ColumnPrefix(key));
  row_prefix_size_ = begin_.size();
  row_is_plain_ = true;
  same_column_size_ = enters_same_column_ ? rest.size() + 2 : 0;
  in_family_ = true;
  qualifier_ =
      column_prefix_.view().substr(column_prefix_.size() - escaped.size(), escaped.size() - 2);
  EnterCell(timestamp);
  return true;
}

// Moves to the first entry of a column, which is a visible cell.
inline void CellCursor::EnterCell(int64_t timestamp) {
  deletions_.EnterPlain();
  in_timestamp_ = true;
  timestamp_ = timestamp;
  alive_ = 1;
  saw_dead_ = !counts_versions_;
  played_ = false;
  value_ = input_.value();
  is_new_row_ = true;
  row_has_cells_ = true;
}

// Makes the row and column of `key` current; kStay if the column is to be read.
CellCursor::Step CellCursor::Enter(std::string_view key) {
  if (key.size() == column_prefix_.size() + kTrailerSize &&
      BeginsWith(key, column_prefix_.view())) {
    return Step::kStay;
  }
  return EnterColumn(key);
}

// Makes the row of `key` current. column_prefix_ is already that of `key`.
bool CellCursor::EnterRow(std::string_view key) {
  if (!CheckLimits()) return false;
  if (single_row_) {
    row_prefix_size_ = begin_.size();
    row_is_plain_ = single_row_is_plain_;
  } else {
    row_prefix_size_ = RowPrefixSize(key, &row_is_plain_);
    if (walks_ && ++walked_rows_ == next_skip_ && SkipWalkedRows()) return false;
    row_is_plain_ = row_is_plain_ && takes_plain_keys_;
  }
  if (!row_is_plain_) row_.assign(Unescape(row_prefix(), &qualifier_scratch_));
  row_has_cells_ = false;
  deletions_.EnterRow();
  if (!filter_.passes_everything()) filter_.StartRow(row());
  in_family_ = false;
  return true;
}

// Makes the family current with which `rest`, a column prefix without the row's, begins.
bool CellCursor::EnterFamily(std::string_view rest) {
  if (family_ == nullptr || !BeginsWith(rest, family_->name) ||
      rest[family_->name.size()] != '\0') {
    in_family_ = false;
    family_ = version_->layout().FamilyBefore(rest);
    if (family_ == nullptr) return false;
    min_timestamp_ = family_->SuspectBefore(spec_.now);
  }
  if (in_family_) return true;
  in_family_ = true;
  deletions_.EnterFamily(family_->group_id);
  return true;
}

CellCursor::Step CellCursor::EnterColumn(std::string_view key) {
  const bool same_row = row_prefix_size_ > 0 && BeginsWith(key, row_prefix());
  same_column_size_ = 0;
  column_prefix_.assign(ColumnPrefix(key));
  if (!same_row && !EnterRow(key)) return Step::kAgain;
  const std::string_view rest = column_prefix_.view().substr(row_prefix_size_);
  if (rest[0] == '\0') return Step::kStay;           // a deletion of the row
  if (!EnterFamily(rest)) return Step::kSkipFamily;  // it was dropped
  deletions_.EnterColumn();
  in_timestamp_ = false;
  alive_ = 0;
  saw_dead_ = !counts_versions_;
  played_ = false;

  const std::string_view escaped = rest.substr(family_->name.size() + 1);
  if (escaped[0] == '\0' && escaped[1] == '\0') return Step::kStay;  // a deletion of the family
  qualifier_ = Unescape(escaped, &qualifier_scratch_);
  const bool is_plain = row_is_plain_ && qualifier_.data() == escaped.data();
  if (is_plain && filter_.passes_everything() && enters_same_column_) {
    same_column_size_ = rest.size() + 2;
  }
  if (filter_.passes_everything()) return Step::kStay;
  const FilterProgram::Verdict verdict = filter_.StartColumn(family_->name, qualifier_);
  if (verdict == FilterProgram::Verdict::kPass) return Step::kStay;
  if (walks_) EndWalk(row_prefix());
  switch (verdict) {
    case FilterProgram::Verdict::kNextRow:
      return Step::kSkipRow;
    case FilterProgram::Verdict::kNextFamily:
      return Step::kSkipFamily;
    case FilterProgram::Verdict::kSeekColumn: {
      if (steps_before_seek_ != kStepsBeforeSeek) return Step::kSkipColumn;
      std::string target(row_prefix());
      AppendFamily(&target, family_->name);
      AppendEscaped(&target, filter_.seek_qualifier());
      target.resize(target.size() - 2);  // without the end mark: before every such qualifier
      input_.SeekForward(target);
      return Step::kAgain;
    }
    case FilterProgram::Verdict::kPass:
    case FilterProgram::Verdict::kNextCell:
    case FilterProgram::Verdict::kNextColumn:
      break;
  }
  return Step::kSkipColumn;
}

// Examines an entry of the current column.
CellCursor::Step CellCursor::ExamineEntry(std::string_view key) {
  const EntryVersion version = VersionOf(key);
  if (HasTimestamp(KindOf(key))) [[likely]]
    return ExamineCell(key, version);
  AddDeletion(key, version);
  return Step::kNext;
}

void CellCursor::AddDeletion(std::string_view key, EntryVersion version) {
  const EntryKind kind = KindOf(key);
  if (kind == EntryKind::kDeleteTimeRange) [[unlikely]]
    return AddTimeRange(version);
  uint32_t group_id = 0;
  if (ScopeOf(kind) == EntryScope::kRow) {
    group_id = GroupOfRowDeletion(key, row_prefix_size_);
  } else if (version.sequence <= family_->created) {
    return;
  }
  deletions_.Add(kind, version, group_id);
}

CellCursor::Step CellCursor::ExamineCell(std::string_view key, EntryVersion version) {
  ABSL_ASSERT(in_family_ && family_ != nullptr && "the entry's column was entered");
  if (version.sequence <= family_->created) return Step::kNext;
  const int64_t timestamp = TimestampOf(key);
  // Where versions are counted, newer cells count even if the filter excludes them.
  if (timestamp > newest_ && !family_->counts_versions()) {
    if (walks_) EndWalk(row_prefix());
    return Step::kSkipNewer;
  }
  if (in_timestamp_ && timestamp == timestamp_) return Step::kNext;  // overwritten
  const EntryKind kind = KindOf(key);
  if (kind == EntryKind::kCountedOut) [[unlikely]] {
    saw_dead_ = true;
    return Step::kNext;
  }
  in_timestamp_ = true;
  timestamp_ = timestamp;
  if (timestamp < min_timestamp_) {
    if (timestamp < MinTimestamp(family_->gc, spec_.now)) return Step::kSkipColumn;
    if (family_->past.HasExpired(version.sequence, timestamp)) return Step::kNext;
  }

  if (IsContribution(kind)) [[unlikely]]
    return ExamineAggregate(version);
  const bool alive = kind == EntryKind::kCell && !deletions_.Hides(version, timestamp);
  Step step = Step::kNext;
  if (!IsKept(version, version.sequence, alive, &step)) return step;

  value_ = input_.value();
  const FilterProgram::Verdict verdict = filter_.passes_everything()
                                             ? FilterProgram::Verdict::kPass
                                             : filter_.Judge(timestamp, &value_);
  if (verdict == FilterProgram::Verdict::kPass) {
    is_new_row_ = !row_has_cells_;
    row_has_cells_ = true;
    return Step::kStay;
  }
  if (walks_) EndWalk(row_prefix());
  switch (verdict) {
    case FilterProgram::Verdict::kNextColumn:
      return Step::kSkipColumn;
    case FilterProgram::Verdict::kNextRow:
      return Step::kSkipRow;
    case FilterProgram::Verdict::kPass:
    case FilterProgram::Verdict::kNextCell:
    case FilterProgram::Verdict::kSeekColumn:
    case FilterProgram::Verdict::kNextFamily:
      break;
  }
  return Step::kNext;
}

// Whether the last write at its timestamp is a cell that is not deleted (`alive`) and that
// MaxVersions keeps and has always kept since `written`. If not, `*otherwise` is the step to take.
//
// Each of the `alive_` cells counts against all that follow, which have older timestamps too.
bool CellCursor::IsKept(EntryVersion version, SequenceNumber written, bool alive, Step* otherwise) {
  if (!family_->counts_versions()) return alive;
  if (alive_ >= family_->fewest_versions() &&
      (family_->collects_by_count() || timestamp_ < MinTimestamp(family_->gc, spec_.now, alive_))) {
    *otherwise = Step::kSkipColumn;
    return false;
  }
  if (!alive) {
    saw_dead_ = true;
    return false;
  }
  if (played_ || NeedsHistory(written)) {
    if (!played_ && !PlayColumn()) return false;
    const ColumnHistory::Life* const life = history_->FindLife(timestamp_);
    if (life == nullptr || life->birth != version || !life->is_visible()) return false;
    if (!life->counts()) return true;
  }
  ++alive_;
  return true;
}

// Whether the newer cells of the column do not suffice to decide if this cell is kept.
bool CellCursor::NeedsHistory(SequenceNumber written) const {
  const PastRules& past = family_->past;
  if (saw_dead_) {
    return family_->most_versions() != kAllVersions || written < past.versions_changed();
  }
  if (alive_ == 0 || past.versions.empty()) return false;
  const bool is_by_count = family_->collects_by_count();
  return written < past.LoosenedBefore(is_by_count ? family_->most_versions() : kAllVersions);
}

void CellCursor::Take(Step step) {
  switch (step) {
    case Step::kStay:
    case Step::kAgain:
      return;
    case Step::kNext:
      input_.Next();
      return;
    case Step::kSkipNewer: {
      for (int i = 0; i < kStepsBeforeSeek; ++i) {
        input_.Next();
        if (!input_.valid() || !BeginsWith(input_.key(), column_prefix_.view()) ||
            TimestampOf(input_.key()) <= newest_) {
          return;
        }
      }
      std::string target(column_prefix_.view());
      AppendTimestamp(&target, newest_);
      input_.SeekForward(target);
      return;
    }
    case Step::kSkipColumn:
      return Pass(column_prefix_.view(), steps_before_seek_);
    case Step::kSkipFamily: {
      const std::string_view name = FamilyOf(column_prefix_.view(), row_prefix_size_);
      return Pass(column_prefix_.view().substr(0, row_prefix_size_ + name.size() + 1),
                  steps_before_seek_ - kStepsBeforeSeek);
    }
    case Step::kSkipRow:
      return Pass(row_prefix(), steps_before_seek_);
  }
}

void CellCursor::Pass(std::string_view prefix, int steps) {
  for (int i = 0; i < steps; ++i) {
    input_.Next();
    if (!input_.valid()) {
      if (input_.status().ok()) return;
      // Sources that have not failed may have more entries with the prefix.
      return input_.Seek(PrefixSuccessor(prefix));
    }
    if (!input_.key().starts_with(prefix)) return;
  }
  input_.SeekForward(PrefixSuccessor(prefix));
}

bool CellCursor::PlayColumn() {
  const std::string here(input_.key());
  const ColumnHistory::Bounds bounds{.written_after = family_->created,
                                     .written_by = sequence_,
                                     .min_timestamp = MinTimestamp(family_->gc, spec_.now),
                                     .past = &family_->past};
  const auto go_on = [this] { return CheckLimits(); };
  if (history_ == nullptr) history_ = std::make_unique<ColumnHistory>();
  history_->Clear();
  history_->AddWideDeletions(deletions_, bounds);
  input_.Seek(column_prefix_.view());
  do {
    if (!history_->AddColumn(&input_, column_prefix_.view(), bounds, go_on)) return false;
  } while (!input_.status().ok() && LeaveFailed(row_prefix()));
  if (!status_.ok()) return false;
  const VersionLimits limits = LimitsOf(family_->gc, spec_.now);
  if (!history_->Play(family_->past.versions, limits, go_on)) return false;
  ABSL_ASSERT(here.starts_with(column_prefix_.view()) &&
              "the column of the current entry is replayed");
  played_ = true;
  input_.Seek(here);
  return input_.valid() || LeaveFailed(row_prefix());
}

bool CellCursor::CheckLimits() {
  if (!has_limits_) return true;
  absl::Status status = spec_.limits.Check("the read");
  return status.ok() || Fail(std::move(status));
}

bool CellCursor::Fail(absl::Status status) {
  ABSL_ASSERT(!status.ok() && "a failure has an error");
  status_ = std::move(status);
  has_cell_ = false;
  return false;
}

}  // namespace bigtable
