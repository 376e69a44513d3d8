#include "convert/duration.h"

#include <algorithm>
#include <cstdint>

namespace bigtable::convert {
namespace {

// About 10,000 years.
constexpr int64_t kMaxSeconds = 315'576'000'000;
constexpr int32_t kNanosPerSecond = 1'000'000'000;

}  // namespace

bool IsDuration(const google::protobuf::Duration& proto) {
  const int64_t seconds = proto.seconds();
  const int32_t nanos = proto.nanos();
  return seconds >= -kMaxSeconds && seconds <= kMaxSeconds && nanos > -kNanosPerSecond &&
         nanos < kNanosPerSecond && !(seconds > 0 && nanos < 0) && !(seconds < 0 && nanos > 0);
}

absl::Duration ToDuration(const google::protobuf::Duration& proto) {
  return absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  const absl::Duration possible = std::min(duration, absl::Seconds(kMaxSeconds));
  absl::Duration rest;
  google::protobuf::Duration proto;
  proto.set_seconds(absl::IDivDuration(possible, absl::Seconds(1), &rest));
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return proto;
}

}  // namespace bigtable::convert
