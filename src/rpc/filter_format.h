// A filter as bytes. A reader builds the same filter with the functions of bigtable/filter.h, which
// check their arguments; regular expressions are compiled again.
//
//   +------+--------
//   | code | fields
//   | 1    |
//   +------+--------
//
// The codes and their fields are in filter_format.cc. An empty string passes everything, too.
//
// Worked example: Chain(Family("f"), Latest(1)):
//   0d 02 03 01 66 02 01
#ifndef BIGTABLE_RPC_FILTER_FORMAT_H_
#define BIGTABLE_RPC_FILTER_FORMAT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"

namespace bigtable {

// InvalidArgument: the filter is not valid, or exceeds these limits.
absl::StatusOr<std::string> EncodeFilter(const Filter& filter);
// InvalidArgument: the bytes are not a valid filter, or exceed the limits. Thread-safe; costs as
// much as building the filter.
absl::StatusOr<Filter> DecodeFilter(std::string_view bytes);

}  // namespace bigtable

#endif  // BIGTABLE_RPC_FILTER_FORMAT_H_
