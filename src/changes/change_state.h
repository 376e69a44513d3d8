// What a tablet knows of its changes beside the files that have them: from where on they are whole,
// and the row ranges that were dropped. As bytes it is the policy state of the group of changes
// (GroupState::policy_state), so METADATA takes it together with a change of the files.
//
//   | format version | whole after      | whole since | drops: count, then each: | | 1 byte, 1 |
//   sequence, varint | micros      | sequence, micros, begin, has end [, end]           |
//
// Numbers are varints, micros a zigzag one, texts have their length before them.
#ifndef BIGTABLE_CHANGES_CHANGE_STATE_H_
#define BIGTABLE_CHANGES_CHANGE_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

  // Changes up to this number may have been dropped.
  SequenceNumber whole_after = 0;
  int64_t whole_since = 0;  // and those committed up to this time, in microseconds
  std::vector<Drop> drops;  // ascending

  std::string Encode() const;
  // Of an empty text: nothing was dropped. DataLoss; FailedPrecondition for a later version.
  static absl::StatusOr<ChangeState> Decode(std::string_view bytes);
  // That of two tablets that become one.
  static ChangeState Merged(const ChangeState& left, const ChangeState& right);

  friend bool operator==(const ChangeState&, const ChangeState&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_CHANGES_CHANGE_STATE_H_
