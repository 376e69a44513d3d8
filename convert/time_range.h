// Timestamps and ranges of timestamps as messages have them, and back.
//
// The tables of the API have the granularity of a millisecond: each timestamp in a request is a
// multiple of 1000 microseconds. Cells with others exist where programs have embedded the engine.
//
// Pure functions. INVALID_ARGUMENT names the timestamp, and the rule.
#ifndef BIGTABLE_CONVERT_TIME_RANGE_H_
#define BIGTABLE_CONVERT_TIME_RANGE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/timestamp.h"

#include "base/time_range.h"

namespace bigtable::convert {

// Not negative, and a multiple of a millisecond. `what`: "a timestamp".
absl::Status CheckTimestamp(std::string_view what, int64_t micros);
// A timestamp of a cell.
absl::StatusOr<Timestamp> ToTimestamp(int64_t micros);

// Not empty. An end of 0 is no end: then the range has all timestamps from its start on.
absl::StatusOr<TimeRange> ToTimeRange(const google::bigtable::v2::TimestampRange& range);
absl::StatusOr<google::bigtable::v2::TimestampRange> ToProto(const TimeRange& range);

// The range with the same cells, of those at whole milliseconds: each end becomes the next
// millisecond. It may be empty.
TimeRange WithWholeMilliseconds(const TimeRange& range);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_TIME_RANGE_H_
