#include "bigtable/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bigtable {

absl::Duration LatencyHistogram::Percentile(double percent) const {
  if (count == 0) return absl::ZeroDuration();
  if (percent <= 0) return min;
  const double wanted = std::ceil(static_cast<double>(count) * percent / 100);
  const double rank = std::clamp(wanted, 1.0, static_cast<double>(count));
  double before = 0;
  for (const Bucket& bucket : buckets) {
    const double in_bucket = static_cast<double>(bucket.count);
    if (before + in_bucket < rank) {
      before += in_bucket;
      continue;
    }
    // Interpolates, as if the durations in the bucket were evenly spread.
    const absl::Duration from = std::max(bucket.above, min);
    const absl::Duration to = std::min(bucket.upto, max);
    return from + (to - from) * ((rank - before) / in_bucket);
  }
  return max;
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  if (other.count == 0) return;
  min = count == 0 ? other.min : std::min(min, other.min);
  max = std::max(max, other.max);
  count += other.count;
  sum += other.sum;
  std::vector<Bucket> merged;
  merged.reserve(buckets.size() + other.buckets.size());
  auto theirs = other.buckets.begin();
  for (const Bucket& ours : buckets) {
    while (theirs != other.buckets.end() && theirs->above < ours.above) merged.push_back(*theirs++);
    merged.push_back(ours);
    if (theirs != other.buckets.end() && theirs->above == ours.above) {
      merged.back().count += (theirs++)->count;
    }
  }
  merged.insert(merged.end(), theirs, other.buckets.end());
  buckets = std::move(merged);
}

}  // namespace bigtable
