#include "common/table.h"

#include <algorithm>
#include <cstddef>

namespace bench {
namespace {

// In characters: the other bytes of one begin with the bits 10.
size_t Width(const std::string& cell) {
  return static_cast<size_t>(std::count_if(cell.begin(), cell.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string Table::Text() const {
  std::vector<size_t> widths(lines_.front().size(), 3);
  for (const std::vector<std::string>& cells : lines_) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], Width(cells[i]));
  }
  std::string text;
  for (size_t line = 0; line < lines_.size(); ++line) {
    for (size_t i = 0; i < lines_[line].size(); ++i) {
      const std::string& cell = lines_[line][i];
      text += "| " + cell + std::string(widths[i] - Width(cell) + 1, ' ');
    }
    text += "|\n";
    if (line != 0) continue;
    for (const size_t width : widths) text += "|" + std::string(width + 2, '-');
    text += "|\n";
  }
  return text;
}

}  // namespace bench
