#include "monitoring/latency_recorder.h"

#include <limits>
#include <memory>

namespace bigtable {

// Threads of one stripe share it, so additions are atomic; usually it is a single thread.
struct alignas(kCacheLine) LatencyRecorder::Block {
  std::atomic<uint64_t> sum{0};
  std::atomic<int64_t> min{std::numeric_limits<int64_t>::max()};
  std::atomic<int64_t> max{0};
  std::array<std::atomic<uint64_t>, LatencyBuckets::kCount> counts{};
};

LatencyRecorder::~LatencyRecorder() {
  for (const std::atomic<Block*>& block : blocks_) delete block.load(std::memory_order_relaxed);
}

LatencyRecorder::Block* LatencyRecorder::MakeBlock() {
  std::atomic<Block*>& slot = blocks_[static_cast<size_t>(ThreadStripe())];
  Block* block = nullptr;
  auto fresh = std::make_unique<Block>();
  // If another thread of the stripe was first, use its block.
  if (slot.compare_exchange_strong(block, fresh.get(), std::memory_order_acq_rel)) {
    return fresh.release();
  }
  return block;
}

void LatencyRecorder::Record(int64_t nanos, uint64_t weight) {
  nanos = std::max<int64_t>(nanos, 0);
  Block* const block = OwnBlock();
  block->counts[LatencyBuckets::IndexOf(nanos)].fetch_add(weight, std::memory_order_relaxed);
  block->sum.fetch_add(static_cast<uint64_t>(nanos) * weight, std::memory_order_relaxed);
  for (int64_t max = block->max.load(std::memory_order_relaxed);
       nanos > max && !block->max.compare_exchange_weak(max, nanos, std::memory_order_relaxed);) {
  }
  for (int64_t min = block->min.load(std::memory_order_relaxed);
       nanos < min && !block->min.compare_exchange_weak(min, nanos, std::memory_order_relaxed);) {
  }
}

LatencyHistogram LatencyRecorder::Read() const {
  std::array<uint64_t, LatencyBuckets::kCount> counts{};
  uint64_t sum = 0;
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = 0;
  for (const std::atomic<Block*>& slot : blocks_) {
    const Block* const block = slot.load(std::memory_order_acquire);
    if (block == nullptr) continue;
    for (size_t i = 0; i < counts.size(); ++i) {
      counts[i] += block->counts[i].load(std::memory_order_relaxed);
    }
    sum += block->sum.load(std::memory_order_relaxed);
    min = std::min(min, block->min.load(std::memory_order_relaxed));
    max = std::max(max, block->max.load(std::memory_order_relaxed));
  }

  LatencyHistogram histogram;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    histogram.count += counts[i];
    histogram.buckets.push_back(
        {i == 0 ? absl::ZeroDuration() : absl::Nanoseconds(LatencyBuckets::BoundOf(i - 1)),
         i + 1 == counts.size() ? absl::InfiniteDuration()
                                : absl::Nanoseconds(LatencyBuckets::BoundOf(i)),
         counts[i]});
  }
  if (histogram.count == 0) return histogram;
  histogram.sum = absl::Nanoseconds(sum);
  // For a call that is being recorded, min may not be stored yet.
  histogram.min = absl::Nanoseconds(std::min(min, max));
  histogram.max = absl::Nanoseconds(max);
  return histogram;
}

}  // namespace bigtable
