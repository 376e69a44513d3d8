#include "server/monitor/duration_counts.h"

#include <numeric>
#include <utility>

#include "absl/time/time.h"

namespace bigtable::server {
namespace {

absl::Duration Nanoseconds(uint64_t count) {
  return absl::Nanoseconds(static_cast<int64_t>(count));
}

// The bounds of a bucket, above and up to.
std::pair<absl::Duration, absl::Duration> BoundsOf(size_t bucket) {
  using Counts = DurationCounts;
  if (bucket == 0) return {absl::ZeroDuration(), Nanoseconds(uint64_t{1} << Counts::kFirstBits)};
  if (bucket == Counts::kBuckets - 1) {
    return {Nanoseconds(uint64_t{1} << Counts::kLastBits), absl::InfiniteDuration()};
  }
  const uint64_t step = (bucket - 1) & ((1 << Counts::kStepBits) - 1);
  const int shift =
      Counts::kFirstBits - Counts::kStepBits + static_cast<int>((bucket - 1) >> Counts::kStepBits);
  const uint64_t first = (uint64_t{1} << Counts::kStepBits) + step;
  return {Nanoseconds(first << shift), Nanoseconds((first + 1) << shift)};
}

}  // namespace

LatencyHistogram DurationCounts::ToHistogram() const {
  LatencyHistogram histogram;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (counts[i] == 0) continue;
    const auto [above, upto] = BoundsOf(i);
    if (histogram.buckets.empty()) histogram.min = above;
    histogram.max = i == kBuckets - 1 ? above : upto;
    histogram.buckets.push_back({above, upto, counts[i]});
    histogram.count += counts[i];
  }
  histogram.sum = Nanoseconds(nanoseconds);
  return histogram;
}

uint64_t DurationCounts::total() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

DurationCounts DurationCounts::Since(const DurationCounts& earlier) const {
  DurationCounts since;
  for (size_t i = 0; i < kBuckets; ++i) since.counts[i] = counts[i] - earlier.counts[i];
  since.nanoseconds = nanoseconds - earlier.nanoseconds;
  return since;
}

}  // namespace bigtable::server
