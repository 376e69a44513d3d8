// Records durations from many threads: the recording side of LatencyHistogram.
//
// A thread counts in the block of its stripe (base/stripe.h), which is allocated when the stripe is
// first used: 4 KiB for each of up to sixteen stripes. No thread waits for another.
#ifndef BIGTABLE_MONITORING_LATENCY_RECORDER_H_
#define BIGTABLE_MONITORING_LATENCY_RECORDER_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "bigtable/latency_histogram.h"

#include "base/stripe.h"

namespace bigtable {

// The bucket bounds of LatencyHistogram, in nanoseconds. Bucket i has durations above the bound of
// i - 1 and up to its own bound.
struct LatencyBuckets {
  static constexpr int kUnitBits = 3;      // the narrowest buckets are 8 ns wide
  static constexpr int kStepBits = 4;      // 16 buckets for each power of two
  static constexpr int kLongestBits = 37;  // 137 s
  static constexpr size_t kSteps = size_t{1} << kStepBits;
  static constexpr size_t kCount = (kLongestBits - kUnitBits - kStepBits + 1) * kSteps + 1;

  static constexpr size_t IndexOf(int64_t nanos) {
    const auto units = static_cast<uint64_t>(std::max<int64_t>(nanos, 1) - 1) >> kUnitBits;
    if (units < kSteps) return units;
    const int shift = static_cast<int>(std::bit_width(units)) - 1 - kStepBits;
    return std::min(static_cast<size_t>(shift) * kSteps + (units >> shift), kCount - 1);
  }
  // Not for the last bucket, which has no bound.
  static constexpr int64_t BoundOf(size_t index) {
    if (index < kSteps) return static_cast<int64_t>((index + 1) << kUnitBits);
    const size_t shift = index / kSteps - 1;
    return static_cast<int64_t>((index % kSteps + kSteps + 1) << shift << kUnitBits);
  }
};

// Thread-safe.
class LatencyRecorder {
 public:
  LatencyRecorder() = default;
  ~LatencyRecorder();
  LatencyRecorder(const LatencyRecorder&) = delete;
  LatencyRecorder& operator=(const LatencyRecorder&) = delete;

  // Records a duration with the weight of `weight` calls.
  void Record(int64_t nanos, uint64_t weight = 1);
  // The counts so far; a concurrent Record may or may not be included. Cost: reads each bucket of
  // each stripe in use.
  LatencyHistogram Read() const;

 private:
  struct Block;
  Block* OwnBlock() {
    Block* const block =
        blocks_[static_cast<size_t>(ThreadStripe())].load(std::memory_order_acquire);
    return block != nullptr ? block : MakeBlock();
  }
  Block* MakeBlock();

  std::array<std::atomic<Block*>, kStripes> blocks_{};
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_LATENCY_RECORDER_H_
