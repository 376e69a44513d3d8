// The cells of a tablet that a read returns, in order. The memtables and sorted runs are merged,
// entries after the read sequence and deleted cells are dropped, garbage is collected, and then the
// filter is applied. One thread at a time.
//
// For each column, the entries come as deletions that are wider than a cell, then timestamps from
// new to old, and at a timestamp from the last write to the first. So the first entry at a
// timestamp decides: it is a cell without a later wider deletion, or there is no cell.
//
// What the cursor must know for this is in parts, each with invariants of its own:
// * rows_to_read.h: the rows, and the way of the input between them, also past a failed source;
// * empty_rows_walk.h: the rows without a cell that a range has;
// * key_position.h: the row and the column, as keys name them;
// * read_column.h: the family, its deletions, and the timestamp;
// * kept_versions.h: which cells of the column MaxVersions keeps;
// * aggregate_cell.h: a cell that consists of all contributions at its timestamp up to the first
//   that is deleted or collected. The cursor merges them when it meets the last one, and is past
//   them then (is_merged_).
// The cursor itself decides, for each entry of the input, which step to take (Step).
//
// Invariants:
// * While has_cell_, the input is at the cell that is returned, or is_merged_ and past it.
// * Between two calls, the key position and the column are those of the cell, even if is_merged_.
// * An entry after the read sequence changes nothing here, not even the row.
#ifndef BIGTABLE_READ_CELL_CURSOR_H_
#define BIGTABLE_READ_CELL_CURSOR_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/row_range.h"

