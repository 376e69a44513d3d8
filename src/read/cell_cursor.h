// The cells of a tablet that a read returns, in order: its memtables and sorted runs are merged,
// what is newer than the read's moment or hidden by a deletion is left out, garbage is collected,
// and then the filter is asked. One thread at a time.
//
// For each column the entries come as deletions that are wider than a cell, then timestamps from
// new to old, and at a timestamp from the last write to the first. So the first entry at a
// timestamp decides: it is a cell that no wider deletion is later than, or there is nothing.
// MaxVersions(n) takes the first n of these, as long as nothing was deleted in the column; when a
// cell turns up behind something deleted, the column's history is played through
// (column_history.h). So it is when a cell was written before the rule was loosened
// (past_rules.h), unless it is the first of its column, which every rule keeps.
#ifndef BIGTABLE_READ_CELL_CURSOR_H_
#define BIGTABLE_READ_CELL_CURSOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/options.h"
#include "bigtable/row_range.h"

#include "base/call_limits.h"
#include "base/entry_key.h"
#include "base/key_buffer.h"
#include "base/sequence.h"
#include "base/shortcuts.h"
#include "compaction/column_history.h"
#include "compaction/deletion_tracker.h"
#include "compaction/merging_cursor.h"
#include "read/filter_program.h"
#include "read/read_sources.h"
#include "sstable/read_settings.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// What a read asks for, besides rows. Plain value.
struct ReadSpec {
  SequenceNumber sequence = kMaxSequence;  // the moment
  absl::Time now;                          // for MaxAge
  const FilterNode* filter = nullptr;      // outlives the read; null passes everything
  ReadSettings settings;
  bool reverse = false;
  CallLimits limits;
};

class CellCursor {
 public:
  // `version` outlives the cursor.
  CellCursor(const TabletVersion* version, const ReadSpec& spec);
  CellCursor(const CellCursor&) = delete;
  CellCursor& operator=(const CellCursor&) = delete;

  // Both begin a new read: Next() goes to its first cell. ReadRow is for cursors that do not read
  // in reverse, and its probe is of the cursor's version; what it asks for from memory is best
  // waited for with other work before Next().
  void ReadRow(const RowProbe& row);
  void ReadRange(const RowRange& range);

  // To the next cell. False at the end, or after an error: status().
  bool Next();
  // To the next cell of the same row. False where the row ends, which Next() goes on from, or after
  // an error. What lies behind the row is left alone: its entries are not looked at, the call's
  // limits are not asked for their sake, and if a block there cannot be read, it is Next() that
  // fails. Requires that the last call of either returned true; row() stays until Next().
  bool NextInRow();
  // Next() will go to the following row.
  void SkipRow() { skip_row_ = true; }

  // Whether this cell is in another row than the one before it, or is the first.
  bool is_new_row() const { return is_new_row_; }
  // The cell, until Next().
  std::string_view row() const {
    return row_is_plain_ ? row_prefix().substr(0, row_prefix_size_ - 2) : row_;
  }
  const FamilyLayout& family() const { return *family_; }
  std::string_view qualifier() const { return qualifier_; }
  int64_t timestamp() const { return timestamp_; }
  std::string_view value() const { return value_; }
  // Who keeps the value when the cursor moves on; null: the version does.
  const RefCounted* value_owner() const { return input_.value_owner(); }

  const absl::Status& status() const { return status_; }

 private:
  // kStay: the cursor stands right; kAgain: it was moved, look again.
  enum class Step { kStay, kAgain, kNext, kSkipNewer, kSkipColumn, kSkipFamily, kSkipRow };

  // Neighbours are near: a few steps are cheaper than a seek.
  static constexpr int kStepsBeforeSeek = 4;

  std::string_view row_prefix() const { return column_prefix_.view().substr(0, row_prefix_size_); }

