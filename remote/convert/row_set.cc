#include "remote/convert/row_set.h"

namespace bigtable::remote {

google::bigtable::v2::RowSet ToProto(const std::vector<RowRange>& ranges) {
  google::bigtable::v2::RowSet rows;
  for (const RowRange& range : ranges) {
    if (!range.begin().empty() && range == RowRange::Single(range.begin())) {
      rows.add_row_keys(range.begin());
      continue;
    }
    auto* const proto = rows.add_row_ranges();
    if (!range.begin().empty()) proto->set_start_key_closed(range.begin());
    if (range.end().has_value()) proto->set_end_key_open(*range.end());
  }
  return rows;
}

}  // namespace bigtable::remote
