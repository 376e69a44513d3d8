// The judgement of entries in a column with counted versions that a later compaction will resolve:
// those of a merging compaction, and those after the horizon of a major one. One thread at a time.
//
// MaxVersions counts cells even if they were deleted later, so its result must not change when they
// are dropped. So hidden cells become shadows, which have no value: the count and the order of
// events stay known. Cells with too many newer versions are dropped if nothing in the column was
// deleted: then the versions that stay suffice to show that the cells are collected. (For
// MaxVersions(1) an overwritten cell needs no shadow: the overwriting one counts as well.)
//
// If a family had other rules before (past_rules.h), shadows are kept if any of the rules counts
// versions, and only cells are dropped that the present rule ends because of entries after the last
// change.
//
// Invariants:
// * births_ has the latest writes of cells at newer timestamps of the column, one for each
//   timestamp, and as many as the rule keeps.
// * A cell of contributions is written with the last of them. That one does not count against the
//   older ones to its own cell, so it is counted only when the next timestamp is entered.
// * saw_deletion_ is false only as long as every version that has existed at a newer timestamp is
//   alive, as far as the input knows. Deletions of the column, the family and the row are not here
//   but in the column's DeletionTracker.
#ifndef BIGTABLE_COMPACTION_UNRESOLVED_VERSIONS_H_
#define BIGTABLE_COMPACTION_UNRESOLVED_VERSIONS_H_

#include <vector>

#include "base/entry_kind.h"
#include "base/sequence.h"
#include "compaction/collected_column.h"
#include "compaction/entry_verdict.h"

namespace bigtable {

class UnresolvedVersions {
 public:
  // `column` outlives this.
  explicit UnresolvedVersions(CollectedColumn* column) : column_(*column) {}

  // These follow those of the column.
  void EnterColumn() {
    saw_deletion_ = false;
    births_.clear();
    last_contribution_ = {};
  }
  void EnterTimestamp();

  // For the entry at the column's timestamp. `hidden`: CollectedColumn::IsHiddenFromAll.
  EntryVerdict Judge(EntryKind kind, EntryVersion version, bool hidden);

 private:
  EntryVerdict JudgeHidden(EntryVersion version);
  // Whether the rule collects a cell in a column in which nothing was deleted.
  bool HasEnoughNewer(EntryVersion version) const;
  void CountNewer(EntryVersion version);

  CollectedColumn& column_;
  bool saw_deletion_ = false;         // or a remnant of a deleted or overwritten cell
  std::vector<EntryVersion> births_;  // a heap: the earliest is in front
  bool counted_timestamp_ = false;    // the current timestamp is among them
  EntryVersion last_contribution_;    // to the current timestamp, which is not yet
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_UNRESOLVED_VERSIONS_H_
