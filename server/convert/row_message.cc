#include "server/convert/row_message.h"

#include <string>
#include <string_view>

namespace bigtable::server {

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

}  // namespace bigtable::server
