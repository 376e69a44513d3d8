// What a tablet server counts and measures. Thread-safe, but for Sampler.
#ifndef BIGTABLE_MONITORING_SERVER_COUNTERS_H_
#define BIGTABLE_MONITORING_SERVER_COUNTERS_H_

#include <cstdint>

#include "monitoring/compaction_counters.h"
#include "monitoring/latency_recorder.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

// Says whose turn it is to be measured, among things that come one after another.
class Sampler {
 public:
  bool Next() {
    if (--until_sample_ > 0) return false;
    until_sample_ = gaps_.Next();
    return true;
  }

 private:
  SampleGaps gaps_;
  int32_t until_sample_ = gaps_.Next();
};

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

#endif  // BIGTABLE_MONITORING_SERVER_COUNTERS_H_
