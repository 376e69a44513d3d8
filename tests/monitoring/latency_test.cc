// Durations recorded by any number of threads are counted exactly, and percentiles are as precise
// as the histogram promises.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/latency_histogram.h"

#include "monitoring/latency_recorder.h"
#include "support/random.h"

namespace bigtable {
namespace {

TEST(LatencyBucketsTest, EachBeginsWhereThePreviousOneEnds) {
  for (size_t i = 0; i + 1 < LatencyBuckets::kCount; ++i) {
    const int64_t bound = LatencyBuckets::BoundOf(i);
    EXPECT_EQ(LatencyBuckets::IndexOf(bound), i) << bound;
    EXPECT_EQ(LatencyBuckets::IndexOf(bound + 1), i + 1) << bound;
  }
  EXPECT_EQ(LatencyBuckets::IndexOf(0), 0u);
  EXPECT_EQ(LatencyBuckets::IndexOf(-5), 0u);
  EXPECT_EQ(LatencyBuckets::IndexOf(INT64_MAX), LatencyBuckets::kCount - 1);
}

TEST(LatencyBucketsTest, NoneIsWiderThanASixteenthOfItsValues) {
  for (size_t i = LatencyBuckets::kSteps; i + 1 < LatencyBuckets::kCount; ++i) {
    const int64_t above = LatencyBuckets::BoundOf(i - 1);
    EXPECT_LE((LatencyBuckets::BoundOf(i) - above) * 16, above + 1) << above;
  }
}

TEST(LatencyBucketsTest, PowersOfTwoAreBounds) {
  for (int bits = 7; bits <= LatencyBuckets::kLongestBits; ++bits) {
    const int64_t power = int64_t{1} << bits;
    EXPECT_EQ(LatencyBuckets::BoundOf(LatencyBuckets::IndexOf(power)), power);
  }
}

TEST(LatencyRecorderTest, WithoutRecordedValuesTheHistogramIsEmpty) {
  const LatencyHistogram histogram = LatencyRecorder().Read();
  EXPECT_EQ(histogram, LatencyHistogram());
  EXPECT_EQ(histogram.Percentile(50), absl::ZeroDuration());
  EXPECT_EQ(histogram.Mean(), absl::ZeroDuration());
}

TEST(LatencyRecorderTest, CountSumAndExtremesAreExact) {
  LatencyRecorder recorder;
  recorder.Record(1000);
  recorder.Record(30, 16);
  recorder.Record(int64_t{1} << 40);  // longer than all bounds
  const LatencyHistogram histogram = recorder.Read();
  EXPECT_EQ(histogram.count, 18u);
  EXPECT_EQ(histogram.sum, absl::Nanoseconds(1000 + 30 * 16 + (int64_t{1} << 40)));
  EXPECT_EQ(histogram.min, absl::Nanoseconds(30));
  EXPECT_EQ(histogram.max, absl::Nanoseconds(int64_t{1} << 40));
  ASSERT_EQ(histogram.buckets.size(), 3u);
  EXPECT_EQ(histogram.buckets[0],
            (LatencyHistogram::Bucket{absl::Nanoseconds(24), absl::Nanoseconds(32), 16}));
  EXPECT_EQ(histogram.buckets[2].upto, absl::InfiniteDuration());
  EXPECT_EQ(histogram.Percentile(0), absl::Nanoseconds(30));
  EXPECT_EQ(histogram.Percentile(100), absl::Nanoseconds(int64_t{1} << 40));
}

// Log-normal with a long tail, like real latencies.
std::vector<int64_t> Latencies(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> nanos;
  for (size_t i = 0; i < n; ++i) {
    double exponent = 3;
    for (int j = 0; j < 6; ++j) exponent += static_cast<double>(random.Below(1000)) / 1000;
    nanos.push_back(static_cast<int64_t>(std::pow(10, exponent)));
  }
  return nanos;
}

TEST(LatencyRecorderTest, PercentilesAreWithinASixteenthOfTheSamples) {
  std::vector<int64_t> samples = Latencies(20000, 301);
  LatencyRecorder recorder;
  for (const int64_t nanos : samples) recorder.Record(nanos);
  const LatencyHistogram histogram = recorder.Read();
  std::sort(samples.begin(), samples.end());
  for (const double percent : {0.0, 0.1, 1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const double rank = std::ceil(percent / 100 * static_cast<double>(samples.size()));
    const auto expected =
        static_cast<double>(samples[static_cast<size_t>(std::max(rank, 1.0)) - 1]);
    const double found = absl::ToDoubleNanoseconds(histogram.Percentile(percent));
    EXPECT_NEAR(found, expected, expected / 16 + 8) << percent;
  }
}

TEST(LatencyHistogramTest, AMergeOfTwoEqualsOneHistogramWithAllValues) {
  LatencyRecorder one, other, all;
  for (const int64_t nanos : Latencies(1000, 302)) {
    one.Record(nanos);
    all.Record(nanos);
  }
  for (const int64_t nanos : Latencies(1000, 303)) {
    other.Record(nanos * 3);
    all.Record(nanos * 3);
  }
  LatencyHistogram merged = one.Read();
  merged.Merge(other.Read());
  EXPECT_EQ(merged, all.Read());
  merged.Merge({});
  EXPECT_EQ(merged, all.Read());
  LatencyHistogram from_nothing;
  from_nothing.Merge(all.Read());
  EXPECT_EQ(from_nothing, all.Read());
}

TEST(LatencyRecorderTest, ConcurrentThreadsLoseNothing) {
  constexpr int kThreads = 24;  // more than there are stripes
  constexpr int kEach = 2000;
  LatencyRecorder recorder;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 1; i <= kEach; ++i) recorder.Record(int64_t{t + 1} * i, 2);
    });
  }
  uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const LatencyHistogram histogram = recorder.Read();
    EXPECT_GE(histogram.count, last);
    last = histogram.count;
  }
  for (std::thread& thread : threads) thread.join();
  const LatencyHistogram histogram = recorder.Read();
  EXPECT_EQ(histogram.count, uint64_t{kThreads} * kEach * 2);
  EXPECT_EQ(histogram.sum, absl::Nanoseconds(int64_t{kThreads} * (kThreads + 1) / 2 * kEach *
                                             (kEach + 1) / 2 * 2));
  EXPECT_EQ(histogram.min, absl::Nanoseconds(1));
  EXPECT_EQ(histogram.max, absl::Nanoseconds(kThreads * kEach));
}

}  // namespace
}  // namespace bigtable
