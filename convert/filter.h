// google.bigtable.v2.RowFilter as the engine's Filter, and back.
//
// The differences that are made up for here:
//   * '.' does not match a newline in Cloud Bigtable, and matches every byte in the engine
//     (regex.h).
//   * Times are milliseconds there, and microseconds here.
//   * A range may be open or closed at both ends; the engine's are [begin, end). A range that has
//     nothing in it is refused.
//   * A family_name_regex_filter without any operator of regular expressions names one family. As
//     in Cloud Bigtable, and with the family of a column_range_filter too, a read then returns
//     NOT_FOUND if the table does not have it. A regular expression that matches no family passes
//     nothing.
//
// ToFilter refuses, each with INVALID_ARGUMENT and the path of the part that is wrong:
//   * more than 20 KiB, or Chains, Interleaves and Conditions nested more than 20 deep;
//   * a Chain or an Interleave of fewer than two filters, a Condition without a predicate_filter;
//   * sink, pass_all_filter, block_all_filter and strip_value_transformer that are false;
//   * a family_name_regex_filter with a colon;
//   * timestamps that are negative or not multiples of a millisecond;
//   * what the engine refuses: bad regular expressions, cells_per_*_limit below 1,
//     cells_per_row_offset below 0, a row_sample_filter that is not between 0 and 1, bad labels,
//     labels in several parts of a Chain, a sink in a Condition, 1,000 parts, regular expressions
//     whose programs have more than 100,000 instructions together.
//
// Pure functions.
#ifndef BIGTABLE_CONVERT_FILTER_H_
#define BIGTABLE_CONVERT_FILTER_H_

#include "absl/status/statusor.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/filter.h"

namespace bigtable::convert {

// A filter with nothing set passes everything, also as a part of another one.
absl::StatusOr<Filter> ToFilter(const google::bigtable::v2::RowFilter& filter);

// `filter` is valid. Nothing here refuses one that is too large for ToFilter: the service does.
google::bigtable::v2::RowFilter ToProto(const Filter& filter);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_FILTER_H_
