// What a table must have, for the target of the C interface.
#ifndef BIGTABLE_TESTS_FUZZ_C_API_MODEL_H_
#define BIGTABLE_TESTS_FUZZ_C_API_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/c.h"

#include "base/strings.h"

namespace bigtable {

// By timestamp, the newest first, by "family:qualifier", by row. The families have names of one
// letter, so columns are in the order of a row.
using CellVersions = std::map<int64_t, std::string, std::greater<>>;
using FuzzRow = std::map<std::string, CellVersions>;
using FuzzTable = std::map<std::string, FuzzRow>;

struct FuzzCellVersion {
  std::string column;
  int64_t time;
  std::string value;
};
// In the order of a row.
using FuzzCells = std::vector<FuzzCellVersion>;

inline FuzzCells CellsOf(const FuzzRow& row) {
  FuzzCells cells;
  for (const auto& [column, versions] : row) {
    for (const auto& [time, value] : versions) cells.push_back({column, time, value});
  }
  return cells;
}

// The cells of a row that is not in the table are none.
inline FuzzCells CellsOf(const FuzzTable& table, const std::string& row) {
  const auto found = table.find(row);
  return found == table.end() ? FuzzCells() : CellsOf(found->second);
}

inline FuzzCells CellsOf(const bigtable_row* row) {
  FuzzCells cells;
  for (size_t i = 0; i < bigtable_row_cell_count(row); ++i) {
    size_t size;
    const char* data = bigtable_row_cell_family(row, i, &size);
    std::string column(data, size);
    column.push_back(':');
    data = bigtable_row_cell_qualifier(row, i, &size);
    column.append(data, size);
    data = bigtable_row_cell_value(row, i, &size);
    cells.push_back({column, bigtable_row_cell_timestamp(row, i), std::string(data, size)});
  }
  return cells;
}

inline std::string TextOf(const FuzzCells& cells) {
  std::string text;
  for (const FuzzCellVersion& cell : cells) {
    text += Cat(cell.column, "@", cell.time, "=", cell.value, " ");
  }
  return text;
}

// A row that a read returns.
struct FuzzFoundRow {
  std::string key;
  FuzzCells cells;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_FUZZ_C_API_MODEL_H_
