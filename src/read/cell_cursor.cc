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
  if (!rows_.behind_row().ok()) [[unlikely]] {
    if (has_cell_ && !skip_row_ && NextInRow()) return true;
    if (!status_.ok()) return false;
    if (!rows_.is_reverse()) return FailBehindRow();
    // The next rows are those before it.
  }
  is_new_row_ = false;
  if (fresh_) {
    if (!Begin()) return has_cell_;
  } else if (skip_row_ && key_.in_row()) {
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
  if (rows_.is_single()) {
    sources_.SeekPlanned(rows_.begin());
    input_.Start();
  } else if (!rows_.is_reverse()) {
    input_.Seek(rows_.begin());
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
    if (!input_.valid() || rows_.IsAtEnd(input_.key())) {
      if (!input_.status().ok()) {
        if (!LeaveFailed(rows_.RowToFinish(input_))) return false;
      } else if (!rows_.is_reverse()) {
        return rows_.behind_row().ok() ? EndWalk() : FailBehindRow();
      } else if (!StartPreviousRow()) {
        return EndWalk();
      }
      continue;
    }
    const std::string_view key = input_.key();
    if (key_.in_row() ? EnterSameColumn(key) : EnterFirst(key)) break;
    const Step step = Examine(key);
    if (step == Step::kStay) {
      if (!status_.ok()) return false;
      break;
    }
    Take(step);
  }
  if (walk_.is_long()) [[unlikely]]
    SeeCell();
  return true;
}

inline bool CellCursor::HasLeftRow() const {
  return input_.valid() && !key_.HasInRow(input_.key());
}

