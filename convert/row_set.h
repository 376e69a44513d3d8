// Which rows a ReadRows request reads, and how many; and the rows of a request.
//
// From a request is refused with INVALID_ARGUMENT, with the index of what is wrong: a row key that
// is empty or larger than 4 KiB; a range that ends before it begins, or at its start without both
// being in it (a range of Cloud Bigtable has a row between its keys); a negative limit.
//
// Pure functions.
#ifndef BIGTABLE_CONVERT_ROW_SET_H_
#define BIGTABLE_CONVERT_ROW_SET_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/row_range.h"

namespace bigtable::convert {

// A range of a request. An empty start or end is none: no row has an empty key.
absl::StatusOr<RowRange> ToRowRange(const google::bigtable::v2::RowRange& range);

// Without keys and ranges the set has all rows. An empty start or end of a range is none: no row
// has an empty key.
absl::StatusOr<RowSet> ToRowSet(const google::bigtable::v2::RowSet& rows);

// The other way. A range of a single row becomes a row key. `ranges` are not empty; there is at
// least one, since a message without rows means all of them.
google::bigtable::v2::RowSet ToProto(const std::vector<RowRange>& ranges);

struct RowSelection {
  RowSet rows;
  int64_t limit = 0;      // 0: none
  bool reversed = false;  // from the largest key to the smallest
};

absl::StatusOr<RowSelection> ToRowSelection(const google::bigtable::v2::ReadRowsRequest& request);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_ROW_SET_H_
