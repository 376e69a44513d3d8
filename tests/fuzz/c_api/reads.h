// Reads of several rows by the C interface, and what they must return.
#ifndef BIGTABLE_TESTS_FUZZ_C_API_READS_H_
#define BIGTABLE_TESTS_FUZZ_C_API_READS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/c.h"

#include "base/strings.h"
#include "fuzz/c_api/arguments.h"
#include "fuzz/c_api/handle.h"
#include "fuzz/c_api/model.h"
#include "fuzz/input.h"
#include "fuzz/target.h"

namespace bigtable {

// What a read of several rows is asked for.
struct FuzzRead {
  FuzzRowSet set;
  FuzzFilter filter;
  bool reverse = false;
  int64_t row_limit = 0;
  int64_t cell_limit = 0;
};

inline FuzzRead TakeRead(FuzzInput* input) {
  FuzzRead read{.set = TakeRowSet(input), .filter = TakeFilter(input)};
  read.reverse = input->Below(2) == 1;
  if (input->Below(2) == 1) read.row_limit = input->Below(4);
  if (input->Below(2) == 1) read.cell_limit = input->Below(8);
  return read;
}

// Without the limits.
inline std::vector<FuzzFoundRow> Expected(const FuzzRead& read, const FuzzTable& table) {
  std::vector<FuzzFoundRow> rows;
  for (const auto& [key, row] : table) {
    if (!read.set.Contains(key)) continue;
    FuzzCells cells = read.filter.pass(CellsOf(row));
    if (!cells.empty()) rows.push_back({key, std::move(cells)});
  }
  if (read.reverse) std::reverse(rows.begin(), rows.end());
  return rows;
}

inline std::vector<FuzzFoundRow> Limited(std::vector<FuzzFoundRow> rows, const FuzzRead& read) {
  const auto row_limit = static_cast<size_t>(read.row_limit);
  if (row_limit != 0 && rows.size() > row_limit) rows.resize(row_limit);
  if (read.cell_limit == 0) return rows;
  auto left = static_cast<size_t>(read.cell_limit);
  for (size_t i = 0; i < rows.size(); ++i) {
    FuzzCells& cells = rows[i].cells;
    if (cells.size() >= left) {
      cells.resize(left);
      rows.resize(i + 1);
      break;
    }
    left -= cells.size();
  }
  return rows;
}

// From `first` on, at most `count`.
inline std::string TextOfRows(const std::vector<FuzzFoundRow>& rows, size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < rows.size() && i - first < count; ++i) {
    text += Cat(rows[i].key, "/", TextOf(rows[i].cells), "\n");
  }
  return text;
}

// The next rows of a stream, at most `count`.
inline std::vector<FuzzFoundRow> NextRows(bigtable_rows* rows, size_t count) {
  std::vector<FuzzFoundRow> found;
  while (found.size() < count) {
    const bigtable_row* row = nullptr;
    Require(IsOk(bigtable_rows_next(rows, &row)), "a step of a stream");
    if (row == nullptr) break;
    size_t size;
    const char* const key = bigtable_row_key(row, &size);
    found.push_back({std::string(key, size), CellsOf(row)});
  }
  return found;
}

inline constexpr size_t kAllRows = 1000;  // more than there are

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_FUZZ_C_API_READS_H_
