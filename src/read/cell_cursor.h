// The cells of a tablet that a read returns, in order. The memtables and sorted runs are merged,
// entries after the read sequence and deleted cells are dropped, garbage is collected, and then the
// filter is applied. One thread at a time.
//
// For each column, the entries come as deletions that are wider than a cell, then timestamps from
// new to old, and at a timestamp from the last write to the first. So the first entry at a
// timestamp decides: it is a cell without a later wider deletion, or there is no cell.
// MaxVersions(n) takes the first n of these cells, as long as nothing was deleted in the column;
// a rule of several steps takes the first ones, and of the others those that are not too old. If a
// cell follows a deleted one, the column's history is replayed (column_history.h). The same
// happens if a cell was written before the rule was loosened (past_rules.h), unless it is the first
// of its column, which every rule keeps.
//
// A cell of an aggregate family consists of all contributions at its timestamp up to the first that
// is deleted or collected. The cursor merges them when it meets the last one, and is past them
// then.
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
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/shortcuts.h"
#include "compaction/aggregates.h"
#include "compaction/column_history.h"
#include "compaction/deletion_tracker.h"
#include "compaction/merging_cursor.h"
#include "read/contribution_merge.h"
#include "read/filter_program.h"
#include "read/read_sources.h"
#include "sstable/read_settings.h"
#include "tablet/empty_rows.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// The options of a read, besides rows. Plain value.
struct ReadSpec {
  SequenceNumber sequence = kMaxSequence;  // the read sequence
  absl::Time now;                          // for MaxAge
  const FilterNode* filter = nullptr;      // outlives the read; null passes everything
  ReadSettings settings;
  bool reverse = false;  // for ranges: from the last row to the first
  CallLimits limits;
};

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
  std::string_view row() const {
    return row_is_plain_ ? row_prefix().substr(0, row_prefix_size_ - 2) : row_;
  }
  const FamilyLayout& family() const { return *family_; }
  std::string_view qualifier() const { return qualifier_; }
  int64_t timestamp() const { return timestamp_; }
  std::string_view value() const { return value_; }
  // Keeps the value alive when the cursor moves on; null: the version does.
  const RefCounted* value_owner() const {
    return is_merged_ ? merged_owner_.get() : input_.value_owner();
  }

  const absl::Status& status() const { return status_; }

 private:
  // kStay: the cursor is at its entry. kAgain: it was moved, examine the new entry.
  enum class Step { kStay, kAgain, kNext, kSkipNewer, kSkipColumn, kSkipFamily, kSkipRow };

  // Adjacent entries are near: a few steps cost less than a seek.
  static constexpr int kStepsBeforeSeek = 4;

  std::string_view row_prefix() const { return column_prefix_.view().substr(0, row_prefix_size_); }

  void Reset();
  bool Begin();
  // For the rows before the first cell of a range (tablet/empty_rows.h). Moves `*row`, which is in
  // the range, past rows that are known to be empty. kAll: the rest of the range is.
  EmptyRows::Skipped SkipEmptyRows(KeyBuffer* row) const;
  // Goes to the first cell. Returns false: Next() has nothing more to do.
  bool Walk();
  // Skips the row of the walk that the read is entering, and those after it, if they are known to
  // be empty. Asks for a watch of the first rows.
  [[gnu::cold]] bool SkipWalkedRows();
  // The walk has found no cell before the row that begins here. Not if the filter or an error has
  // kept it from seeing one.
  [[gnu::cold]] void EndWalk(std::string_view end);
  void LeaveCell();
  bool Find();
  bool HasLeftRow() const;
  bool FindInRow();
  // The row to be read if the input has failed between two rows or in one; empty if no row is known
  // to be in the range.
  [[gnu::cold]] std::string_view RowToFinish() const;
  // The input has failed. True if only entries after this row are unreadable: then the input
  // continues with the other sources, and the read fails after the row, unless it goes in reverse
  // or reads only this row. False: the read has failed.
  [[gnu::cold]] bool LeaveFailed(std::string_view row_prefix);
  // After the row of a LeaveFailed. Returns false.
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
  Step ExamineEntry(std::string_view key);
  void AddDeletion(std::string_view key, EntryVersion version);
  [[gnu::cold]] void AddTimeRange(EntryVersion version);
  Step ExamineCell(std::string_view key, EntryVersion version);
  bool IsKept(EntryVersion version, SequenceNumber written, bool alive, Step* otherwise);
  bool NeedsHistory(SequenceNumber written) const;
  // These are for aggregates. The input is at the last contribution to a cell.
  Step ExamineAggregate(EntryVersion version);
  // Sets the value to what the contributions give, and moves the input past them. False: an error.
  bool MergeContributions(EntryVersion first);
  // The input has passed the newest one, and those that `kept` has if that is not null.
  // `has_more`: it is at an older one.
  bool MergeWithOlder(const AggregateOperator& op, const Contribution& newest,
                      const KeptMerge* kept, bool has_more, EntryVersion first);
  // At which the input is.
  Contribution ContributionHere() const;
  // The merge that is kept at a contribution, at which the input is, if this read takes all that it
  // has, and no source has others between these; null otherwise.
  const KeptMerge* UsableMerge(const Contribution& here, EntryVersion first);
  // Goes to the next entry, or past all that a kept merge has. False: the input is not at a
  // contribution to the current cell, or not at one that counts.
  bool NextContribution(const KeptMerge* kept, EntryVersion first);
  bool Counts(EntryVersion version, EntryVersion first);
  std::string KeyOfOldest(const KeptMerge& kept) const;
  // The step to take instead of `step` when the input may already be past what it skips.
  Step PastMerged(Step step) const;
  [[gnu::cold]] void LeaveMerged();
  void Take(Step step);
  // Goes to the first entry whose key does not begin with `prefix`, which the current key does: by
  // `steps` steps, and then by a seek. The prefix may be a view of the current column's. If the
  // input fails, no entries with the prefix are left, and LeaveFailed may continue.
  void Pass(std::string_view prefix, int steps);
  bool PlayColumn();
  bool CheckLimits();
  [[gnu::cold]] bool Fail(absl::Status status);

  const TabletVersion* const version_;
  const ReadSpec& spec_;
  const SequenceNumber sequence_;  // of the spec
  bool reverse_ = false;  // this read is of a range, and goes from its last row to its first
  const bool has_limits_;
  // The shortcuts (base/shortcuts.h) that this read takes.
  const bool enters_first_;
  const bool enters_same_column_;
  const bool takes_plain_keys_;
  const bool counts_versions_;
  const bool keeps_merges_;
  const int steps_before_seek_;
  FilterProgram filter_;
  int64_t newest_;  // no newer timestamp passes the filter
  MergingCursor input_;
  ReadSources sources_;  // declared after the objects that it uses: the filter and the input
  absl::Status status_;

  // The range: encoded keys; an empty end means no limit. For a single row, `begin_` is its prefix,
  // and there is no end.
  KeyBuffer begin_;
  KeyBuffer end_;
  bool single_row_ = false;
  bool single_row_is_plain_ = false;  // as row_is_plain_
  bool fresh_ = false;                // nothing was read yet
  bool has_cell_ = false;             // the cursor is at a cell
  bool skip_row_ = false;
  // No cell of the range was found yet, and what is before the first one will be reported.
  bool walks_ = false;
  bool has_skipped_ = false;  // rows that were known to be empty
  // The cell is an aggregate, and the input is past it. Beside the other flags of each step.
  bool is_merged_ = false;
  absl::Status behind_row_;  // the error of Next() when it leaves the row
  CallPace pace_;            // sets the status
  // Valid while walks_: the rows that were entered, and how many will be when SkipWalkedRows comes.
  uint32_t walked_rows_ = 0;
  uint32_t next_skip_ = 0;

  KeyBuffer reverse_row_;  // the prefix of the current row of a reverse read

  // The current row and column. The prefix of the column begins with the prefix of the row.
  KeyBuffer column_prefix_;
  size_t row_prefix_size_ = 0;  // 0: in no row
  bool row_is_plain_ = true;    // nothing in it is escaped
  std::string row_;             // only if it is not plain
  // The size of the end of the column prefix, from the row's end mark, that EnterSameColumn may
  // compare in the next row; 0: none.
  size_t same_column_size_ = 0;
  bool is_new_row_ = false;
  bool row_has_cells_ = false;
  bool in_family_ = false;                // family_ is of the current row
  const FamilyLayout* family_ = nullptr;  // of this row or one before
  int64_t min_timestamp_ = 0;             // older cells need a check: see SuspectBefore
  std::string qualifier_scratch_;
  std::string_view qualifier_;
  DeletionTracker deletions_;

  // The current cell.
  bool in_timestamp_ = false;
  int64_t timestamp_ = 0;
  std::string_view value_;
  Ref<const RefCounted> merged_owner_;  // of its value

  // For MaxVersions.
  int64_t alive_ = 0;
  bool saw_dead_ = false;
  bool played_ = false;
  std::unique_ptr<ColumnHistory> history_;  // of the column, once replayed; few reads need it
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_CELL_CURSOR_H_
