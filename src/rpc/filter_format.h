// A filter as bytes. The one who reads them makes the same filter with the functions of
// bigtable/filter.h, which check what they are given; regular expressions are compiled anew.
//
//   +------+--------
//   | code | fields
//   | 1    |
//   +------+--------
//
//   code  filter            fields
//   0     everything
//   1     BlockAll
//   2     Latest            n: varint
//   3     Family            name: length, bytes
//   4     FamilyRegex       expression: length, bytes
//   5     ColumnRange       family, begin, end: length, bytes each
//   6     ColumnRegex       expression
//   7     RowKeysRegex      expression
//   8     ValueRegex        expression
//   9     TimestampRange    begin, end: fixed64 each
//   10    CellsRowLimit     n
//   11    CellsRowOffset    n
//   12    StripValueTransformer
//   13    Chain             count: varint, then as many filters
//
// No bytes at all pass everything, too.
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

// What a server takes from others: chains in chains, and filters in all.
inline constexpr int kMostFilterDepth = 50;
inline constexpr int kMostFilterNodes = 1000;

// InvalidArgument: the filter cannot be, or is larger than these limits.
absl::StatusOr<std::string> EncodeFilter(const Filter& filter);
// InvalidArgument: the bytes are no filter, or one that cannot be, or too large. Thread-safe; costs
// what making the filter costs.
absl::StatusOr<Filter> DecodeFilter(std::string_view bytes);

}  // namespace bigtable

#endif  // BIGTABLE_RPC_FILTER_FORMAT_H_
