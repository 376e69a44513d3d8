// The compactions of one kind of a tablet or a tablet server, which owns the counters. Thread-safe.
#ifndef BIGTABLE_MONITORING_COMPACTION_COUNTERS_H_
#define BIGTABLE_MONITORING_COMPACTION_COUNTERS_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

#include "bigtable/statistics.h"

#include "monitoring/latency_recorder.h"

namespace bigtable {

class CompactionCounters {
 public:
  void Finished(uint64_t bytes_read, uint64_t bytes_written, int64_t nanos) {
    Add(&finished_, 1);
    Add(&bytes_read_, bytes_read);
    Add(&bytes_written_, bytes_written);
    Add(&nanos_, static_cast<uint64_t>(nanos));
  }
  void LeftUnfiltered(uint64_t cells) { Add(&cells_unfiltered_, cells); }
  void Failed(int64_t nanos) {
    Add(&failed_, 1);
    Add(&nanos_, static_cast<uint64_t>(nanos));
  }
  CompactionStatistics Read() const {
    return {.finished = finished_.load(std::memory_order_relaxed),
            .failed = failed_.load(std::memory_order_relaxed),
            .bytes_read = bytes_read_.load(std::memory_order_relaxed),
            .bytes_written = bytes_written_.load(std::memory_order_relaxed),
            .time = absl::Nanoseconds(nanos_.load(std::memory_order_relaxed)),
            .cells_unfiltered = cells_unfiltered_.load(std::memory_order_relaxed)};
  }

 private:
  static void Add(std::atomic<uint64_t>* counter, uint64_t n) {
    counter->fetch_add(n, std::memory_order_relaxed);
  }

  std::atomic<uint64_t> finished_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> bytes_read_{0};
  std::atomic<uint64_t> bytes_written_{0};
  std::atomic<uint64_t> nanos_{0};
  std::atomic<uint64_t> cells_unfiltered_{0};
};

// The counters and latencies of a tablet server. Thread-safe.
//
// See TabletServerStatistics.
struct ServerCounters {
  LatencyRecorder queue_wait;
  LatencyRecorder log_append;
  LatencyRecorder memtable_apply;
  LatencyRecorder log_sync;

  CompactionCounters minor;
  CompactionCounters merging;
  LatencyRecorder minor_compaction;
  LatencyRecorder merging_compaction;
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_COMPACTION_COUNTERS_H_
