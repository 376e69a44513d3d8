// How long things took: how many of them, by duration.
#ifndef BIGTABLE_LATENCY_HISTOGRAM_H_
#define BIGTABLE_LATENCY_HISTOGRAM_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace bigtable {

// Plain value. Bounds are the same in every histogram: up to 128 ns a bucket is 8 ns wide, from
// there to 137 s a sixteenth of the power of two that it is in, so that no bucket is wider than
// 1/16 of what is in it; one more has what took longer. Every power of two of nanoseconds from
// 128 ns on is a bound.
struct LatencyHistogram {
  struct Bucket {
    absl::Duration above;  // took longer than this
    absl::Duration upto;   // and this at most; infinite for the last one
    uint64_t count = 0;

    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  uint64_t count = 0;  // the sum of the buckets'
  absl::Duration sum;
  absl::Duration min;  // zero, as max, if nothing was counted
  absl::Duration max;
  std::vector<Bucket> buckets;  // ascending; empty ones are left out

  // The duration that `percent` of 100 did not exceed: off by 1/16 at most, below 128 ns by 8 ns.
  // Zero if nothing was counted. Cost: a look at each bucket.
  absl::Duration Percentile(double percent) const;
  absl::Duration Mean() const { return count == 0 ? absl::ZeroDuration() : sum / double(count); }
  // Adds what `other` has counted.
  void Merge(const LatencyHistogram& other);

  friend bool operator==(const LatencyHistogram&, const LatencyHistogram&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_LATENCY_HISTOGRAM_H_
