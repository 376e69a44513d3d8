// A row as google.bigtable.v2.Row, the response of ReadModifyWriteRow, and back.
//
// Pure functions.
#ifndef BIGTABLE_CONVERT_ROW_MESSAGE_H_
#define BIGTABLE_CONVERT_ROW_MESSAGE_H_

#include "absl/status/statusor.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/row.h"

namespace bigtable::convert {

void ToRowMessage(const Row& row, google::bigtable::v2::Row* message);

// Internal: the message has no cell, one with a negative timestamp, or one with several labels.
absl::StatusOr<Row> ToRow(const google::bigtable::v2::Row& message);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_ROW_MESSAGE_H_
