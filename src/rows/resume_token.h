// Where a stream of rows stopped, as bytes for a program to keep (RowReader::ResumeToken):
//
//   | format version | order     | table id | ranges: count, then each:   | checksum of all |
//   | 1 byte, 1      | 1: reverse| varint   | begin, has end [, end]      | before it, u64  |
//
// Texts have their length before them, flags are a byte, counts are varints. The ranges are those
// that are left to read: in key order, not empty, without overlap.
#ifndef BIGTABLE_ROWS_RESUME_TOKEN_H_
#define BIGTABLE_ROWS_RESUME_TOKEN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/row_range.h"

namespace bigtable {

struct ResumeToken {
  uint64_t table_id = 0;
  bool reverse = false;
  std::vector<RowRange> ranges;

  std::string Encode() const;
  // InvalidArgument: these bytes are not a token.
  static absl::StatusOr<ResumeToken> Decode(std::string_view bytes);
};

// The ranges of a token, which must be of this table and order: InvalidArgument.
absl::StatusOr<std::vector<RowRange>> RangesOfToken(std::string_view token, uint64_t table_id,
                                                    std::string_view table_name, bool reverse);

// The part of the ranges, which are as RowSet::Normalized() has them, that is left to read after
// `row`; or from `row` on, if that is not `done`.
std::vector<RowRange> RangesLeft(const std::vector<RowRange>& ranges, std::string_view row,
                                 bool done, bool reverse);

}  // namespace bigtable

#endif  // BIGTABLE_ROWS_RESUME_TOKEN_H_
