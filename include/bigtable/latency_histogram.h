// A histogram of durations.
#ifndef BIGTABLE_LATENCY_HISTOGRAM_H_
#define BIGTABLE_LATENCY_HISTOGRAM_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/export.h"

namespace bigtable {

// Plain value. All histograms have the same bucket bounds. Up to 128 ns a bucket is 8 ns wide. From
// there to 137 s it is a sixteenth of the power of two that it is in, so that no bucket is wider
// than 1/16 of the durations in it. One more bucket holds longer durations. Every power of two of
// nanoseconds from 128 ns on is a bound.
struct BIGTABLE_EXPORT LatencyHistogram {
  // How many calls took a time between two bounds.
  struct Bucket {
    absl::Duration above;  // exclusive
    absl::Duration upto;   // inclusive; infinite for the last bucket
    uint64_t count = 0;

    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  uint64_t count = 0;  // sum over the buckets
  absl::Duration sum;
  absl::Duration min;  // min and max are zero if nothing was counted
  absl::Duration max;
  std::vector<Bucket> buckets;  // ascending; empty ones are left out

  // The duration that `percent` of 100 calls did not exceed. The error is at most 1/16, or 8 ns
  // below 128 ns. Zero if nothing was counted. Cost: one pass over the buckets.
  absl::Duration Percentile(double percent) const;
  absl::Duration Mean() const { return count == 0 ? absl::ZeroDuration() : sum / double(count); }
  // Adds the counts of `other`.
  void Merge(const LatencyHistogram& other);

  friend bool operator==(const LatencyHistogram&, const LatencyHistogram&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_LATENCY_HISTOGRAM_H_
