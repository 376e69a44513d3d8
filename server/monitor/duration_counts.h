// How many calls took how long, as counts that can be added and subtracted.
//
// The buckets are those of bigtable::LatencyHistogram, except that all durations up to a
// microsecond share one: a sixteenth of the power of two that the duration is in.
#ifndef BIGTABLE_SERVER_MONITOR_DURATION_COUNTS_H_
#define BIGTABLE_SERVER_MONITOR_DURATION_COUNTS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "bigtable/latency_histogram.h"

namespace bigtable::server {

// Plain value.
class DurationCounts {
 public:
  static constexpr int kFirstBits = 10;  // 2^10 ns are the upper bound of the first bucket
  static constexpr int kLastBits = 37;   // 2^37 ns, 137 s, are the lower bound of the last
  static constexpr int kStepBits = 4;
  static constexpr size_t kBuckets = 2 + (size_t{kLastBits - kFirstBits} << kStepBits);

  static size_t BucketOf(uint64_t nanoseconds) {
    if (nanoseconds <= uint64_t{1} << kFirstBits) return 0;
    if (nanoseconds > uint64_t{1} << kLastBits) return kBuckets - 1;
    const uint64_t below = nanoseconds - 1;  // a bucket includes its upper bound
    const int bits = std::bit_width(below) - 1;
    const size_t step = (below >> (bits - kStepBits)) & ((1 << kStepBits) - 1);
    return 1 + (static_cast<size_t>(bits - kFirstBits) << kStepBits) + step;
  }

  // The minimum and maximum are the bounds of the buckets, since the counts do not have them.
  LatencyHistogram ToHistogram() const;
  uint64_t total() const;
  // `earlier` is of the same counters.
  DurationCounts Since(const DurationCounts& earlier) const;

  std::array<uint64_t, kBuckets> counts = {};
  uint64_t nanoseconds = 0;  // the sum
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_DURATION_COUNTS_H_
