// A filter as bytes. The one who reads them makes the same filter with the functions of
// bigtable/filter.h, which check what they are given; regular expressions are compiled anew.
//
//   +------+--------
//   | code | fields
//   | 1    |
//   +------+--------
//
// The codes and their fields: filter_format.cc.
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
