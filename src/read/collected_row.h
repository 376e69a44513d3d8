// The cells of a row, collected from a cursor that has moved on: for a filter that needs them all
// (read/row_filter.h). One thread at a time.
#ifndef BIGTABLE_READ_COLLECTED_ROW_H_
#define BIGTABLE_READ_COLLECTED_ROW_H_

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/ref_counted.h"
#include "read/cell_cursor.h"

namespace bigtable {

class CollectedRow {
 public:
  // Collects the row at whose first cell `cells` stands, and leaves it at the row's end. The values
  // stay valid as long as this and the cursor's version. Whether the row is whole, the cursor's
  // status says.
  explicit CollectedRow(CellCursor* cells) : key_(cells->row()) {
    do {
      if (qualifiers_.empty() || qualifiers_.back() != cells->qualifier()) {
        qualifiers_.emplace_back(cells->qualifier());
      }
      cells_.push_back({cells->family().name, qualifiers_.back(), Timestamp(cells->timestamp()),
                        cells->value()});
      if (cells->value_owner() != nullptr) owners_.emplace_back(cells->value_owner());
    } while (cells->NextInRow());
  }
  CollectedRow(const CollectedRow&) = delete;
  CollectedRow& operator=(const CollectedRow&) = delete;

  std::string_view key() const { return key_; }
  absl::Span<const Cell> cells() const { return cells_; }

 private:
  const std::string key_;
  std::deque<std::string> qualifiers_;
  std::vector<Cell> cells_;
  std::vector<Ref<const RefCounted>> owners_;  // of the values
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_COLLECTED_ROW_H_
