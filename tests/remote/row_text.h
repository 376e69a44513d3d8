// Rows as texts, to be compared.
#ifndef BIGTABLE_TESTS_REMOTE_ROW_TEXT_H_
#define BIGTABLE_TESTS_REMOTE_ROW_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"

#include "bigtable/row.h"

namespace bigtable::remote {

// Each cell, as "f:q@1000=v#label".
inline std::vector<std::string> CellTexts(const Row& row) {
  std::vector<std::string> texts;
  for (const Cell& cell : row.cells()) {
    std::string& text = texts.emplace_back();
    text = std::string(cell.family) + ":" + std::string(cell.qualifier) + "@" +
           std::to_string(cell.timestamp.micros()) + "=" + std::string(cell.value);
    for (const std::string_view label : cell.labels) text += "#" + std::string(label);
  }
  return texts;
}

// The cells of a row as one text: "f:q@1000=v f:q@0=w".
inline std::string TextOf(const Row& row) { return absl::StrJoin(CellTexts(row), " "); }

}  // namespace bigtable::remote

#endif  // BIGTABLE_TESTS_REMOTE_ROW_TEXT_H_
