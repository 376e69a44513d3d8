#include "convert/time_range.h"

#include <algorithm>

#include "base/status.h"
#include "convert/invalid.h"
#include "convert/limits.h"

namespace bigtable::convert {

absl::Status CheckTimestamp(std::string_view what, int64_t micros) {
  if (micros < 0) return Invalid(what, " must not be negative, and is ", micros);
  if (micros % kTimestampGranularityMicros == 0) return absl::OkStatus();
  return Invalid(what, " must be a multiple of ", kTimestampGranularityMicros,
                 " microseconds in the Bigtable API, and is ", micros);
}

absl::StatusOr<Timestamp> ToTimestamp(int64_t micros) {
  BT_RETURN_IF_ERROR(CheckTimestamp("a timestamp", micros));
  return Timestamp(micros);
}

absl::StatusOr<TimeRange> ToTimeRange(const google::bigtable::v2::TimestampRange& range) {
  TimeRange times = {.begin = range.start_timestamp_micros(), .end = TimeRange::kNoEnd};
  BT_RETURN_IF_ERROR(CheckTimestamp("the start of a time range", times.begin));
  if (range.end_timestamp_micros() == 0) return times;
  times.end = range.end_timestamp_micros();
  BT_RETURN_IF_ERROR(CheckTimestamp("the end of a time range", times.end));
  if (!times.empty()) return times;
  return Invalid("a range of timestamps must end after it begins: [", times.begin, ", ", times.end,
                 ")");
}

absl::StatusOr<google::bigtable::v2::TimestampRange> ToProto(const TimeRange& range) {
  google::bigtable::v2::TimestampRange proto;
  BT_RETURN_IF_ERROR(CheckTimestamp("the start of a time range", range.begin));
  proto.set_start_timestamp_micros(range.begin);
  if (range.end == TimeRange::kNoEnd) return proto;
  BT_RETURN_IF_ERROR(CheckTimestamp("the end of a time range", range.end));
  proto.set_end_timestamp_micros(range.end);
  return proto;
}

TimeRange WithWholeMilliseconds(const TimeRange& range) {
  constexpr int64_t kUnit = kTimestampGranularityMicros;
  constexpr int64_t kLast = TimeRange::kNoEnd / kUnit * kUnit;
  // Of 0 to kLast, whose sum with a unit would be too large.
  const auto round_up = [](int64_t micros) {
    return micros % kUnit == 0 ? micros : (micros / kUnit + 1) * kUnit;
  };
  // No cell has a negative timestamp.
  const int64_t begin = std::max(range.begin, int64_t{0});
  if (begin > kLast || range.end <= 0) return {.begin = 0, .end = 0};
  return {.begin = round_up(begin),
          .end = range.end > kLast ? TimeRange::kNoEnd : round_up(range.end)};
}

}  // namespace bigtable::convert
