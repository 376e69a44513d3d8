// A row that a FilterEvaluator fills, which owns the texts of its cells.
#ifndef BIGTABLE_TESTS_SUPPORT_COPIED_ROW_H_
#define BIGTABLE_TESTS_SUPPORT_COPIED_ROW_H_

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/ref_counted.h"
#include "read/cell_cursor.h"

namespace bigtable {

class CopiedRow {
 public:
  explicit CopiedRow(std::string key) : key_(std::move(key)) {}

  void Add(const CellCursor& cell) {
    AddInPlace({cell.family().name, cell.qualifier(), Timestamp(cell.timestamp()), cell.value()},
               nullptr);
  }
  void AddInPlace(const Cell& cell, const RefCounted*) {
    cells_.push_back(
        {Copy(cell.family), Copy(cell.qualifier), cell.timestamp, Copy(cell.value), cell.labels});
  }
  std::string_view key() const { return key_; }
  absl::Span<const Cell> cells() const { return cells_; }
  void Replace(absl::Span<const Cell> cells) { cells_.assign(cells.begin(), cells.end()); }

 private:
  std::string_view Copy(std::string_view text) { return texts_.emplace_back(text); }

  const std::string key_;
  std::deque<std::string> texts_;
  std::vector<Cell> cells_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_COPIED_ROW_H_
