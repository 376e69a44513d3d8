// Cells in the order of a read, as bytes, for a read's response.
//
// A cell. Fields that are equal to those of the cell before are omitted:
//
//   +-------+-----------+-----------+-----------+-----------+--------------+--------------+
//   | begin | row       | family    | qualifier | timestamp | value        | label        |
//   | 1     | length,   | length,   | length,   | varint    | length,bytes | length,bytes |
//   |       | bytes     | bytes     | bytes     |           |              |              |
//   +-------+-----------+-----------+-----------+-----------+--------------+--------------+
//           | kRow only | kRow,     | all but   |                          | with         |
//           |           | kFamily   | kVersion  |                          | kHasLabel    |
//
// begin is the first field that is new in the cell: kRow = 0, kFamily = 1, kColumn = 2, kVersion =
// 3; plus kHasLabel = 4. The first cell begins a row. Lengths are varints; rows, families and
// labels are not empty; timestamps are not negative.
//
// Worked example: row "r", f:q@7 = "v", f:q@5 = "", g:q@5 = "w":
//   00 01 72 01 66 01 71 07 01 76 | 03 05 00 | 01 01 67 01 71 05 01 77
#ifndef BIGTABLE_RPC_CELL_BLOCK_H_
#define BIGTABLE_RPC_CELL_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/coding.h"

namespace bigtable {

// Views of the block, or of the data that it is made from.
struct ReadCell {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp = 0;
  std::string_view value;
  std::string_view label = {};  // empty: it has none
};

// One thread at a time.
class CellBlockBuilder {
 public:
  // Appends to `out`, which outlives this.
  explicit CellBlockBuilder(std::string* out) : out_(out) {}

  void Add(const ReadCell& cell, bool is_new_row);

  // Removes the cells since the last row began, because the row could not be read to its end.
  void DropRow() { out_->resize(row_begin_); }
  // The number of rows.
  uint64_t rows() const { return rows_; }

 private:
  std::string* const out_;
  size_t row_begin_ = 0;
  uint64_t rows_ = 0;
  std::string family_;
  std::string qualifier_;
};

// Reads cells in order from untrusted bytes. One thread at a time.
class CellBlockReader {
 public:
  CellBlockReader() : CellBlockReader(std::string_view()) {}
  // The cells are views of `cells`.
  explicit CellBlockReader(std::string_view cells) : decoder_(cells) {}

  // False at the end, and at malformed bytes: then ok() is false.
  bool Next();
  bool ok() const { return ok_; }

  const ReadCell& cell() const { return cell_; }
  bool is_new_row() const { return is_new_row_; }

 private:
  Decoder decoder_;
  bool ok_ = true;
  bool is_new_row_ = false;
  ReadCell cell_;
};

}  // namespace bigtable

#endif  // BIGTABLE_RPC_CELL_BLOCK_H_
