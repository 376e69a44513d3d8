// A stream of changes is read in rounds, of which a backend knows nothing afterwards. So a stream
// holds nothing in the database, and goes on wherever its tablets are.
#ifndef BIGTABLE_BACKEND_CHANGE_ROUND_H_
#define BIGTABLE_BACKEND_CHANGE_ROUND_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/change_stream.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

#include "base/call_limits.h"
#include "rows/change_position.h"

namespace bigtable {

struct ChangeRequest {
  // Where to go on. Without parts: the stream begins, with these rows, at `since` or at the
  // present.
  ChangePosition position;
  RowRange rows = RowRange::All();
  std::optional<absl::Time> since;          // earlier changes are not returned
  uint64_t most_bytes = uint64_t{1} << 20;  // a larger change is returned alone
  bool ends_with_tablets = false;
  // Only the position after the last change that there is. It is not after the changes of another
  // database of which this one is a copy, whatever numbers have been taken here since.
  bool only_last = false;
  // Garbage collections are left out, and none is missed: for a copy that has the rules itself.
  bool without_collections = false;
  CallLimits limits;
};

struct ChangeRound {
  std::vector<TableChange> changes;
  ChangePosition begin;     // where the request goes on, or has begun
  ChangePosition position;  // after all of them
  // The round is of a database that is opened for reading. What was being written when that was
  // read may come with numbers below those of changes of other tablets. So a position says of each
  // tablet alone what was returned of it.
  bool is_of_image = false;
  // For a request that begins: whether the stream has everything that was ever written to the
  // table.
  bool is_whole = false;
  // For a request that begins: the schema when the stream was opened. Null: it is not kept any
  // more.
  std::shared_ptr<const TableSchema> first_schema;
  bool has_caught_up = true;  // false: there are more
  // Every change that was committed before is among those up to `position`; unless more are left.
  absl::Time complete_through;
  bool has_ended = false;         // ChangeStream::ended
  std::vector<RowRange> tablets;  // those that have the rows then
};

// Of a round of an image: the position after this change.
inline void AdvanceBy(const TableChange& change, ChangePosition* position) {
  switch (change.kind) {
    case TableChange::Kind::kMutation:
      return position->AdvanceRows(RowRange::Single(change.mutation.row()), change.sequence);
    case TableChange::Kind::kDropRows:
      return position->AdvanceRows(change.rows, change.sequence);
    case TableChange::Kind::kFamilies:
      position->families_after = std::max(position->families_after, change.sequence);
      return;
    case TableChange::Kind::kGarbageCollection:
      return position->AdvanceCollections(change.rows, change.sequence);
  }
}

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_CHANGE_ROUND_H_
