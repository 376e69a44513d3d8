// The cells of a row, collected from a cursor that has moved on: for a filter that needs them all
// (read/row_filter.h). One thread at a time.
#ifndef BIGTABLE_READ_COLLECTED_ROW_H_
#define BIGTABLE_READ_COLLECTED_ROW_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/ref_counted.h"
#include "base/status.h"
#include "base/strings.h"
#include "cache/read_memory.h"
#include "read/cell_cursor.h"

namespace bigtable {

// Takes the memory of a collected cell: of itself, its qualifier, and its value if that is not in
// memory anyway.
inline absl::Status TakeMemoryOfCell(const CellCursor& cell, ReadMemory* memory) {
  const uint64_t value = cell.value_owner() != nullptr ? cell.value().size() : 0;
  const absl::Status taken = memory->Take(sizeof(Cell) + cell.qualifier().size() + value);
  return taken.ok() ? taken : Annotate(taken, Cat("row ", Quoted(cell.row())));
}

class CollectedRow {
 public:
  // Collects the row at whose first cell `cells` stands, and leaves it at the row's end. The values
  // stay valid as long as this and the cursor's version.
  CollectedRow(CellCursor* cells, ReadMemory* memory) : key_(cells->row()) {
    do {
      status_ = TakeMemoryOfCell(*cells, memory);
      if (!status_.ok()) return;
      if (qualifiers_.empty() || qualifiers_.back() != cells->qualifier()) {
        qualifiers_.emplace_back(cells->qualifier());
      }
      cells_.push_back({cells->family().name, qualifiers_.back(), Timestamp(cells->timestamp()),
                        cells->value()});
      if (cells->value_owner() != nullptr) owners_.emplace_back(cells->value_owner());
    } while (cells->NextInRow());
    status_ = cells->status();
  }
  CollectedRow(const CollectedRow&) = delete;
  CollectedRow& operator=(const CollectedRow&) = delete;

  // Whether the row is whole: errors of the cursor and of the memory.
  const absl::Status& status() const { return status_; }
  std::string_view key() const { return key_; }
  absl::Span<const Cell> cells() const { return cells_; }

 private:
  absl::Status status_;
  const std::string key_;
  std::deque<std::string> qualifiers_;
  std::vector<Cell> cells_;
  std::vector<Ref<const RefCounted>> owners_;  // of the values
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_COLLECTED_ROW_H_
