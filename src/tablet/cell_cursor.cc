#include "tablet/cell_cursor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/time/clock.h"

#include "base/checksum.h"
#include "base/compare.h"
#include "base/strings.h"

namespace bigtable {

CellCursor::CellCursor(const TabletVersion* version, const ReadSpec& spec)
    : version_(version),
      spec_(spec),
      has_limits_(spec.limits.deadline != absl::InfiniteFuture() ||
                  spec.limits.cancellation != nullptr),
      filter_(spec.filter) {}

// --- Choosing what to read ---

void CellCursor::Reset() {
  pool_.Clear();
  input_.Clear();
  planned_.clear();
  status_ = absl::OkStatus();
  fresh_ = true;
  has_cell_ = false;
  skip_row_ = false;
  reverse_row_.clear();
  row_prefix_size_ = 0;
  alike_size_ = 0;
  column_prefix_.clear();
  begin_.clear();
  end_.clear();
  single_row_ = false;
  single_row_is_plain_ = false;
}

void CellCursor::ReadRow(std::string_view row) {
  Reset();
  single_row_ = true;
  AppendRowPrefix(&begin_, row);
  single_row_is_plain_ = begin_.size() == row.size() + 2;  // nothing but the end mark was added
  for (size_t i = 0; i < version_->groups().size(); ++i) {
    if (GroupIsWanted(i)) AddRowSources(version_->groups()[i]);
  }
}

void CellCursor::ReadRange(const RowRange& range) {
  Reset();
  if (range.empty()) return;
  if (!range.begin().empty()) AppendRowPrefix(&begin_, range.begin());
  if (range.end().has_value()) AppendRowPrefix(&end_, *range.end());
  for (size_t i = 0; i < version_->groups().size(); ++i) {
    if (GroupIsWanted(i)) AddRangeSources(version_->groups()[i]);
  }
}

bool CellCursor::GroupIsWanted(size_t group) const {
  const TableLayout& layout = version_->layout();
  if (layout.groups.size() == 1 && filter_.passes_everything()) return true;
  const uint32_t id = layout.groups[group].id;
  return std::any_of(layout.families.begin(), layout.families.end(), [&](const FamilyLayout& f) {
    return f.group_id == id && (filter_.passes_everything() || filter_.MayPassFamily(f.name));
  });
}

void CellCursor::AddMemtables(const GroupVersion& group) {
  if (!group.active->empty()) input_.Add(pool_.Make<MemtableCursor>(group.active.get()));
  for (const Ref<Memtable>& memtable : group.frozen) {
    input_.Add(pool_.Make<MemtableCursor>(memtable.get()));
  }
}

// Adds a source that was put where the row begins, if it has the row.
void CellCursor::AddIfInRow(EntryCursor* cursor) {
  if (cursor->valid() ? BeginsWith(cursor->key(), begin_.view()) : !cursor->status().ok()) {
    input_.Add(cursor);
  }
}

// Sources that have nothing of the row are not added: most rows are in one place. Where a block has
// to be looked at, it is only asked for, so that it comes from memory while the caller does what
// else there is to do.
void CellCursor::AddRowSources(const GroupVersion& group) {
  const std::string_view row_prefix = begin_.view();
  const auto add_memtable = [&](const Memtable* memtable) {
    if (memtable->empty()) return;
    auto* const cursor = pool_.Make<MemtableCursor>(memtable);
    cursor->Seek(row_prefix);
    AddIfInRow(cursor);
  };
  add_memtable(group.active.get());
  for (const Ref<Memtable>& memtable : group.frozen) add_memtable(memtable.get());
  if (group.runs.empty()) return;

  ReadSettings settings = spec_.settings;
  settings.read_ahead = false;
  const uint64_t row_hash = Checksum(row_prefix);
  std::string_view family, qualifier;
  const bool one_column = !filter_.passes_everything() && filter_.IsOneColumn(&family, &qualifier);
  uint64_t column_hash = 0;
  if (one_column) {
    std::string column(row_prefix);
    AppendColumn(&column, family, qualifier);
    column_hash = Checksum(column);
  }
  // First all filters are asked for, then looked at: they come from memory at the same time.
  absl::InlinedVector<const SSTable*, 8> files;
  for (const SortedRun& run : group.runs) {
    const size_t i = run.files.size() == 1 ? 0 : run.FindFile(row_prefix);
    if (i == run.files.size()) continue;
    if (run.SplitsRows() && i + 1 < run.files.size() &&
        BeginsWith(run.files[i]->info().largest_key, row_prefix) &&
        run.files[i + 1]->info().smallest_key.starts_with(row_prefix)) {
      auto* const cursor = pool_.Make<RunCursor>(&run, settings);
      cursor->Seek(row_prefix);
      AddIfInRow(cursor);  // the row goes on in another file
      continue;
    }
    const SSTable* const file = run.files[i].get();
    file->PrefetchFilter(one_column, row_hash, column_hash);
    files.push_back(file);
  }
  for (const SSTable* file : files) {
    RowIndex::Place place;
    RowIndex::Answer answer = RowIndex::Answer::kUnknown;
    if (!one_column) {
      answer = file->LookUpRow(row_hash, &place);
    } else if (!file->MayContainColumn(row_hash, column_hash)) {
      answer = RowIndex::Answer::kAbsent;
    }
    if (answer == RowIndex::Answer::kAbsent || !MayHaveTimestamps(file->info())) continue;
    auto* const cursor = pool_.Make<SSTableCursor>(file, settings);
    if (answer == RowIndex::Answer::kFound) cursor->PlanRow(place);
    planned_.push_back(cursor);
  }
}

// Goes to the row where it was found that it may be.
void CellCursor::SeekPlanned() {
  for (SSTableCursor* cursor : planned_) {
    cursor->SeekRow(begin_.view());
    AddIfInRow(cursor);
  }
  planned_.clear();
}

void CellCursor::AddRangeSources(const GroupVersion& group) {
  AddMemtables(group);
  for (const SortedRun& run : group.runs) {
    if (run.largest_key() < begin_.view() || (!end_.empty() && run.smallest_key() >= end_.view())) {
      continue;
    }
    if (run.files.size() == 1) {
      if (MayHaveTimestamps(run.files[0]->info())) {
        input_.Add(pool_.Make<SSTableCursor>(run.files[0].get(), spec_.settings));
      }
    } else {
      input_.Add(pool_.Make<RunCursor>(&run, spec_.settings));
    }
  }
}

bool CellCursor::MayHaveTimestamps(const SSTableInfo& info) const {
  int64_t first, last;
  if (filter_.passes_everything()) return true;
  if (!filter_.BoundsTimestamps(&first, &last) || info.ConcernsTimestamps(first, last)) return true;
  // Cells outside the range count for MaxVersions all the same.
  const TableLayout& layout = version_->layout();
  return std::any_of(layout.families.begin(), layout.families.end(),
                     [](const FamilyLayout& f) { return f.gc.max_versions().has_value(); });
}

// --- Going through it ---

bool CellCursor::Next() {
  if (!status_.ok() || (input_.children() == 0 && planned_.empty())) return false;
  is_new_row_ = false;
  if (fresh_) {
    fresh_ = false;
    if (single_row_) {
      SeekPlanned();
      input_.Start();
    } else if (!spec_.reverse) {
      input_.Seek(begin_.view());
    } else if (!StartPreviousRow()) {
      return false;
    }
  } else if (skip_row_ && row_prefix_size_ > 0) {
    Take(Step::kSkipRow);
  } else if (has_cell_) {
    Take(filter_.done_with_column() ? Step::kSkipColumn : Step::kNext);
  }
  skip_row_ = false;
  has_cell_ = Find();
  return has_cell_;
}

bool CellCursor::Find() {
  while (true) {
    if (!input_.valid() || AtEnd()) {
      if (!input_.status().ok()) return Fail(input_.status());
      if (!spec_.reverse || !StartPreviousRow()) return false;
      continue;
    }
    const std::string_view key = input_.key();
    if (row_prefix_size_ > 0 ? EnterAlike(key) : EnterFirst(key)) return true;
    if ((++steps_ & 0x3ff) == 0 && !CheckLimits()) return false;
    Step step = Step::kNext;
    if (VersionOf(key).sequence <= spec_.sequence) {
      step = Enter(key);
      if (step == Step::kStay) step = Look(key);
      if (step == Step::kStay) return true;
      if (!status_.ok()) return false;
    }
    Take(step);
  }
}

bool CellCursor::AtEnd() {
  const std::string_view key = input_.key();
  if (spec_.reverse) return !key.starts_with(reverse_row_.view());
  // Within a row that has begun, the end was looked at already.
  if (single_row_) return !BeginsWith(key, begin_.view());
  if (end_.empty() || (row_prefix_size_ > 0 && BeginsWith(key, row_prefix()))) return false;
  return key >= end_.view();
}

// For a reverse read: puts the input at the beginning of the last row before the current one, or of
// the range.
bool CellCursor::StartPreviousRow() {
  if (!reverse_row_.empty()) {
    input_.SeekBefore(reverse_row_.view());
  } else if (end_.empty()) {
    input_.SeekToLast();
  } else {
    input_.SeekBefore(end_.view());
  }
  row_prefix_size_ = 0;
  column_prefix_.clear();
  if (!input_.valid()) return input_.status().ok() ? false : Fail(input_.status());
  if (input_.key() < begin_.view()) return false;
  reverse_row_.assign(input_.key().substr(0, RowPrefixSize(input_.key())));
  input_.Seek(reverse_row_.view());
  return true;
}

// What a scan meets most: a cell of the same column as the last one's, in the next row, and nothing
// to be left out. True if the cursor stands at it now.
//
// That the ends of two keys, from the row's end mark to the trailer, are the same, and that the
// mark has the first zero byte, tells the row from the column without taking the key apart.
inline bool CellCursor::EnterAlike(std::string_view key) {
  if (alike_size_ == 0 || key.size() <= alike_size_ + kTrailerSize) return false;
  const size_t row_size = key.size() - kTrailerSize - alike_size_;
  const std::string_view column = column_prefix_.view();
  if (!SameBytes(key.data() + row_size, column.data() + column.size() - alike_size_, alike_size_) ||
      std::memchr(key.data(), 0, row_size) != nullptr) {
    return false;
  }
  const bool same_row =
      row_size + 2 == row_prefix_size_ && SameBytes(key.data(), column.data(), row_size);
  const EntryVersion version = VersionOf(key);
  const int64_t timestamp = TimestampOf(key);
  if (same_row || KindOf(key) != EntryKind::kCell || version.sequence > spec_.sequence ||
      version.sequence <= family_->created || timestamp < min_timestamp_ || has_row_deletions_ ||
      !family_deletions_.empty()) {
    return false;
  }
  column_prefix_.assign(ColumnPrefix(key));
  row_prefix_size_ = row_size + 2;
  const size_t column_end = column_prefix_.size() - 2;
  qualifier_ = column_prefix_.view().substr(column_end - qualifier_.size(), qualifier_.size());
  EnterCell(timestamp);
  return true;
}

// What a read of a single row meets first, mostly: a cell before which nothing was deleted. True if
// the cursor stands at it now.
inline bool CellCursor::EnterFirst(std::string_view key) {
  if (!single_row_is_plain_ || !filter_.passes_everything() || has_limits_ ||
      KindOf(key) != EntryKind::kCell || has_row_deletions_ || !family_deletions_.empty()) {
    return false;
  }
  const std::string_view rest = ColumnPrefix(key).substr(begin_.size());
  const FamilyLayout* const family = version_->layout().FamilyBefore(rest);
  if (family == nullptr) return false;
  const std::string_view escaped = rest.substr(family->name.size() + 1);
  const EntryVersion version = VersionOf(key);
  const int64_t timestamp = TimestampOf(key);
  min_timestamp_ = MinTimestamp(family->gc, spec_.now);
  family_ = family;
  if (std::memchr(escaped.data(), 0, escaped.size() - 2) != nullptr ||
      version.sequence > spec_.sequence || version.sequence <= family->created ||
      timestamp < min_timestamp_) {
    return false;
  }
  column_prefix_.assign(ColumnPrefix(key));
  row_prefix_size_ = begin_.size();
  row_is_plain_ = true;
  alike_size_ = rest.size() + 2;
  in_family_ = true;
  qualifier_ =
      column_prefix_.view().substr(column_prefix_.size() - escaped.size(), escaped.size() - 2);
  EnterCell(timestamp);
  return true;
}

// Stands at the first entry of a column, a cell that is there.
inline void CellCursor::EnterCell(int64_t timestamp) {
  hidden_before_ = family_hidden_before_ = EntryVersion();
  in_timestamp_ = true;
  timestamp_ = timestamp;
  alive_ = 1;
  saw_dead_ = false;
  played_ = false;
  value_ = input_.value();
  is_new_row_ = true;
  row_has_cells_ = true;
}

// Sees to it that the cursor is in the row and column of `key`; kStay if the column is to be read.
CellCursor::Step CellCursor::Enter(std::string_view key) {
  if (key.size() == column_prefix_.size() + kTrailerSize &&
      BeginsWith(key, column_prefix_.view())) {
    return Step::kStay;
  }
  return EnterColumn(key);
}

// Takes the row of `key`, which column_prefix_ is of, as the current one.
bool CellCursor::EnterRow(std::string_view key) {
  if (!CheckLimits()) return false;
  if (single_row_) {
    row_prefix_size_ = begin_.size();
    row_is_plain_ = single_row_is_plain_;
  } else {
    row_prefix_size_ = RowPrefixSize(key, &row_is_plain_);
  }
  if (!row_is_plain_) row_.assign(Unescape(row_prefix(), &qualifier_scratch_));
  row_has_cells_ = false;
  if (std::exchange(has_row_deletions_, false)) row_deletions_.clear();
  if (!filter_.passes_everything()) filter_.StartRow(row());
  in_family_ = false;
  return true;
}

// Sees to it that family_ is the one that `rest`, a column prefix less the row's, begins with.
bool CellCursor::EnterFamily(std::string_view rest) {
  if (family_ == nullptr || !BeginsWith(rest, family_->name) ||
      rest[family_->name.size()] != '\0') {
    in_family_ = false;
    family_ = version_->layout().FamilyBefore(rest);
    if (family_ == nullptr) return false;
    min_timestamp_ = MinTimestamp(family_->gc, spec_.now);
  }
  if (in_family_) return true;
  in_family_ = true;
  family_deletions_.clear();
  const std::vector<EntryVersion>& row_deletions = RowDeletions();
  family_hidden_before_ = row_deletions.empty() ? EntryVersion() : row_deletions.front();
  return true;
}

CellCursor::Step CellCursor::EnterColumn(std::string_view key) {
  const bool same_row = row_prefix_size_ > 0 && BeginsWith(key, row_prefix());
  alike_size_ = 0;
  column_prefix_.assign(ColumnPrefix(key));
  if (!same_row && !EnterRow(key)) return Step::kAgain;
  const std::string_view rest = column_prefix_.view().substr(row_prefix_size_);
  if (rest[0] == '\0') return Step::kStay;           // a deletion of the row
  if (!EnterFamily(rest)) return Step::kSkipFamily;  // it was dropped
  hidden_before_ = family_hidden_before_;
  in_timestamp_ = false;
  alive_ = 0;
  saw_dead_ = false;
  played_ = false;

  const std::string_view escaped = rest.substr(family_->name.size() + 1);
  if (escaped[0] == '\0' && escaped[1] == '\0') return Step::kStay;  // a deletion of the family
  qualifier_ = Unescape(escaped, &qualifier_scratch_);
  const bool is_plain = row_is_plain_ && qualifier_.data() == escaped.data();
  if (is_plain && filter_.passes_everything() && !has_limits_ && !spec_.reverse) {
    alike_size_ = rest.size() + 2;
  }
  if (filter_.passes_everything()) return Step::kStay;
  switch (filter_.StartColumn(family_->name, qualifier_)) {
    case FilterProgram::Verdict::kPass:
      return Step::kStay;
    case FilterProgram::Verdict::kNextRow:
      return Step::kSkipRow;
    case FilterProgram::Verdict::kNextFamily:
      return Step::kSkipFamily;
    case FilterProgram::Verdict::kSeekColumn: {
      std::string target(row_prefix());
      AppendFamily(&target, family_->name);
      AppendEscaped(&target, filter_.seek_qualifier());
      target.resize(target.size() - 2);  // without the end mark: before every such qualifier
      input_.SeekForward(target);
      return Step::kAgain;
    }
    default:
      return Step::kSkipColumn;
  }
}

// Looks at an entry of the current column.
CellCursor::Step CellCursor::Look(std::string_view key) {
  const EntryKind kind = KindOf(key);
  const EntryVersion version = VersionOf(key);
  switch (kind) {
    case EntryKind::kDeleteRow:
      AddRowDeletion(key, version);
      return Step::kNext;
    case EntryKind::kDeleteFamily:
      if (version.sequence > family_->created) {
        family_deletions_.push_back(version);
        family_hidden_before_ = std::max(family_hidden_before_, version);
      }
      return Step::kNext;
    case EntryKind::kDeleteColumn:
      if (version.sequence > family_->created) hidden_before_ = std::max(hidden_before_, version);
      return Step::kNext;
    default:
      return LookAtCell(key, version);
  }
}

CellCursor::Step CellCursor::LookAtCell(std::string_view key, EntryVersion version) {
  if (version.sequence <= family_->created) return Step::kNext;
  const int64_t timestamp = TimestampOf(key);
  if (in_timestamp_ && timestamp == timestamp_) return Step::kNext;  // overwritten
  in_timestamp_ = true;
  timestamp_ = timestamp;
  if (timestamp < min_timestamp_) return Step::kSkipColumn;

  const bool alive = KindOf(key) == EntryKind::kCell && version > hidden_before_;
  Step step = Step::kNext;
  if (!IsKept(version, alive, &step)) return step;

  value_ = input_.value();
  switch (filter_.passes_everything() ? FilterProgram::Verdict::kPass
                                      : filter_.Judge(timestamp, &value_)) {
    case FilterProgram::Verdict::kPass:
      is_new_row_ = !row_has_cells_;
      row_has_cells_ = true;
      return Step::kStay;
    case FilterProgram::Verdict::kNextColumn:
      return Step::kSkipColumn;
    case FilterProgram::Verdict::kNextRow:
      return Step::kSkipRow;
    default:
      return Step::kNext;
  }
}

// Whether the last write at its timestamp is a cell that is not deleted (`alive`) and that
// MaxVersions keeps; and if not, where to go on.
bool CellCursor::IsKept(EntryVersion version, bool alive, Step* otherwise) {
  const auto max_versions = family_->gc.max_versions();
  if (!max_versions.has_value()) return alive;
  if (alive_ >= *max_versions) {
    *otherwise = Step::kSkipColumn;
    return false;
  }
  if (!alive) {
    saw_dead_ = true;
    return false;
  }
  if (saw_dead_) {
    if (!played_ && !PlayColumn()) return false;
    const auto life = std::partition_point(
        lives_->begin(), lives_->end(),
        [&](const ColumnHistory::Life& l) { return l.timestamp > timestamp_; });
    if (life == lives_->end() || life->birth != version || life->death != ColumnHistory::kAlive) {
      return false;
    }
  }
  ++alive_;
  return true;
}

void CellCursor::Take(Step step) {
  // Neighbours are near: a few steps are cheaper than a seek.
  constexpr int kStepsBeforeSeek = 4;
  switch (step) {
    case Step::kStay:
    case Step::kAgain:
      return;
    case Step::kNext:
      input_.Next();
      return;
    case Step::kSkipColumn:
      for (int i = 0; i < kStepsBeforeSeek; ++i) {
        input_.Next();
        if (!input_.valid() || !input_.key().starts_with(column_prefix_.view())) return;
      }
      input_.SeekForward(PrefixSuccessor(column_prefix_.view()));
      return;
    case Step::kSkipFamily: {
      const std::string_view name = FamilyOf(column_prefix_.view(), row_prefix_size_);
      input_.SeekForward(
          PrefixSuccessor(column_prefix_.view().substr(0, row_prefix_size_ + name.size() + 1)));
      return;
    }
    case Step::kSkipRow:
      for (int i = 0; i < kStepsBeforeSeek; ++i) {
        input_.Next();
        if (!input_.valid() || !input_.key().starts_with(row_prefix())) return;
      }
      input_.SeekForward(PrefixSuccessor(row_prefix()));
      return;
  }
}

void CellCursor::AddRowDeletion(std::string_view key, EntryVersion version) {
  const TableLayout& layout = version_->layout();
  const size_t group = layout.GroupIndex(GroupOfRowDeletion(key, row_prefix_size_));
  if (group == layout.groups.size()) return;
  has_row_deletions_ = true;
  row_deletions_.resize(layout.groups.size());
  row_deletions_[group].push_back(version);
}

const std::vector<EntryVersion>& CellCursor::RowDeletions() const {
  static const auto* const kNone = new std::vector<EntryVersion>();
  if (!has_row_deletions_) return *kNone;
  return row_deletions_[version_->layout().GroupIndex(family_->group_id)];
}

bool CellCursor::PlayColumn() {
  const std::string here(input_.key());
  const ColumnHistory::Bounds bounds{.written_after = family_->created,
                                     .written_by = spec_.sequence,
                                     .min_timestamp = min_timestamp_};
  history_.Clear();
  history_.AddWideDeletions(RowDeletions(), bounds);
  history_.AddWideDeletions(family_deletions_, bounds);
  history_.AddColumn(&input_, column_prefix_.view(), bounds);
  lives_ = &history_.Play(*family_->gc.max_versions());
  played_ = true;
  if (input_.status().ok()) input_.Seek(here);
  return input_.valid() ? true : Fail(input_.status());
}

bool CellCursor::CheckLimits() {
  if (!has_limits_) return true;
  absl::Status status = spec_.limits.Check("the read");
  return status.ok() || Fail(std::move(status));
}

bool CellCursor::Fail(absl::Status status) {
  status_ = std::move(status);
  has_cell_ = false;
  return false;
}

}  // namespace bigtable
