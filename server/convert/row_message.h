// A row as google.bigtable.v2.Row: the response of ReadModifyWriteRow.
#ifndef BIGTABLE_SERVER_CONVERT_ROW_MESSAGE_H_
#define BIGTABLE_SERVER_CONVERT_ROW_MESSAGE_H_

#include "google/bigtable/v2/data.pb.h"

#include "bigtable/row.h"

namespace bigtable::server {

// Pure function.
void ToRowMessage(const Row& row, google::bigtable::v2::Row* message);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONVERT_ROW_MESSAGE_H_
