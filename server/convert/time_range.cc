#include "server/convert/time_range.h"

#include "server/convert/errors.h"
#include "server/convert/limits.h"

namespace bigtable::server {

absl::StatusOr<Timestamp> ToTimestamp(int64_t micros) {
  if (micros < 0) return Invalid("a timestamp must not be negative, and is ", micros);
  if (micros % kTimestampGranularityMicros != 0) {
    return Invalid("a timestamp must be a multiple of ", kTimestampGranularityMicros,
                   " microseconds, and is ", micros);
  }
  return Timestamp(micros);
}

absl::StatusOr<TimeRange> ToTimeRange(const google::bigtable::v2::TimestampRange& range) {
  TimeRange times;
  SERVER_ASSIGN_OR_RETURN(times.begin, ToTimestamp(range.start_timestamp_micros()));
  if (range.end_timestamp_micros() == 0) return times;
  SERVER_ASSIGN_OR_RETURN(times.end, ToTimestamp(range.end_timestamp_micros()));
  if (times.begin < times.end) return times;
  return Invalid("a range of timestamps must end after it begins: [", times.begin.micros(), ", ",
                 times.end.micros(), ")");
}

}  // namespace bigtable::server
