// Where a stream of changes goes on, as bytes for a program to keep (ChangeStream::Position):
//
//   | format version | table id | families | parts: count, then each:      | checksum of all |
//   | 1 byte, 1 or 2 | varint   | after    | begin, has end [, end], after | before it, u64  |
//   |                |          |          | [, collections after]         |                 |
//
// Texts have their length before them, flags are a byte, numbers are varints. Of the rows of a part
// all changes with sequence numbers up to `after` were returned, except of garbage collections, of
// which all were returned up to `collections after`, and all changes of families up to `families
// after`. Version 2 has `collections after`; in version 1 it is `after` in each part. The parts are
// in key order, not empty, without overlap.
#ifndef BIGTABLE_ROWS_CHANGE_POSITION_H_
#define BIGTABLE_ROWS_CHANGE_POSITION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/row_range.h"

#include "base/sequence.h"

namespace bigtable {

// Plain value.
struct ChangePosition {
  struct Part {
    RowRange rows = RowRange::All();
    SequenceNumber after = 0;
    SequenceNumber collections_after = after;

    friend bool operator==(const Part&, const Part&) = default;
  };

  uint64_t table_id = 0;
  SequenceNumber families_after = 0;
  std::vector<Part> parts;

  // The smallest `after`.
  SequenceNumber Smallest() const;
  // The `after` of a row, and its `collections_after`; kMaxSequence: no part has it.
  SequenceNumber AfterOf(std::string_view row) const;
  SequenceNumber CollectionsAfterOf(std::string_view row) const;
  // The position after all changes up to this number were returned.
  void AdvanceTo(SequenceNumber sequence);
  // The position after those of the parts that have some of these rows were returned, except of
  // garbage collections, or only of these. The parts stay what they are.
  void AdvanceRows(const RowRange& rows, SequenceNumber sequence);
  void AdvanceCollections(const RowRange& rows, SequenceNumber sequence);
  // Only these rows. Adjacent parts with equal numbers become one.
  ChangePosition Within(const RowRange& rows) const;

  std::string Encode() const;
  // InvalidArgument: these bytes are not a position.
  static absl::StatusOr<ChangePosition> Decode(std::string_view bytes);
  // Several positions put together. If two have the same rows, the later one counts.
  // InvalidArgument: they are of several tables.
  static absl::StatusOr<ChangePosition> Joined(const std::vector<ChangePosition>& positions);

  friend bool operator==(const ChangePosition&, const ChangePosition&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROWS_CHANGE_POSITION_H_
