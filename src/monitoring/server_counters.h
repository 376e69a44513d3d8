// The counters and latencies of a tablet server. Thread-safe.
#ifndef BIGTABLE_MONITORING_SERVER_COUNTERS_H_
#define BIGTABLE_MONITORING_SERVER_COUNTERS_H_

#include "monitoring/compaction_counters.h"
#include "monitoring/latency_recorder.h"

namespace bigtable {

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
