// Filter as google.bigtable.v2.RowFilter. Pure function.
//
// A regular expression of this library matches any byte with '.', one of the API all but a newline;
// so "(?s)" is put before one that has a '.'.
#ifndef BIGTABLE_REMOTE_CONVERT_FILTER_H_
#define BIGTABLE_REMOTE_CONVERT_FILTER_H_

#include "bigtable/filter.h"

#include "google/bigtable/v2/data.pb.h"

namespace bigtable::remote {

// `filter` is valid.
google::bigtable::v2::RowFilter ToProto(const Filter& filter);

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CONVERT_FILTER_H_
