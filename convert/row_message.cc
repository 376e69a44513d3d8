#include "convert/row_message.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "convert/owned_cells.h"

namespace bigtable::convert {
namespace {

absl::StatusOr<OwnedCells::Owned> ToOwned(const std::string& family, const std::string& qualifier,
                                          const google::bigtable::v2::Cell& cell) {
  if (cell.timestamp_micros() < 0) {
    return absl::InternalError(Cat("the server's row has a cell at ", cell.timestamp_micros()));
  }
  if (cell.labels_size() > 1) {
    return absl::InternalError(
        Cat("the server's row has a cell with ", cell.labels_size(), " labels"));
  }
  return OwnedCells::Owned{.family = family,
                           .qualifier = qualifier,
                           .timestamp = cell.timestamp_micros(),
                           .value = cell.value(),
                           .label = cell.labels_size() == 1 ? cell.labels(0) : ""};
}

}  // namespace

void ToRowMessage(const Row& row, google::bigtable::v2::Row* message) {
  message->set_key(std::string(row.key()));
  google::bigtable::v2::Family* family = nullptr;
  google::bigtable::v2::Column* column = nullptr;
  for (const Cell& cell : row.cells()) {
    if (family == nullptr || family->name() != cell.family) {
      family = message->add_families();
      family->set_name(std::string(cell.family));
      column = nullptr;
    }
    if (column == nullptr || column->qualifier() != cell.qualifier) {
      column = family->add_columns();
      column->set_qualifier(std::string(cell.qualifier));
    }
    google::bigtable::v2::Cell* const added = column->add_cells();
    added->set_timestamp_micros(cell.timestamp.micros());
    added->set_value(std::string(cell.value));
    for (const std::string_view label : cell.labels) added->add_labels(std::string(label));
  }
}

absl::StatusOr<Row> ToRow(const google::bigtable::v2::Row& message) {
  auto cells = MakeRef<OwnedCells>();
  for (const google::bigtable::v2::Family& family : message.families()) {
    for (const google::bigtable::v2::Column& column : family.columns()) {
      for (const google::bigtable::v2::Cell& cell : column.cells()) {
        BT_ASSIGN_OR_RETURN(OwnedCells::Owned owned,
                            ToOwned(family.name(), column.qualifier(), cell));
        cells->cells.push_back(std::move(owned));
      }
    }
  }
  if (cells->cells.empty()) {
    return absl::InternalError(
        Cat("the server's answer has no cell of row ", Quoted(message.key())));
  }
  Row row;
  OwnedCells::MoveTo(std::move(cells), message.key(), &row);
  return row;
}

}  // namespace bigtable::convert
