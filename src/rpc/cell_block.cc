#include "rpc/cell_block.h"

namespace bigtable {
namespace {

enum Begin : uint8_t { kRow = 0, kFamily = 1, kColumn = 2, kVersion = 3 };
constexpr uint8_t kHasLabel = 4;

}  // namespace

void CellBlockBuilder::Add(const ReadCell& cell, bool is_new_row) {
  if (is_new_row) {
    row_begin_ = out_->size();
    ++rows_;
  }
  const Begin begin = is_new_row                     ? kRow
                      : cell.family != family_       ? kFamily
                      : cell.qualifier != qualifier_ ? kColumn
                                                     : kVersion;
  out_->push_back(static_cast<char>(begin | (cell.label.empty() ? 0 : kHasLabel)));
  if (begin == kRow) AppendLengthPrefixed(out_, cell.row);
  if (begin <= kFamily) {
    AppendLengthPrefixed(out_, cell.family);
    family_ = cell.family;
  }
  if (begin <= kColumn) {
    AppendLengthPrefixed(out_, cell.qualifier);
    qualifier_ = cell.qualifier;
  }
  AppendVarint64(out_, static_cast<uint64_t>(cell.timestamp));
  AppendLengthPrefixed(out_, cell.value);
  if (!cell.label.empty()) AppendLengthPrefixed(out_, cell.label);
}

bool CellBlockReader::Next() {
  if (!ok_ || decoder_.at_end()) return false;
  const uint8_t flags = decoder_.Byte();
  const uint8_t begin = flags & ~kHasLabel;
  is_new_row_ = begin == kRow;
  if (begin == kRow) cell_.row = decoder_.LengthPrefixed();
  if (begin <= kFamily) cell_.family = decoder_.LengthPrefixed();
  if (begin <= kColumn) cell_.qualifier = decoder_.LengthPrefixed();
  cell_.timestamp = static_cast<int64_t>(decoder_.Varint());
  cell_.value = decoder_.LengthPrefixed();
  cell_.label = (flags & kHasLabel) != 0 ? decoder_.LengthPrefixed() : std::string_view();
  // An empty row or family: the first cell did not begin a row.
  ok_ = decoder_.ok() && begin <= kVersion && !cell_.row.empty() && !cell_.family.empty() &&
        cell_.timestamp >= 0 && ((flags & kHasLabel) == 0 || !cell_.label.empty());
  return ok_;
}

}  // namespace bigtable
