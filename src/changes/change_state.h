// What a tablet knows of its changes beside the files that have them: from where on they are whole,
// the row ranges that were dropped, and the garbage collections. As bytes it is the policy state of
// the group of changes (GroupState::policy_state), so METADATA takes it together with a change of
// the files.
//
//   | format version | whole after      | whole since | drops: count, then each:                 |
//   | 1 byte, 2      | sequence, varint | micros      | sequence, micros, begin, has end [, end] |
//
//   | collections whole after | collections: count, then each:                                   |
//   | sequence, varint        | sequence, micros, micros of collected at, begin, has end [, end],|
//   |                         | families: count, names                                           |
//
// Numbers are varints, micros a zigzag one, texts have their length before them. Version 1, which
// ends after the drops, is read.
#ifndef BIGTABLE_CHANGES_CHANGE_STATE_H_
#define BIGTABLE_CHANGES_CHANGE_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "bigtable/row_range.h"

#include "base/sequence.h"

namespace bigtable {

// Plain value.
struct ChangeState {
  // Table::DropRowRange has dropped these rows.
  struct Drop {
    SequenceNumber sequence = 0;
    int64_t micros = 0;
    RowRange rows = RowRange::All();

    friend bool operator==(const Drop&, const Drop&) = default;
  };

  // Compactions have applied the rules of these families to these rows as of a time, and may have
  // removed what was garbage then.
  struct Collection {
    SequenceNumber sequence = 0;
    int64_t micros = 0;
    int64_t collected_at = 0;  // microseconds
    RowRange rows = RowRange::All();
    std::vector<std::string> families;  // ascending

    friend bool operator==(const Collection&, const Collection&) = default;
  };

  // Changes up to this number, other than collections, may have been dropped.
  SequenceNumber whole_after = 0;
  // And those committed up to this time, in microseconds; of collections too.
  int64_t whole_since = 0;
  std::vector<Drop> drops = {};  // ascending
  // Collections up to this number may have been dropped. On its own, because a copy that collects
  // garbage itself misses nothing without them.
  SequenceNumber collections_whole_after = 0;
  std::vector<Collection> collections = {};  // ascending, each with a number of its own

  // Adds a collection of all rows of the tablet, with a number that is larger than all others. It
  // supersedes earlier ones of its families: a reader that has seen them sees it as a later change,
  // and others see only it. So there are never more collections than families, except in a tablet
  // that was merged, until a compaction collects these families again.
  void AddCollection(Collection added);

  // Keeps of the collections only these families.
  void KeepFamilies(absl::FunctionRef<bool(const std::string&)> keeps);

  // Keeps of the collections only these rows, those of the tablet. Before a merge: otherwise it
  // could bring back a collection of rows of the other tablet that was superseded there.
  void ClipCollections(const RowRange& tablet);

  std::string Encode() const;
  // Of an empty text: nothing was dropped. DataLoss; FailedPrecondition for a later version.
  static absl::StatusOr<ChangeState> Decode(std::string_view bytes);
  // That of two tablets that become one, the left one before the right one, whose collections are
  // clipped.
  static ChangeState Merged(const ChangeState& left, const ChangeState& right);

  friend bool operator==(const ChangeState&, const ChangeState&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_CHANGES_CHANGE_STATE_H_
