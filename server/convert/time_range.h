// Timestamps and ranges of timestamps of requests.
//
// Tables have the granularity of a millisecond: each timestamp in a request is a multiple of 1000
// microseconds. Cells with others exist where programs have embedded the engine.
//
// Pure functions. INVALID_ARGUMENT names the timestamp, and the rule.
#ifndef BIGTABLE_SERVER_CONVERT_TIME_RANGE_H_
#define BIGTABLE_SERVER_CONVERT_TIME_RANGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/timestamp.h"

namespace bigtable::server {

// A timestamp of a cell: not negative.
absl::StatusOr<Timestamp> ToTimestamp(int64_t micros);

// [begin, end), not empty. An end of Timestamp::Max() is no end, as everywhere in the library.
struct TimeRange {
  Timestamp begin;
  Timestamp end = Timestamp::Max();

  bool is_all() const { return begin == Timestamp() && end == Timestamp::Max(); }
};

// An end of 0 is no end: then the range has all timestamps from its start on.
absl::StatusOr<TimeRange> ToTimeRange(const google::bigtable::v2::TimestampRange& range);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONVERT_TIME_RANGE_H_
