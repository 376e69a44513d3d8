// Ranges of rows as google.bigtable.v2.RowSet. Pure function.
#ifndef BIGTABLE_REMOTE_CONVERT_ROW_SET_H_
#define BIGTABLE_REMOTE_CONVERT_ROW_SET_H_

#include <vector>

#include "bigtable/row_range.h"

#include "google/bigtable/v2/data.pb.h"

namespace bigtable::remote {

// A range of a single row becomes a row key. `ranges` are not empty; there is at least one, since a
// message without rows means all of them.
google::bigtable::v2::RowSet ToProto(const std::vector<RowRange>& ranges);

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CONVERT_ROW_SET_H_
