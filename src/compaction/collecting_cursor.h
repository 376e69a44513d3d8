// The entries of a compaction's inputs that must be written to its output: all except those that no
// read can see any more. This class applies deletions and garbage collection on disk. One thread at
// a time; forward only.
//
// A merging compaction does not see older runs, so all deletions stay. A major compaction sees all
// data of the locality group, and drops deletions together with what they hide. Both drop a hidden
// entry if no snapshot sees it. An entry is hidden if a later entry deletes or overwrites it.
//
// Each entry is judged by one of three rules, after what they share (collected_column.h): where the
// input is, and what hides an entry there.
// * Where no versions are counted, an entry stays or not by itself (JudgeSimple).
// * MaxVersions counts cells even if they were deleted later, so its result must not change when
//   they are dropped. What a later compaction needs for this stays (unresolved_versions.h);
// * and what a major compaction can decide for all reads, it does (resolved_versions.h).
//
// What is kept may change on its way to the output:
// * The contributions to a cell of an aggregate family are merged (merged_contributions.h).
// * A major compaction passes cells to the family's filter (cell_filters.h). A cell that the filter
//   removes is dropped. If versions are counted and the column has older timestamps, the cell
//   becomes a shadow instead, which nothing hides: it is not returned, and counts like the cell
//   until the rule drops it. Later major compactions drop the shadow once nothing older is left in
//   the column. The older timestamps need not be in the inputs: what the cell has pushed out may
//   have been written after it, and be in a memtable or in a newer run
//   (Retention::has_unread_older).
// * Every read sees the entries that a major compaction keeps from before its horizon, and nothing
//   older is left for them to hide. So their versions no longer matter, unless ghosts count against
//   them. Each gets the smallest version of its family, because equal versions take less space. If
//   the family had other rules before (past_rules.h), it is one after the last complete change, so
//   that past rules no longer apply.
//
// Invariants:
// * While this is valid, the input is at the entry that is written, or past it if contributions
//   were merged (has_moved_); after a mark it stays for the entry that the mark is of.
// * Keys are written in ascending order: what is made of an entry comes before the next entry.
#ifndef BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_
#define BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "compaction/cell_filters.h"
#include "compaction/collected_column.h"
#include "compaction/entry_verdict.h"
#include "compaction/merged_contributions.h"
#include "compaction/paid_input.h"
#include "compaction/resolved_versions.h"
#include "compaction/unresolved_versions.h"
#include "retention/retention.h"

namespace bigtable {

class CollectingCursor {
 public:
  using Pay = PaidInput::Pay;

  // `input` and `retention` outlive this. With `major`, `input` has all entries of the locality
  // group.
  CollectingCursor(EntryCursor* input, const Retention* retention, bool major, Pay pay = nullptr);

  // Once.
  void SeekToFirst();
  // Requires valid().
  void Next();

  bool valid() const { return valid_; }
  // The error of the input, of `pay`, of an operator or of a filter.
  const absl::Status& status() const { return input_.status(); }
  // The entry to write, until the cursor moves.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  // Of a major compaction: the cells before the position that it keeps, and that were not passed to
  // their filters because a snapshot may see them.
  uint64_t cells_unfiltered() const { return filters_.cells_unfiltered(); }
  // Whether it may have left out a cell before the position that nothing but a rule of its family
  // has removed. False is certain.
  bool has_collected() const { return has_collected_; }

 private:
  // Goes from the input's position to the first entry that must be written.
  void Find();

  // These judge the input's entry, which is of the kind that they name.
  EntryVerdict Judge(std::string_view key, EntryKind kind, EntryVersion version);
  EntryVerdict JudgeWide(EntryKind kind, EntryVersion version);
  EntryVerdict JudgeTimestamped(std::string_view key, EntryKind kind, EntryVersion version);
  EntryVerdict JudgeSimple(EntryKind kind, EntryVersion version, bool hidden) const;
  void EnterColumn(std::string_view key);
  void EnterTimestamp(int64_t timestamp);
  // The input is at a deletion of a time range. False: an error.
  bool AddTimeRange(EntryVersion version);
  // Applies the family's filter, if there is one, to a cell that is kept.
  EntryVerdict Filter(EntryVerdict kept, EntryVersion version);

  // These make the current entry: of a contribution or another entry that is kept (false: an
  // error), of one that is written as something else (verdict_), and the one that follows a mark.
  bool ShowKept(EntryKind kind, EntryVersion version);
  void ShowMade();
  void ShowMarked();
  // Makes the key of a cell that every read sees.
  void Settle(EntryKind kind, EntryVersion version);

  const Retention* const retention_;
  bool keeps_versions_ = false;  // a family counts them
  bool has_collected_ = false;
  PaidInput input_;
  CollectedColumn column_;
  UnresolvedVersions unresolved_;
  ResolvedVersions resolved_;
  MergedContributions contributions_;
  CellFilters filters_;

  // The entry to write, and what is written of the input's entry. kMark and kMarkedShadow: this is
  // the mark.
  bool valid_ = false;
  EntryVerdict verdict_ = EntryVerdict::kDrop;
  std::string_view key_;
  std::string_view value_;
  std::string made_key_;      // empty: the input's
  bool has_moved_ = false;    // the input is past the entry
  bool is_replaced_ = false;  // by a filter: the cell has its value
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_
