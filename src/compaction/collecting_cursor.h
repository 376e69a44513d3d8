// The entries of a compaction's inputs that must be written to its output: all except those that no
// read can see any more. This class applies deletions and garbage collection on disk. One thread at
// a time; forward only.
//
// The contributions to a cell of an aggregate family hide nothing. Those that stay are merged into
// the newest of them, as far as every read that may still come sees all of them or none: no
// snapshot, deletion or expiry separates them. If versions are counted, each contribution is an
// event of the column's history, like the write of a cell. Then only contributions that follow one
// another in the history are merged, which changes nothing between other events. A major compaction
// merges what the replay of the history says that the cell consists of
// (ColumnHistory::Life::first).
//
// A merging compaction does not see older runs, so all deletions stay. A major compaction sees all
// data of the locality group, and drops deletions together with what they hide. Both drop a hidden
// entry if no snapshot sees it. An entry is hidden if a later entry deletes or overwrites it.
//
// MaxVersions counts cells even if they were deleted later, so its result must not change when they
// are dropped:
// * A merging compaction turns hidden cells into shadows, which have no value, so that the count
//   and the order of events stay known. It drops cells with too many newer versions if nothing in
//   the column was deleted: then the versions that stay suffice to show that the cells are
//   collected. (For MaxVersions(1) an overwritten cell needs no shadow: the overwriting one counts
//   as well.)
// * A major compaction replays the column's history up to its horizon (the oldest snapshot, or
//   the present). Cells that are alive at the horizon stay. Of the others, those that count against
//   a cell that stays leave a ghost: a deletion that records that a cell existed until then. At
//   most n - i can count against the i-th newest cell, or it would be collected. So there are at
//   most n * (n - 1) / 2 ghosts, and never more than timestamps at which a cell was deleted. (The
//   timestamps are needed: one that is written again does not count twice. So a number for each
//   cell would not suffice.)
//
// A rule that combines versions with ages (past_rules.h, VersionLimits) collects a cell only once
// it is old, and cells count or do not whatever their age:
// * A cell that was collected and still counts leaves a shadow, at most as many as the rule has
//   versions.
// * A cell that was counted out, but is not old enough, stays. If an older cell that stays was
//   written later, it has a mark before it (EntryKind::kCountedOut), from which on it does not
//   count.
//
// A major compaction passes the cells that it keeps from before its horizon to the family's
// compaction filter (bigtable/compaction_filter.h). Nothing at or before the horizon is left at the
// timestamp of such a cell that could be uncovered: every read sees the cell as the last write
// there, and what it hides is dropped with it. Entries after the horizon hide the cell, so it does
// not matter to them. A cell that the filter removes is dropped. If versions are counted and the
// column has older timestamps, the cell becomes a shadow instead, which nothing hides: it is not
// returned, and counts like the cell until the rule drops it. Later major compactions drop the
// shadow once nothing older is left in the column. The older timestamps need not be in the inputs:
// what the cell has pushed out may have been written after it, and be in a memtable or in a newer
// run (Retention::has_unread_older).
//
// Every read sees the entries that a major compaction keeps from before its horizon, and nothing
// older is left for them to hide. So their versions no longer matter, unless ghosts count against
// them. Each gets the smallest version of its family, because equal versions take less space.
//
// If a family had other rules before (past_rules.h), entries before a change are judged by the rule
// of that time. A merging compaction keeps what this needs: it keeps shadows if any of the rules
// counts versions, and drops only cells that the present rule ends because of entries after the
// last change. A major compaction replays the column with all rules whose changes are complete. A
// change is not complete while an entry older than it may be in a memtable or in a newer run
// (Retention::complete_through). Entries that stay then get versions after the last complete
// change, so that past rules no longer apply to them.
#ifndef BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_
#define BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "compaction/column_history.h"
#include "compaction/deletion_tracker.h"
#include "compaction/retention.h"

namespace bigtable {

class CollectingCursor {
 public:
  // Called with the bytes of input that were read since the last call, whether or not they were
  // written, and with 0 in between. An error ends the cursor.
  using Pay = std::function<absl::Status(uint64_t bytes)>;

  // `input` and `retention` outlive this. With `major`, `input` has all entries of the locality
  // group.
  CollectingCursor(EntryCursor* input, const Retention* retention, bool major, Pay pay = nullptr);

  void SeekToFirst();
  // Requires valid().
  void Next();

  bool valid() const { return valid_; }
  // The error of the input, or of `pay`.
  const absl::Status& status() const { return paid_.ok() ? input_->status() : paid_; }
  // The entry to write, until the cursor moves.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  // Of a major compaction: the cells before the position that it keeps, and that were not passed to
  // their filters because a snapshot may see them.
  uint64_t cells_unfiltered() const { return cells_unfiltered_; }

 private:
  enum class Verdict { kKeep, kShadow, kDrop };

  // Goes from the input's position to the first entry that must be written.
  void Find();
  // Goes from the mark of the input's entry to what is written of that.
  void TakeMarked();
  // Called when the input's entry is done. False: `pay` returned an error.
  bool PayForEntry();
  bool PayFor(uint64_t bytes);
  Verdict Judge(std::string_view key, EntryKind kind, EntryVersion version);
  // These handle the input's entry, which is of the kind that they name.
  void EnterRow(std::string_view key, size_t row_size);
  void EnterColumn(std::string_view key);
  void EnterTimestamp(int64_t timestamp);
  Verdict JudgeWide(EntryKind kind, EntryVersion version);
  Verdict JudgeTimestamped(std::string_view key, EntryKind kind, EntryVersion version);
  // JudgeTimestamped without and with counted versions.
  Verdict JudgeSimple(EntryKind kind, EntryVersion version, bool hidden);
  Verdict JudgeMerging(EntryKind kind, EntryVersion version, bool hidden);
  // For entries at or before a major compaction's horizon, in a column with MaxVersions. May move
  // the input and return it, so views of its key become invalid.
  Verdict JudgeResolved(EntryKind kind, EntryVersion version);
  // The same without a replay. False: that is needed.
  bool JudgeLiving(EntryKind kind, EntryVersion version, Verdict* verdict);
  // The input is at a deletion of a time range. False: an error.
  bool AddTimeRange(EntryVersion version);