#include "base/call_limits.h"
#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "compaction/merging_cursor.h"
#include "read/empty_rows_walk.h"
#include "read/filter_program.h"
#include "read/kept_versions.h"
#include "read/key_position.h"
#include "read/read_column.h"
#include "read/read_sources.h"
#include "read/read_spec.h"
#include "read/rows_to_read.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class CellCursor {
 public:
  // Both outlive the cursor. (A copy of the spec would be read before its fields are in memory.)
  CellCursor(const TabletVersion* version, const ReadSpec& spec);
  CellCursor(const TabletVersion* version, ReadSpec&& spec) = delete;
  CellCursor(const CellCursor&) = delete;
  CellCursor& operator=(const CellCursor&) = delete;

  // Both begin a new read: Next() goes to its first cell. ReadRow reads one row, which has no
  // order: it is the same whether or not the cursor reads ranges in reverse. Its probe must be for
  // the cursor's version. It prefetches, so other work should come between it and Next().
  void ReadRow(const RowProbe& row);
  void ReadRange(const RowRange& range);

  // Goes to the next cell. False at the end, or after an error: status().
  bool Next();
  // Goes to the next cell of the same row. False at the end of the row, from which Next()
  // continues, or after an error. Nothing after the row is touched: its entries are not examined,
  // the call's limits are not checked for them, and if a block there cannot be read, Next() fails
  // instead. Requires that the last call of either returned true; row() stays valid until Next().
  bool NextInRow();
  // Makes Next() go to the following row.
  void SkipRow() { skip_row_ = true; }

  // Whether this cell is in another row than the cell before it, or is the first.
  bool is_new_row() const { return is_new_row_; }
  // The cell, until Next().
  std::string_view row() const { return key_.row(); }
  const FamilyLayout& family() const { return *column_.family(); }
  std::string_view qualifier() const { return key_.qualifier(); }
  int64_t timestamp() const { return column_.timestamp(); }
  std::string_view value() const { return value_; }
  // Keeps the value alive when the cursor moves on; null: the version does.
  const RefCounted* value_owner() const {
    return is_merged_ ? merged_owner_.get() : input_.value_owner();
  }

  const absl::Status& status() const { return status_; }

 private:
  // kStay: the cursor is at its entry. kAgain: it was moved, examine the new entry.
  enum class Step { kStay, kAgain, kNext, kSkipNewer, kSkipColumn, kSkipFamily, kSkipRow };

  // Adjacent entries are near: a few steps cost less than a seek. The rest of a column is mostly
  // short; that of a row, or of cells newer than the filter passes, mostly not. Large values are
  // farther apart, perhaps in other blocks: each counts as a step for so many bytes.
  static constexpr size_t kStepsBeforeSeek = 4;
  static constexpr size_t kStepsPastColumn = 12;
  static constexpr size_t kBytesOfStep = 512;

  // The shortcuts (base/shortcuts.h) that the read takes.
  struct Taken {
    Taken(const ReadSpec& spec, bool has_limits);
    bool enters_first;
    bool enters_same_column;
    bool plain_keys;
    bool kept_merges;
    bool seeks_forward;
  };

  void Reset();
  bool Begin();
  // The read ends after the last of its rows, and the walk with it. Returns false.
  [[gnu::cold]] bool EndWalk();
  // Skips the row of the walk that the read is entering, and those after it, if they are known to
  // be empty.
  [[gnu::cold]] bool SkipWalkedRows();
  // The walk has come to a cell, or to an entry that may be one and that the filter excludes.
  void SeeCell() { walk_.SeeCell(key_.row_prefix(), rows_.begin(), rows_.end()); }
  void LeaveCell();
  bool Find();
  bool HasLeftRow() const;
  bool FindInRow();
  bool StartPreviousRow();
  // The input has failed. True: it continues in this row (RowsToRead), and the read fails after it,
  // unless it goes in reverse or reads only this row. False: the read has failed.
  [[gnu::cold]] bool LeaveFailed(std::string_view row_prefix);
  // After the row of a LeaveFailed. Returns false.
  bool FailBehindRow() { return rows_.is_single() ? false : Fail(rows_.behind_row()); }
  Step Examine(std::string_view key);
  bool EnterSameColumn(std::string_view key);
  bool EnterFirst(std::string_view key);
  void EnterCell(int64_t timestamp);
  Step EnterColumn(std::string_view key);
  bool EnterRow(std::string_view key);
  Step FilterColumn();
  Step ExamineEntry(std::string_view key);
  void AddDeletion(std::string_view key, EntryVersion version);
  [[gnu::cold]] void AddTimeRange(EntryVersion version);
  Step ExamineCell(std::string_view key, EntryVersion version);
  // Whether the last write at its timestamp is a cell that is not deleted (`alive`) and that
  // MaxVersions keeps and has always kept since `written`. If not, `*otherwise` is the step to
  // take.
  bool IsKept(EntryVersion version, SequenceNumber written, bool alive, Step* otherwise) {
    return family().counts_versions() ? IsKeptVersion(version, written, alive, otherwise) : alive;
  }
  bool IsKeptVersion(EntryVersion version, SequenceNumber written, bool alive, Step* otherwise);
  bool PlayColumn();
  // The input is at the last contribution to a cell, or past the cell then.
  Step ExamineAggregate(EntryVersion version);
  // Whether the cell, whose value_ is set, is to be returned. If not, `*otherwise` is the step to
  // take.
  bool PassesFilter(Step* otherwise) {
    if (!filter_.passes_everything() && !FilterCell(otherwise)) return false;
    is_new_row_ = !row_has_cells_;
    row_has_cells_ = true;
    return true;
  }
  bool FilterCell(Step* otherwise);
  // The step to take instead of `step` when the input may already be past what it skips.
  Step PastMerged(Step step) const;
  [[gnu::cold]] void LeaveMerged();
  void Take(Step step);
  // Goes to the first entry whose key does not begin with `prefix`, which the current key does: by
  // up to `most` steps, and then by a seek. The prefix may be a view of the current column's. If
  // the input fails, no entries with the prefix are left, and LeaveFailed may continue.
  void Pass(std::string_view prefix, size_t most);
  bool CheckLimits();
  [[gnu::cold]] bool Fail(absl::Status status);

  const TabletVersion* const version_;
  const ReadSpec& spec_;
  const SequenceNumber sequence_;  // of the spec
  const bool has_limits_;
  const Taken taken_;
  FilterProgram filter_;
  int64_t newest_;  // no newer timestamp passes the filter
  MergingCursor input_;
  ReadSources sources_;  // declared after the objects that it uses: the filter and the input
  absl::Status status_;
  CallPace pace_;  // sets the status

  bool fresh_ = false;     // nothing was read yet
  bool has_cell_ = false;  // the cursor is at a cell
  bool skip_row_ = false;
  bool is_new_row_ = false;
  bool row_has_cells_ = false;
  // The cell is an aggregate, and the input is past it. Beside the other flags of each step.
  bool is_merged_ = false;

  RowsToRead rows_;
  EmptyRowsWalk walk_;
  KeyPosition key_;
  ReadColumn column_;
  KeptVersions versions_;

  std::string_view value_;
  Ref<const RefCounted> merged_owner_;  // of the value of an aggregate
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_CELL_CURSOR_H_