// Not inlined: most calls of NextInRow end before it, and save the registers of this call.
[[gnu::noinline]] bool CellCursor::FindInRow() {
  do {
    if (!input_.valid()) {
      if (input_.status().ok() || !LeaveFailed(key_.row_prefix())) return false;
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
  Step step = key_.HasInColumn(key) ? Step::kStay : EnterColumn(key);
  if (step == Step::kStay) step = ExamineEntry(key);
  return status_.ok() ? step : Step::kStay;
}

// The usual case of a scan: a cell of the same column as the last one, in the next row, and nothing
// to skip. True if the cursor is at it now.
inline bool CellCursor::EnterSameColumn(std::string_view key) {
  const size_t row_size = key_.RowOfSameColumn(key);
  if (row_size == 0 || KindOf(key) != EntryKind::kCell || !column_.IsPlainCell(key, sequence_)) {
    return false;
  }
  ABSL_ASSERT(column_.in_family() && "the column before was of the same family");
  key_.EnterSameColumn(key, row_size);
  EnterCell(TimestampOf(key));
  return true;
}

// The usual first entry of a single-row read: a cell with no deletion before it. True if the cursor
// is at it now.
inline bool CellCursor::EnterFirst(std::string_view key) {
  if (!rows_.is_plain() || !filter_.passes_everything() || !taken_.enters_first ||
      KindOf(key) != EntryKind::kCell) {
    return false;
  }
  const size_t row_size = rows_.begin().size();
  const std::string_view rest = ColumnPrefix(key).substr(row_size);
  const FamilyLayout* const family = version_->layout().FamilyBefore(rest);
  if (!column_.SetFamily(family, spec_.now) || !column_.IsPlainCell(key, sequence_)) return false;
  const std::string_view escaped = rest.substr(family->name.size() + 1);
  if (std::memchr(escaped.data(), 0, escaped.size() - 2) != nullptr) return false;
  key_.EnterPlain(key, row_size, escaped.size());
  if (taken_.enters_same_column) key_.ExpectSameColumn();
  EnterCell(TimestampOf(key));
  return true;
}

// Moves to the first entry of a column, which is a visible cell.
inline void CellCursor::EnterCell(int64_t timestamp) {
  column_.EnterPlainCell(timestamp);
  versions_.EnterAtCell();
  value_ = input_.value();
  is_new_row_ = true;
  row_has_cells_ = true;
}

// Makes the row of `key` current, whose column is already. False: its rows are skipped, or an
// error.
bool CellCursor::EnterRow(std::string_view key) {
  if (!CheckLimits()) return false;
  const bool behind_cells = std::exchange(row_has_cells_, false);
  if (rows_.is_single()) {
    key_.EnterRow(rows_.begin().size(), rows_.is_plain());
  } else {
    bool is_plain;
    const size_t prefix_size = RowPrefixSize(key, &is_plain);
    key_.EnterRow(prefix_size, is_plain && taken_.plain_keys);
    if (walk_.EnterRow(behind_cells) && SkipWalkedRows()) return false;
  }
  if (!filter_.passes_everything()) filter_.StartRow(row(), &pace_);
  column_.EnterRow();
  return true;
}

// Makes the row and column of `key` current; kStay if the column is to be read.
CellCursor::Step CellCursor::EnterColumn(std::string_view key) {
  if (!key_.EnterColumn(key) && !EnterRow(key)) return Step::kAgain;
  const std::string_view rest = key_.family_and_qualifier();
  if (rest[0] == '\0') return Step::kStay;  // a deletion of the row
  if (!column_.EnterFamily(rest, version_->layout(), spec_.now)) {
    return Step::kSkipFamily;  // it was dropped
  }
  column_.EnterColumn();
  versions_.EnterColumn();

  const std::string_view escaped = rest.substr(family().name.size() + 1);
  if (escaped[0] == '\0' && escaped[1] == '\0') return Step::kStay;  // a deletion of the family
  const bool is_plain = key_.EnterQualifier(escaped);
  if (!filter_.passes_everything()) return FilterColumn();
  if (is_plain && taken_.enters_same_column) key_.ExpectSameColumn();
  return Step::kStay;
}

CellCursor::Step CellCursor::FilterColumn() {
  const FilterProgram::Verdict verdict = filter_.StartColumn(family().name, qualifier());
  if (verdict == FilterProgram::Verdict::kPass) return Step::kStay;
  SeeCell();
  switch (verdict) {
    case FilterProgram::Verdict::kNextRow:
      return Step::kSkipRow;
    case FilterProgram::Verdict::kNextFamily:
      return Step::kSkipFamily;
    case FilterProgram::Verdict::kSeekColumn: {
      if (!taken_.seeks_forward) return Step::kSkipColumn;
      std::string target(key_.row_prefix());
      AppendFamily(&target, family().name);
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
    group_id = GroupOfRowDeletion(key, key_.row_prefix().size());
  } else if (version.sequence <= family().created) {
    return;
  }
  column_.deletions().Add(kind, version, group_id);
}

CellCursor::Step CellCursor::ExamineCell(std::string_view key, EntryVersion version) {
  ABSL_ASSERT(column_.in_family() && "the entry's column was entered");
  const FamilyLayout& family = *column_.family();
  if (version.sequence <= family.created) return Step::kNext;
  const int64_t timestamp = TimestampOf(key);
  // Where versions are counted, newer cells count even if the filter excludes them.
  if (timestamp > newest_ && !family.counts_versions()) {
    SeeCell();
    return Step::kSkipNewer;
  }
  if (column_.IsAt(timestamp)) return Step::kNext;  // overwritten
  const EntryKind kind = KindOf(key);
  if (kind == EntryKind::kCountedOut) [[unlikely]] {
    versions_.AddDead();
    return Step::kNext;
  }
  column_.EnterTimestamp(timestamp);
  if (timestamp < column_.min_timestamp()) {
    if (timestamp < MinTimestamp(family.gc, spec_.now)) return Step::kSkipColumn;
    if (family.past.HasExpired(version.sequence, timestamp)) return Step::kNext;
  }

  if (IsContribution(kind)) [[unlikely]]
    return ExamineAggregate(version);
  const bool alive = kind == EntryKind::kCell && !column_.deletions().Hides(version, timestamp);
  Step step = Step::kNext;
  if (!IsKept(version, version.sequence, alive, &step)) return step;
  value_ = input_.value();
  return PassesFilter(&step) ? Step::kStay : step;
}

bool CellCursor::FilterCell(Step* otherwise) {
  const FilterProgram::Verdict verdict = filter_.Judge(timestamp(), &value_);
  if (verdict == FilterProgram::Verdict::kPass) return true;
  SeeCell();
  switch (verdict) {
    case FilterProgram::Verdict::kNextColumn:
      *otherwise = Step::kSkipColumn;
      break;
    case FilterProgram::Verdict::kNextRow:
      *otherwise = Step::kSkipRow;
      break;
    case FilterProgram::Verdict::kPass:
    case FilterProgram::Verdict::kNextCell:
    case FilterProgram::Verdict::kSeekColumn:
    case FilterProgram::Verdict::kNextFamily:
      *otherwise = Step::kNext;
      break;
  }
  return false;
}

bool CellCursor::IsKeptVersion(EntryVersion version, SequenceNumber written, bool alive,
                               Step* otherwise) {
  switch (versions_.Judge(family(), spec_.now, timestamp(), written, alive)) {
    case KeptVersions::Answer::kKept:
      return true;
    case KeptVersions::Answer::kCollected:
      return false;
    case KeptVersions::Answer::kAllOlderCollected:
      *otherwise = Step::kSkipColumn;
      return false;
    case KeptVersions::Answer::kAsHistorySays:
      break;
  }
  if (!versions_.is_played() && !PlayColumn()) return false;
  return versions_.JudgeByHistory(timestamp(), version);
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
      for (size_t i = 0; i < kStepsBeforeSeek; ++i) {
        input_.Next();
        if (!input_.valid() || !BeginsWith(input_.key(), key_.column_prefix()) ||
            TimestampOf(input_.key()) <= newest_) {
          return;
        }
      }
      std::string target(key_.column_prefix());
      AppendTimestamp(&target, newest_);
      input_.SeekForward(target);
      return;
    }
    case Step::kSkipColumn:
      return Pass(key_.column_prefix(), kStepsPastColumn);
    case Step::kSkipFamily: {
      const size_t row_size = key_.row_prefix().size();
      const std::string_view name = FamilyOf(key_.column_prefix(), row_size);
      return Pass(key_.column_prefix().substr(0, row_size + name.size() + 1), 0);
    }
    case Step::kSkipRow:
      return Pass(key_.row_prefix(), kStepsBeforeSeek);
  }
}

void CellCursor::Pass(std::string_view prefix, size_t most) {
  for (size_t steps = 0; steps < most || !taken_.seeks_forward;) {
    steps += 1 + input_.value().size() / kBytesOfStep;
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

// Reads the column, replays its history, and returns the input to its entry.
bool CellCursor::PlayColumn() {
  const FamilyLayout& family = *column_.family();
  const std::string here(input_.key());
  const std::string_view prefix = key_.column_prefix();
  const ColumnHistory::Bounds bounds{.written_after = family.created,
                                     .written_by = sequence_,
                                     .min_timestamp = MinTimestamp(family.gc, spec_.now),
                                     .past = &family.past};
  const auto go_on = [this] { return CheckLimits(); };
  ColumnHistory* const history = versions_.NewHistory();
  history->AddWideDeletions(column_.deletions(), bounds);
  input_.Seek(prefix);
  do {
    if (!history->AddColumn(&input_, prefix, bounds, go_on)) return false;
  } while (!input_.status().ok() && LeaveFailed(key_.row_prefix()));
  if (!status_.ok()) return false;
  const VersionLimits limits = LimitsOf(family.gc, spec_.now);
  if (!history->Play(family.past.versions, limits, go_on)) return false;
  ABSL_ASSERT(here.starts_with(prefix) && "the column of the current entry is replayed");
  versions_.SetPlayed();
  input_.Seek(here);
  return input_.valid() || LeaveFailed(key_.row_prefix());
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
