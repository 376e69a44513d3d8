#include "server/monitor/call_counters.h"

#include <algorithm>

namespace bigtable::server {
namespace {

size_t ThreadNumber() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

void Add(std::atomic<uint64_t>* counter, uint64_t value) {
  counter->fetch_add(value, std::memory_order_relaxed);
}

uint64_t Load(const std::atomic<uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);
}

}  // namespace

void CallCounters::Record(Method method, grpc::StatusCode code, uint64_t nanoseconds,
                          size_t request_bytes, size_t response_bytes) {
  Shard& shard = shards_[ThreadNumber() % kShards][static_cast<size_t>(method)];
  // A code that gRPC does not have is UNKNOWN to clients.
  const auto index = static_cast<size_t>(code);
  Add(&shard.by_code[index < kCodes ? index : static_cast<size_t>(grpc::StatusCode::UNKNOWN)], 1);
  Add(&shard.request_bytes, request_bytes);
  Add(&shard.response_bytes, response_bytes);
  Add(&shard.nanoseconds, nanoseconds);
  Add(&shard.durations[DurationCounts::BucketOf(nanoseconds)], 1);
}

MethodCounts CallCounters::Read(Method method) const {
  MethodCounts counts;
  for (const auto& shards : shards_) {
    const Shard& shard = shards[static_cast<size_t>(method)];
    for (size_t i = 0; i < kCodes; ++i) counts.by_code[i] += Load(shard.by_code[i]);
    counts.request_bytes += Load(shard.request_bytes);
    counts.response_bytes += Load(shard.response_bytes);
    counts.durations.nanoseconds += Load(shard.nanoseconds);
    for (size_t i = 0; i < DurationCounts::kBuckets; ++i) {
      counts.durations.counts[i] += Load(shard.durations[i]);
    }
  }
  return counts;
}

}  // namespace bigtable::server
