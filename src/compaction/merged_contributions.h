// The contributions to a cell of an aggregate family that a compaction merges into one entry. One
// thread at a time.
//
// Contributions hide nothing. Those that stay are merged into the newest of them, as far as every
// read that may still come sees all of them or none: no snapshot, deletion or expiry separates
// them. If versions are counted, each contribution is an event of the column's history, like the
// write of a cell. Then only contributions that follow one another in the history are merged, which
// changes nothing between other events. A major compaction merges what the replay of the history
// says that the cell consists of (ColumnHistory::Life::first).
//
// Invariants:
// * key() and state() are what the contributions taken so far give: that of a single one as it is,
//   that of several a state of the operator, with the version of the newest.
// * The input is past all contributions that were taken, so it may be in another column.
// * All that were taken are resolved (CollectedColumn::Resolves), or none is.
// * versions_ is empty, or has the versions of all entries of the column that the compaction reads.
#ifndef BIGTABLE_COMPACTION_MERGED_CONTRIBUTIONS_H_
#define BIGTABLE_COMPACTION_MERGED_CONTRIBUTIONS_H_

#include <string>
#include <vector>

#include "base/entry_kind.h"
#include "base/sequence.h"
#include "compaction/collected_column.h"
#include "compaction/paid_input.h"
#include "retention/aggregates.h"

namespace bigtable {

class MergedContributions {
 public:
  // Both outlive this.
  MergedContributions(CollectedColumn* column, PaidInput* input)
      : column_(*column), input_(*input) {}

  // Follows that of the column.
  void EnterColumn() { versions_.clear(); }

  // Takes the input's entry, a contribution to the current cell that is kept, with the older ones
  // that it can be merged with, and moves the input past them. `*key` becomes that of the entry to
  // write. `first`: if it is resolved and versions are counted, no older contribution than this one
  // is a part of the cell. False: the input, the operator, or the payment failed, and so has the
  // input.
  bool Merge(EntryKind kind, EntryVersion version, EntryVersion first, std::string* key);
  // The value of the entry to write.
  const std::string& state() const { return state_; }

 private:
  // The error if contributions cannot be merged, and may not stay as they are.
  void FailWithoutOperator();
  // Merges the older ones, after the last one taken, of this kind and version. False: there are
  // none, or the input has failed.
  bool TakeOlder(const AggregateOperator& op, EntryKind kind, EntryVersion version);
  // Whether the input's entry is a contribution to the current cell that can be merged with the one
  // before it, of version `newer`. May look ahead in the input.
  bool CanMerge(EntryVersion newer);
  // Whether nothing else happened in the column between the two versions, its rules included.
  bool AreConsecutive(EntryVersion older, EntryVersion newer);
  // Reads the versions of the column's entries. False: the input has failed.
  bool ReadVersions();

  CollectedColumn& column_;
  PaidInput& input_;
  std::string state_;
  EntryVersion first_;
  std::vector<EntryVersion> versions_;  // ascending
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_MERGED_CONTRIBUTIONS_H_
