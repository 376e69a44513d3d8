// The judgement of entries in a column with counted versions that a major compaction resolves:
// those at or before its horizon (the oldest snapshot, or the present). One thread at a time.
//
// Cells that are alive at the horizon stay. Of the others, those that count against a cell that
// stays leave a ghost: a deletion that records that a cell existed until then. At most n - i can
// count against the i-th newest cell, or it would be collected. So there are at most
// n * (n - 1) / 2 ghosts, and never more than timestamps at which a cell was deleted. (The
// timestamps are needed: one that is written again does not count twice. So a number for each cell
// would not suffice.)
//
// A rule that combines versions with ages (past_rules.h, VersionLimits) collects a cell only once
// it is old, and cells count or do not whatever their age:
// * A cell that was collected and still counts leaves a shadow, at most as many as the rule has
//   versions.
// * A cell that was counted out, but is not old enough, stays. If an older cell that stays was
//   written later, it has a mark before it (EntryKind::kCountedOut), from which on it does not
//   count.
//
// As long as every cell of the column is alive and judged by one rule, counting them suffices.
// Otherwise the rest of the column is read, and its history is replayed up to the horizon
// (column_history.h), with all rules whose changes are complete. A change is not complete while an
// entry older than it may be in a memtable or in a newer run (Retention::complete_through).
//
// Invariants:
// * The last resolved entry at a timestamp decides what is written of all: those after it are
//   overwritten or deleted before the horizon, or merged with it as far as they are parts of the
//   cell.
// * Until the column is played, living_ is the number of cells that count at the horizon, and all
//   cells before the position are among them or are expired.
// * Once it is played, the history and the two lists are of the whole column, and decide alone.
//   No life is in both lists.
#ifndef BIGTABLE_COMPACTION_RESOLVED_VERSIONS_H_
#define BIGTABLE_COMPACTION_RESOLVED_VERSIONS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "base/entry_kind.h"
#include "base/sequence.h"
#include "compaction/collected_column.h"
#include "compaction/entry_verdict.h"
#include "compaction/paid_input.h"
#include "retention/column_history.h"
#include "retention/past_rules.h"

namespace bigtable {

class ResolvedVersions {
 public:
  // Both outlive this.
  ResolvedVersions(CollectedColumn* column, PaidInput* input) : column_(*column), input_(*input) {}

  // These follow those of the column.
  void EnterColumn() {
    living_ = 0;
    played_ = false;
  }
  void EnterTimestamp() { resolved_timestamp_ = false; }

  // For the input's entry, at the column's timestamp. May look ahead in the input, which fails if
  // that does. kGhost, and kMark: written_version().
  EntryVerdict Judge(EntryKind kind, EntryVersion version);
  // Of the ghost or the mark that is written for the last entry.
  EntryVersion written_version() const { return written_version_; }
  // Of a cell of contributions that was kept: the first contribution that is a part of it.
  EntryVersion first() const { return first_; }
  // Whether the versions of the column's cells still matter: ghosts or marks are written.
  bool has_traces() const { return played_ && !(ghosts_.empty() && marked_.empty()); }

  // Whether the input's entry, a cell that a filter removes, may count against an older version
  // that stays. False is certain. May look ahead.
  bool CountsAgainstOlder();

 private:
  // Judge without a replay. False: that is needed.
  bool JudgeLiving(EntryKind kind, EntryVersion version, EntryVerdict* verdict);
  EntryVerdict JudgeLife(EntryKind kind, const ColumnHistory::Life* life);
  // Reads the rest of the column, and replays its history. False: the input has failed.
  bool PlayColumn();
  // The rules before the last complete change, and the limits after it.
  const VersionLimits* CompleteRules(absl::Span<const PastRules::Versions>* past) const;
  // Finds the lives that leave a ghost, or need a mark, counted from `since` on.
  void FindGhosts(EntryVersion since);
  // The life at the current timestamp, or null. `lives` are in the order of ghosts_.
  const ColumnHistory::Life* FindIn(const std::vector<ColumnHistory::Life>& lives) const;
  // Whether the column has an entry at an older timestamp than the input's entry, among those that
  // are read, which looks ahead, or among the others.
  bool HasOlder();
  bool HasUnreadOlder() const;
  // Whether the input's entry, a shadow that nothing hides, makes no difference. May look ahead.
  bool IsUseless();

  CollectedColumn& column_;
  PaidInput& input_;
  bool resolved_timestamp_ = false;  // the timestamp's last entry before the horizon was seen
  int64_t living_ = 0;
  bool played_ = false;
  ColumnHistory history_;
  // Oldest timestamp first.
  std::vector<ColumnHistory::Life> ghosts_;
  std::vector<ColumnHistory::Life> marked_;
  EntryVersion written_version_;
  EntryVersion first_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_RESOLVED_VERSIONS_H_