  void Reset();
  bool Begin();
  void LeaveCell();
  bool Find();
  bool HasLeftRow() const;
  bool FindInRow();
  // The row that is to be read when the input has failed between two rows, or in one; empty: there
  // is none that is known to be in the range.
  std::string_view RowToFinish() const;
  // The input has failed. True if nothing that cannot be read is of this row or before it: then the
  // input goes on with the others, and the read fails behind the row, unless it goes in reverse or
  // is of this row alone. False: the read has failed.
  bool LeaveFailed(std::string_view row_prefix);
  // Behind the row of a LeaveFailed: false.
  bool FailBehindRow() { return single_row_ ? false : Fail(behind_row_); }
  Step Examine(std::string_view key);
  bool IsAtEnd(std::string_view key) const;
  bool StartPreviousRow();
  bool EnterSameColumn(std::string_view key);
  bool EnterFirst(std::string_view key);
  void EnterCell(int64_t timestamp);
  Step Enter(std::string_view key);
  Step EnterColumn(std::string_view key);
  bool EnterRow(std::string_view key);
  bool EnterFamily(std::string_view rest);
  Step Look(std::string_view key);
  void AddDeletion(std::string_view key, EntryVersion version);
  Step LookAtCell(std::string_view key, EntryVersion version);
  bool IsKept(EntryVersion version, bool alive, Step* otherwise);
  bool NeedsHistory(EntryVersion version) const;
  void Take(Step step);
  // Goes on to the first entry whose key does not begin with `prefix`, which the current one's
  // does: by so many steps, and then by a seek. The prefix may be a view of the current column's.
  // Where the input fails, nothing is left of what was to be passed by: LeaveFailed may go on.
  void Pass(std::string_view prefix, int steps);
  bool PlayColumn();
  bool CheckLimits();
  bool Fail(absl::Status status);

  const TabletVersion* const version_;
  const ReadSpec spec_;
  const bool has_limits_;
  // Which shortcuts (base/shortcuts.h) this read takes.
  const bool enters_first_;
  const bool enters_same_column_;
  const bool takes_plain_keys_;
  const bool counts_versions_;
  const int steps_before_seek_;
  FilterProgram filter_;
  int64_t newest_;  // no newer timestamp passes the filter
  MergingCursor input_;
  ReadSources sources_;  // after what it points to: the filter and the input
  absl::Status status_;

  // The range: encoded keys; an empty end is none. Of a single row, `begin_` is its prefix, and it
  // has no end.
  KeyBuffer begin_;
  KeyBuffer end_;
  bool single_row_ = false;
  bool single_row_is_plain_ = false;  // as row_is_plain_
  bool fresh_ = false;                // nothing was read yet
  bool has_cell_ = false;             // the cursor stands at a cell
  bool skip_row_ = false;
  absl::Status behind_row_;  // what Next() fails with when it leaves the row
  uint32_t steps_ = 0;

  KeyBuffer reverse_row_;  // the prefix of the row that a reverse read is in

  // The current row and column. What the column's keys begin with begins with what the row's do.
  KeyBuffer column_prefix_;
  size_t row_prefix_size_ = 0;  // 0: in no row
  bool row_is_plain_ = true;    // nothing in it is escaped
  std::string row_;             // only if it is not plain
  // How much of the column prefix, from the row's end mark on, EnterSameColumn may look for in the
  // next row; 0: nothing.
  size_t same_column_size_ = 0;
  bool is_new_row_ = false;
  bool row_has_cells_ = false;
  bool in_family_ = false;                // family_ is of the current row
  const FamilyLayout* family_ = nullptr;  // of this row or one before
  int64_t min_timestamp_ = 0;             // what is older has to be looked at: see SuspectBefore
  std::string qualifier_scratch_;
  std::string_view qualifier_;
  DeletionTracker deletions_;

  // The current cell.
  bool in_timestamp_ = false;
  int64_t timestamp_ = 0;
  std::string_view value_;

  // For MaxVersions.
  int64_t alive_ = 0;
  bool saw_dead_ = false;
  bool played_ = false;
  std::unique_ptr<ColumnHistory> history_;  // of the column, once it was played; few reads need it
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_CELL_CURSOR_H_
