// Sets of rows, rows, and streams of rows.
#include "bigtable/row.h"

#include <utility>

#include "bigtable/row_range.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::FromC;
using bigtable::Return;
using bigtable::ReturnNone;
using bigtable::RowRange;
using bigtable::View;

namespace bigtable {
namespace {

// NULL: there are not so many cells.
const Cell* CellAt(const bigtable_row* row, size_t index) {
  const absl::Span<const Cell> cells = FromC(row)->cells();
  return index < cells.size() ? &cells[index] : nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_row_set* bigtable_row_set_new() { return new bigtable_row_set; }
void bigtable_row_set_free(bigtable_row_set* set) { delete set; }
void bigtable_row_set_add_row(bigtable_row_set* set, const char* row, size_t row_size) {
  set->rows.Append(View(row, row_size));
}
void bigtable_row_set_add_range(bigtable_row_set* set, const char* begin, size_t begin_size,
                                const char* end, size_t end_size) {
  const std::string_view first = View(begin, begin_size);
  set->rows.Append(end == nullptr ? RowRange::StartingAt(first)
                                  : RowRange::RightOpen(first, View(end, end_size)));
}
void bigtable_row_set_add_prefix(bigtable_row_set* set, const char* prefix, size_t prefix_size) {
  set->rows.Append(RowRange::Prefix(View(prefix, prefix_size)));
}

const char* bigtable_row_key(const bigtable_row* row, size_t* size) {
  return Return(FromC(row)->key(), size);
}
size_t bigtable_row_cell_count(const bigtable_row* row) { return FromC(row)->cells().size(); }
const char* bigtable_row_cell_family(const bigtable_row* row, size_t index, size_t* size) {
  const bigtable::Cell* const cell = bigtable::CellAt(row, index);
  return cell == nullptr ? ReturnNone(size) : Return(cell->family, size);
}
const char* bigtable_row_cell_qualifier(const bigtable_row* row, size_t index, size_t* size) {
  const bigtable::Cell* const cell = bigtable::CellAt(row, index);
  return cell == nullptr ? ReturnNone(size) : Return(cell->qualifier, size);
}
int64_t bigtable_row_cell_timestamp(const bigtable_row* row, size_t index) {
  const bigtable::Cell* const cell = bigtable::CellAt(row, index);
  return cell == nullptr ? -1 : cell->timestamp.micros();
}
const char* bigtable_row_cell_value(const bigtable_row* row, size_t index, size_t* size) {
  const bigtable::Cell* const cell = bigtable::CellAt(row, index);
  return cell == nullptr ? ReturnNone(size) : Return(cell->value, size);
}
const char* bigtable_row_cell_label(const bigtable_row* row, size_t index, size_t* size) {
  const bigtable::Cell* const cell = bigtable::CellAt(row, index);
  if (cell == nullptr || cell->labels.empty()) return ReturnNone(size);
  return Return(*cell->labels.begin(), size);
}
void bigtable_row_free(bigtable_row* row) { delete FromC(row); }

bigtable_error* bigtable_rows_next(bigtable_rows* rows, const bigtable_row** row) {
  BT_C_CHECK_NOT_NULL({"row", row});
  *row = nullptr;
  BT_C_CHECK_NOT_NULL({"rows", rows});
  if (!rows->reader.Next()) return bigtable::ToError(rows->reader.status());
  *row = bigtable::ToC(&rows->reader.row());
  return nullptr;
}
void bigtable_rows_free(bigtable_rows* rows) { delete rows; }

bigtable_error* bigtable_rows_get_resume_token(const bigtable_rows* rows, bigtable_string** token) {
  BT_C_CHECK_NOT_NULL({"token", token});
  *token = nullptr;
  BT_C_CHECK_NOT_NULL({"rows", rows});
  *token = new bigtable_string{rows->reader.ResumeToken()};
  return nullptr;
}
