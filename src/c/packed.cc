// Packed cells and packed operations: many of them in one call.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/timestamp.h"

#include "base/status.h"
#include "base/strings.h"
#include "c/arguments.h"
#include "c/handles.h"

using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

// Rows, names and qualifiers have limits far below (RowMutation).
uint32_t ShortSize(std::string_view text) { return static_cast<uint32_t>(text.size()); }

// Packs the cells of rows, one row after another.
class CellPacker {
 public:
  CellPacker(std::vector<bigtable_packed_cell>* cells, std::string* text)
      : cells_(*cells), text_(*text) {
    cells_.clear();
    text_.clear();
  }

  void Add(const Row& row) {
    std::string_view key = row.key();
    for (const Cell& cell : row.cells()) {
      const std::string_view family = FamilyToWrite(cell.family);
      const std::string_view label =
          cell.labels.empty() ? std::string_view() : *cell.labels.begin();
      cells_.push_back({.text = text_.size(),
                        .timestamp = cell.timestamp.micros(),
                        .row_size = ShortSize(key),
                        .family_size = ShortSize(family),
                        .qualifier_size = ShortSize(cell.qualifier),
                        .label_size = ShortSize(label),
                        .value_size = cell.value.size()});
      text_.append(key).append(family).append(cell.qualifier).append(label).append(cell.value);
      key = {};
    }
  }

 private:
  // Empty if the cell before has this family.
  std::string_view FamilyToWrite(std::string_view family) {
    if (family == family_) return {};
    family_ = family;
    return family;
  }

  std::vector<bigtable_packed_cell>& cells_;
  std::string& text_;
  std::string family_;  // of the last cell, empty before the first; a copy: the stream moves on
};

// The text of packed operations, from which each record takes its part.
class PackedText {
 public:
  explicit PackedText(std::string_view text) : left_(text) {}

  bool Has(const bigtable_packed_operation& operation) const {
    return uint64_t{operation.row_size} + operation.column_size + operation.value_size <=
           left_.size();
  }
  std::string_view Take(size_t size) {
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
};

// False: there is no such kind.
bool AddOperation(const bigtable_packed_operation& operation, std::string_view column,
                  std::string_view value, RowMutation* mutation) {
  const Timestamp timestamp(operation.timestamp);
  switch (operation.kind) {
    case BIGTABLE_OPERATION_SET:
      if (operation.timestamp == -1) {
        mutation->Set(column, value);
      } else {
        mutation->Set(column, timestamp, value);
      }
      return true;
    case BIGTABLE_OPERATION_ADD_TO_CELL:
      mutation->AddToCell(column, timestamp, value);
      return true;
    case BIGTABLE_OPERATION_MERGE_TO_CELL:
      mutation->MergeToCell(column, timestamp, value);
      return true;
    case BIGTABLE_OPERATION_DELETE_COLUMN:
      mutation->Delete(column);
      return true;
    case BIGTABLE_OPERATION_DELETE_CELL:
      mutation->DeleteCell(column, timestamp);
      return true;
    case BIGTABLE_OPERATION_DELETE_TIME_RANGE:
      mutation->DeleteTimeRange(column, timestamp, Timestamp(operation.end));
      return true;
    case BIGTABLE_OPERATION_DELETE_FAMILY:
      mutation->DeleteFamily(column);
      return true;
    case BIGTABLE_OPERATION_DELETE_ROW:
      mutation->DeleteRow();
      return true;
    default:
      return false;
  }
}

// Stores new mutations in mutations[0], mutations[1] and so on, also before it returns an error.
absl::Status Unpack(const bigtable_packed_operation* operations, size_t operation_count,
                    std::string_view text, bigtable_mutation** mutations, size_t count) {
  PackedText packed(text);
  size_t unpacked = 0;
  for (size_t i = 0; i < operation_count; ++i) {
    const bigtable_packed_operation& operation = operations[i];
    if (!packed.Has(operation)) {
      return absl::InvalidArgumentError(
          Cat("the text of packed operation ", i, " ends behind the text of all of them"));
    }
    if (operation.row_size != 0) {
      if (unpacked == count) {
        return absl::InvalidArgumentError(Cat(
            "the packed operations have more mutations than the argument count, which is ", count));
      }
      mutations[unpacked++] =
          new bigtable_mutation{RowMutation(packed.Take(operation.row_size)), absl::OkStatus()};
    }
    if (unpacked == 0) return absl::InvalidArgumentError("packed operation 0 must have a row");
    const std::string_view column = packed.Take(operation.column_size);
    const std::string_view value = packed.Take(operation.value_size);
    if (!AddOperation(operation, column, value, &mutations[unpacked - 1]->mutation)) {
      return absl::InvalidArgumentError(
          Cat("packed operation ", i, " has the kind ", operation.kind, ", which does not exist"));
    }
  }
  if (unpacked != count) {
    return absl::InvalidArgumentError(Cat("the packed operations have ", unpacked,
                                          " mutations, and the argument count is ", count));
  }
  if (packed.left() != 0) {
    return absl::InvalidArgumentError(
        Cat("the text of the packed operations has ", packed.left(), " bytes too many"));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_mutations_new_packed(const bigtable_packed_operation* operations,
                                              size_t operation_count, const char* text,
                                              size_t text_size, bigtable_mutation** mutations,
                                              size_t count) {
  BT_C_CHECK_NOT_NULL({"mutations", mutations, count});
  for (size_t i = 0; i < count; ++i) mutations[i] = nullptr;
  BT_C_CHECK_NOT_NULL({"operations", operations, operation_count}, {"text", text, text_size});
  const absl::Status status =
      bigtable::Unpack(operations, operation_count, View(text, text_size), mutations, count);
  if (status.ok()) return nullptr;
  bigtable_mutations_free(mutations, count);
  for (size_t i = 0; i < count; ++i) mutations[i] = nullptr;
  return ToError(status);
}

void bigtable_mutations_free(bigtable_mutation* const* mutations, size_t count) {
  for (size_t i = 0; i < count; ++i) delete mutations[i];
}

bigtable_error* bigtable_rows_next_packed(bigtable_rows* rows, size_t text_limit,
                                          const bigtable_packed_cell** cells, size_t* count,
                                          const char** text, size_t* text_size) {
  if (cells != nullptr) *cells = nullptr;
  if (count != nullptr) *count = 0;
  if (text != nullptr) *text = nullptr;
  if (text_size != nullptr) *text_size = 0;
  BT_C_CHECK_NOT_NULL({"rows", rows}, {"cells", cells}, {"count", count}, {"text", text},
                      {"text_size", text_size});
  bigtable::CellPacker packer(&rows->packed_cells, &rows->packed_text);
  while ((rows->packed_cells.empty() || rows->packed_text.size() < text_limit) &&
         rows->reader.Next()) {
    packer.Add(rows->reader.row());
  }
  if (rows->packed_cells.empty()) return ToError(rows->reader.status());
  *cells = rows->packed_cells.data();
  *count = rows->packed_cells.size();
  *text = rows->packed_text.data();
  *text_size = rows->packed_text.size();
  return nullptr;
}
