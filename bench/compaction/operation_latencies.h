// How long the operations of a run took, since the last sample and in all.
#ifndef BIGTABLE_BENCH_COMPACTION_OPERATION_LATENCIES_H_
#define BIGTABLE_BENCH_COMPACTION_OPERATION_LATENCIES_H_

#include <chrono>

#include "common/measure.h"
#include "sample.h"
#include "workloads/workload.h"

namespace bench {

// One thread at a time.
class OperationLatencies {
 public:
  void Record(Operation::Kind kind, std::chrono::steady_clock::duration time) {
    switch (kind) {
      case Operation::Kind::kRead:
        return last_.reads.Record(time);
      case Operation::Kind::kScan:
        return last_.scans.Record(time);
      case Operation::Kind::kWrite:
      case Operation::Kind::kDelete:
      case Operation::Kind::kReadModifyWrite:
        return last_.writes.Record(time);
    }
  }

  // Sets the percentiles of the operations since the last call, or, when quiet, of all.
  void AddTo(bool quiet, Sample* sample) {
    all_.Add(last_);
    (quiet ? all_ : last_).AddTo(sample);
    last_ = {};
  }

 private:
  struct Times {
    void Add(const Times& other) {
      reads.Add(other.reads);
      scans.Add(other.scans);
      writes.Add(other.writes);
    }
    void AddTo(Sample* sample) {
      sample->read_p50_us = reads.Percentile(0.5);
      sample->read_p99_us = reads.Percentile(0.99);
      sample->read_p999_us = reads.Percentile(0.999);
      sample->read_p9999_us = reads.Percentile(0.9999);
      sample->scan_p50_us = scans.Percentile(0.5);
      sample->scan_p99_us = scans.Percentile(0.99);
      sample->write_p50_us = writes.Percentile(0.5);
      sample->write_p99_us = writes.Percentile(0.99);
      sample->write_p999_us = writes.Percentile(0.999);
      sample->write_p9999_us = writes.Percentile(0.9999);
    }

    // Every operation is timed.
    Latencies reads{1, 0};
    Latencies scans{1, 0};
    Latencies writes{1, 0};
  };

  Times last_;
  Times all_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_OPERATION_LATENCIES_H_