  // The first later entry that hides an entry with `version` at the current timestamp; kNever if
  // there is none.
  EntryVersion HiderOf(EntryVersion version);
  bool IsHiddenFromAll(EntryVersion version, EntryVersion hider) const;
  // Whether the rule collects a cell in a column in which nothing was deleted.
  bool HasEnoughNewer(EntryVersion version) const;
  void CountNewer(EntryVersion version);
  // Reads the rest of the column, replays its history, and returns the input to its position.
  bool PlayColumn();
  // Whether the family's filter is to be applied to the input's entry, a cell that is kept. Counts
  // the cells for which a snapshot is the only reason against it.
  bool IsFiltered(EntryVersion version);
  // Applies it: kKeep, perhaps with filtered_ as the value, or kShadow or kDrop.
  Verdict Filter();
  // Whether the input's entry, a cell that the filter removes, may count against an older version
  // that stays. False is certain. May move the input and return it.
  bool CountsAgainstOlder();
  // Whether the column has an entry at an older timestamp than the input's entry, among those that
  // are read, which may move the input and return it, or among the others.
  bool HasOlder();
  bool HasUnreadOlder() const;
  // Whether the input's entry, a shadow that nothing hides, makes no difference. May move the input
  // and return it.
  bool IsUseless();
  // Finds the lives that leave a ghost, or need a mark, counted from `since` on.
  void FindGhosts(EntryVersion since);
  // The life at the current timestamp, or null. `lives` are in the order of ghosts_.
  const ColumnHistory::Life* FindIn(const std::vector<ColumnHistory::Life>& lives) const;
  // Makes the key of the entry that says that the cell, which is written after it, was counted out.
  void MakeMark(const ColumnHistory::Life& life);
  // Makes the key of a cell that every read sees.
  void Settle(EntryKind kind, EntryVersion version);
  // Takes the input's entry, a contribution that is kept, into state_, with the older ones that it
  // can be merged with. Moves the input past them. False: the input, the operator, or `pay` failed.
  bool MergeContributions(EntryKind kind, EntryVersion version);
  // The same for the older ones, after the last one taken, with `version`.
  bool TakeOlder(const AggregateOperator& op, EntryKind kind, EntryVersion version);
  // Whether the input's entry is a contribution to the current cell that can be merged with the one
  // before it, of version `newer`. May move the input and return it.
  bool CanMerge(EntryVersion newer);
  // Whether nothing else happened in the column between the two versions, its rules included.
  bool AreConsecutive(EntryVersion older, EntryVersion newer);
  // Reads the versions of the column's entries, and returns the input to its position.
  bool ReadVersions();

  EntryCursor* const input_;
  const Retention* const retention_;
  const bool major_;
  const SequenceNumber horizon_;
  const Pay pay_;
  absl::Status paid_;
  uint64_t unpaid_ = 0;
  bool keeps_versions_ = false;  // a family counts them

  // The input's position.
  std::string row_;            // row prefix
  std::string column_prefix_;  // of the current column
  const RetainedFamily* family_ = nullptr;
  bool counts_versions_ = false;  // family_ does
  std::string_view family_name_;  // in column_prefix_
  bool in_timestamp_ = false;
  int64_t timestamp_ = 0;

  DeletionTracker deletions_;
  // The entry before this one at the same timestamp, which hides this one first. Not a
  // contribution.
  EntryVersion newer_at_timestamp_;
  EntryKind newer_kind_ = EntryKind::kCell;

  // Of aggregates: the contributions that were merged last.
  std::string state_;
  bool has_moved_ = false;              // the input is past the entry to write
  EntryVersion first_;                  // a major compaction merges no older contributions
  std::vector<EntryVersion> versions_;  // of the column's entries, ascending; empty: not read yet

  // Of the current column, for MaxVersions.
  bool saw_deletion_ = false;               // or a remnant of a deleted or overwritten cell
  std::vector<EntryVersion> newer_births_;  // of cells at newer timestamps: the n latest, a heap
  bool counted_timestamp_ = false;          // the current timestamp is among them
  EntryVersion last_contribution_;          // to the current timestamp, which is not yet
  // For a major compaction, at or before the horizon:
  bool resolved_timestamp_ = false;  // the timestamp's last entry before the horizon was seen
  int64_t living_ = 0;               // cells seen so far that count at the horizon
  bool played_ = false;              // history_, ghosts_ and marked_ are of the current column
  ColumnHistory history_;
  // Oldest timestamp first.
  std::vector<ColumnHistory::Life> ghosts_;
  std::vector<ColumnHistory::Life> marked_;
  bool is_mark_ = false;       // the entry to write is the mark of the input's
  bool marks_shadow_ = false;  // of which only a shadow is written

  bool valid_ = false;
  std::string_view key_;
  std::string_view value_;
  std::string made_key_;

  // Of filters.
  uint64_t cells_unfiltered_ = 0;
  bool is_filtered_ = false;  // filtered_ is the value of the entry to write
  std::string filtered_;
  std::string row_scratch_;
  std::string qualifier_scratch_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_
