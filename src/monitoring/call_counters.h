// The calls of one table: how many there were, how many failed, and how long they took. The called
// object owns its counters.
//
// Counts are exact: every call adds to its thread's stripe. Latencies are those of the measured
// calls (thread_calls.h), each weighted with the number of calls that it represents.
#ifndef BIGTABLE_MONITORING_CALL_COUNTERS_H_
#define BIGTABLE_MONITORING_CALL_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "bigtable/statistics.h"

#include "base/stripe.h"
#include "monitoring/latency_recorder.h"
#include "monitoring/thread_calls.h"
#include "monitoring/tracer.h"

namespace bigtable {

// Thread-safe.
class CallCounters {
 public:
  // Counters without a latency.
  enum class Amount : uint8_t { kStreams = kCalls, kRows, kCells, kBatchMutations, kRowRetries };

  CallCounters() = default;
  CallCounters(const CallCounters&) = delete;
  CallCounters& operator=(const CallCounters&) = delete;

  void Count(Call call, uint64_t n = 1) { Add(static_cast<size_t>(call), n); }
  void Count(Amount amount, uint64_t n) { Add(static_cast<size_t>(amount), n); }
  void CountError(Call call) {
    errors_[static_cast<size_t>(call)].fetch_add(1, std::memory_order_relaxed);
  }
  void Record(Call call, int64_t nanos, uint64_t weight) {
    latencies_[static_cast<size_t>(call)].Record(nanos, weight);
  }

  TableCallStatistics Read() const;

 private:
  static constexpr size_t kCounts = kCalls + 5;
  struct alignas(2 * kCacheLine) Stripe {
    std::array<std::atomic<uint64_t>, kCounts> counts{};
  };

  void Add(size_t count, uint64_t n) {
    stripes_[static_cast<size_t>(ThreadStripe())].counts[count].fetch_add(
        n, std::memory_order_relaxed);
  }
  uint64_t Sum(size_t count) const;
  CallStatistics Read(Call call) const;

  std::array<Stripe, kStripes> stripes_;
  std::array<std::atomic<uint64_t>, kCalls> errors_{};
  std::array<LatencyRecorder, kCalls> latencies_;
};

// A table's counters, and what is needed to measure and trace its calls.
struct TableMonitor {
  // `t` must outlive the monitor.
  TableMonitor(Tracer* t, std::string n)
      : tracer(t), table(std::move(n)), sample_step(t->is_dense() ? kAlways : 1) {}

  Tracer* const tracer;
  const std::string table;
  // What a call subtracts from ThreadCalls::until_sample: one, or more than its largest value.
  static constexpr int32_t kAlways = 2 * SampleGaps::kMean;
  const int32_t sample_step;
  CallCounters counters;
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_CALL_COUNTERS_H_
