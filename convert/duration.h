// Durations as google.protobuf.Duration, and back. Pure functions.
#ifndef BIGTABLE_CONVERT_DURATION_H_
#define BIGTABLE_CONVERT_DURATION_H_

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"

namespace bigtable::convert {

// Whether its numbers are those of a duration: within about 10,000 years, and of one sign.
bool IsDuration(const google::protobuf::Duration& proto);

// The sum of its parts, whatever they are.
absl::Duration ToDuration(const google::protobuf::Duration& proto);

// A duration that is too large becomes the largest. It is not negative; what it has below a
// nanosecond is left out.
google::protobuf::Duration ToProto(absl::Duration duration);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_DURATION_H_
