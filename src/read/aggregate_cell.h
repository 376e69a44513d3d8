// One cell of an aggregate family, as a read merges it from its contributions. The input is at the
// newest, which counts, and behind all of them afterwards. One thread at a time; for one cell.
//
// Invariants:
// * The contributions that count follow one another in the input, from new to old: if one counts,
//   so do all that were written after it. So the first that does not ends the cell.
// * A single state, as compactions leave it, is not copied: value() is where the source has it.
//   Everything else is merged into memory that owner() keeps.
// * Whether there is a cell does not depend on its value, so a read that needs no values does not
//   merge them.
// * What an earlier read has merged (KeptMerge) is taken only if this read takes all of it, and no
//   source has others between its contributions.
#ifndef BIGTABLE_READ_AGGREGATE_CELL_H_
#define BIGTABLE_READ_AGGREGATE_CELL_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "base/call_limits.h"
#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "compaction/merging_cursor.h"
#include "read/contribution_merge.h"
#include "read/key_position.h"
#include "read/read_column.h"
#include "retention/aggregates.h"

namespace bigtable {

class AggregateCell {
 public:
  // Called when the input has failed. True: it continues in the row, with the other sources. False:
  // `*failure` has the error.
  using LeaveFailed = absl::FunctionRef<bool()>;

  // All outlive this. `first`: no older contribution is a part of the cell.
  AggregateCell(MergingCursor* input, const KeyPosition* key, ReadColumn* column,
                EntryVersion first, LeaveFailed leave_failed, absl::Status* failure)
      : input_(*input),
        key_(*key),
        column_(*column),
        first_(first),
        leave_failed_(leave_failed),
        failure_(*failure) {}
  AggregateCell(const AggregateCell&) = delete;
  AggregateCell& operator=(const AggregateCell&) = delete;

  // `pace`: counts the bytes of contributions; null: the read has no limits. `keeps`: takes merges
  // that sources keep, and lets them keep this one. False: `*failure` has the error.
  bool Merge(CallPace* pace, bool keeps);
  // The same, without the value, which stays empty: it needs no operator, and what is wrong with a
  // contribution is not noticed.
  bool Pass(CallPace* pace, bool keeps);
  std::string_view value() const { return value_; }
  // Keeps the value alive; null: its source does.
  Ref<const RefCounted> TakeOwner() { return std::move(owner_); }

 private:
  // Whether the schema says so. Otherwise *failure has the error.
  bool IsOfAggregates();
  // Null: *failure has the error.
  const AggregateOperator* Operator();
  // The input has passed the newest one, and those that `kept` has if that is not null.
  // `has_more`: it is at an older one.
  bool MergeWithOlder(const AggregateOperator& op, const Contribution& newest,
                      const KeptMerge* kept, bool has_more, CallPace* pace);
  // At which the input is.
  Contribution ContributionHere() const;
  // The merge that is kept at a contribution, at which the input is, if this read takes all that it
  // has, and no source has others between these; null otherwise.
  const KeptMerge* UsableMerge(const Contribution& here);
  // Goes to the next entry, or past all that a kept merge has. False: the input is not at a
  // contribution to the cell, or not at one that counts.
  bool NextContribution(const KeptMerge* kept);
  bool Counts(EntryVersion version);
  std::string KeyOfOldest(const KeptMerge& kept) const;
  void SetValue(std::string&& state);
  // Of the operator. Returns false.
  [[gnu::cold]] bool Fail(const absl::Status& status);

  MergingCursor& input_;
  const KeyPosition& key_;
  ReadColumn& column_;
  const EntryVersion first_;
  const LeaveFailed leave_failed_;
  absl::Status& failure_;
  bool keeps_ = false;
  std::string_view value_;
  Ref<const RefCounted> owner_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_AGGREGATE_CELL_H_
