// The cells of a read's response.
#include "rpc/cell_block.h"

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/target.h"

namespace bigtable {
namespace {

struct FuzzCell {
  ReadCell cell;
  bool is_new_row;
};

// The cells before what is malformed.
std::vector<FuzzCell> CellsOf(CellBlockReader* reader) {
  std::vector<FuzzCell> cells;
  while (reader->Next()) cells.push_back({reader->cell(), reader->is_new_row()});
  return cells;
}

bool IsSame(const FuzzCell& a, const FuzzCell& b) {
  return a.is_new_row == b.is_new_row && a.cell.row == b.cell.row &&
         a.cell.family == b.cell.family && a.cell.qualifier == b.cell.qualifier &&
         a.cell.timestamp == b.cell.timestamp && a.cell.value == b.cell.value &&
         a.cell.label == b.cell.label;
}

void FuzzCellBlock(std::string_view bytes) {
  const std::string block(bytes);  // on the heap, where an overrun is seen
  CellBlockReader reader(block);
  const std::vector<FuzzCell> cells = CellsOf(&reader);
  Require(cells.size() <= block.size(), "a cell takes bytes");
  Require(cells.empty() || cells.front().is_new_row, "the first cell begins a row");

  std::string encoded;
  CellBlockBuilder builder(&encoded);
  for (const FuzzCell& cell : cells) builder.Add(cell.cell, cell.is_new_row);
  CellBlockReader reader_again(encoded);
  const std::vector<FuzzCell> again = CellsOf(&reader_again);
  Require(reader_again.ok() && again.size() == cells.size(), "cells that are read can be written");
  for (size_t i = 0; i < cells.size(); ++i) Require(IsSame(cells[i], again[i]), "as they are");
}

const FuzzTargetRegistration cell_block_target("cell_block", FuzzCellBlock);

}  // namespace
}  // namespace bigtable
