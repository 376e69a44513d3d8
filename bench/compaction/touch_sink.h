// Counts what this engine's reads touch, from their traces.
#ifndef BIGTABLE_BENCH_COMPACTION_TOUCH_SINK_H_
#define BIGTABLE_BENCH_COMPACTION_TOUCH_SINK_H_

#include <atomic>
#include <utility>

#include "bigtable/bigtable.h"

#include "read_touches.h"

namespace bench {

// The reads to be counted are of one thread, which also begins and ends the count.
class TouchSink final : public bigtable::TraceSink {
 public:
  void Begin() {
    touches_ = {};
    counts_ = true;
  }
  ReadTouches End() {
    counts_ = false;
    return std::exchange(touches_, {});
  }

  void OnTrace(const bigtable::RequestTrace& trace) override {
    using Request = bigtable::RequestTrace::Request;
    if (!counts_) return;
    if (trace.request != Request::kReadRow && trace.request != Request::kReadRows) return;
    for (const bigtable::FileTrace& file : trace.files) {
      ++touches_.filters;
      if (!file.filtered_out) ++touches_.files;
      touches_.blocks += static_cast<double>(file.blocks_in_place + file.blocks_first_touched +
                                             file.cache_hits + file.cache_misses);
      touches_.bytes += static_cast<double>(file.bytes_read);
    }
  }

 private:
  std::atomic<bool> counts_ = false;
  ReadTouches touches_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_TOUCH_SINK_H_
