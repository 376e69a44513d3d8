// Encloses a call of a table: counts it, measures it if it is sampled, and traces it if it is
// selected. A call that is not measured costs a count and two comparisons.
#ifndef BIGTABLE_MONITORING_CALL_TIMER_H_
#define BIGTABLE_MONITORING_CALL_TIMER_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "base/ref_counted.h"
#include "monitoring/call_counters.h"
#include "monitoring/tablet_counters.h"
#include "monitoring/thread_calls.h"
#include "monitoring/tracer.h"

namespace bigtable {

// The data of a measured call.
struct CallSample {
  uint64_t weight = 0;  // how many calls it represents
  int64_t begin = 0;
  RequestTrace* trace = nullptr;  // null if it is not traced
  Ref<TabletCounters> tablet;     // null for no tablet, or several
};

// Measures one call, on its thread; calls do not nest. Must be created before any lock is taken,
// since its destructor passes a trace to the user's sink.
class CallTimer {
 public:
  // `monitor` must outlive the timer. If the call is traced, `describe` is called with the trace to
  // fill in the request.
  template <typename Describe>
  CallTimer(TableMonitor* monitor, Call call, const Describe& describe)
      : monitor_(monitor), call_(call) {
    monitor->counters.Count(call);
    ThreadCalls& calls = thread_calls;
    calls.waited = 0;
    calls.until_sample -= monitor->sample_step;
    if (calls.until_sample <= 0) [[unlikely]] {
      BeginSample();
      if (sample_ != nullptr && sample_->trace != nullptr) describe(sample_->trace);
    }
  }
  ~CallTimer() {
    // This is also true if the call was measured: see BeginSample.
    if (thread_calls.waited >= ThreadCalls::kSlowNanos) [[unlikely]] {
      End();
    }
  }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  // Records that the call returns this error.
  [[gnu::cold]] void Failed(const absl::Status& status) {
    monitor_->counters.CountError(call_);
    if (sample_ != nullptr && sample_->trace != nullptr) sample_->trace->status = status;
  }
  // Null if the call is not measured, which is the usual case.
  CallSample* sample() const { return sample_; }

 private:
  [[gnu::cold]] void BeginSample();
  [[gnu::cold]] void End();

  TableMonitor* const monitor_;
  const Call call_;
  CallSample* sample_ = nullptr;
};

// The calls that read a stream. They are counted here, and added to the table's counters about
// every thousand calls, and at the end. One thread at a time.
//
// Each call has one result, a row or a cell, except for calls without one. So results need not be
// counted, only their parts: a row's cells, or the first cell of each row.
class StreamCalls {
 public:
  // `monitor` must outlive the stream. `call` is kNextRow or kNextCell.
  StreamCalls(TableMonitor* monitor, Call call, RequestTrace::Request request);
  // Passes the trace, if there is one, to the user's sink: no lock may be held.
  ~StreamCalls();
  StreamCalls(const StreamCalls&) = delete;
  StreamCalls& operator=(const StreamCalls&) = delete;

  // Measures one call. The stream must outlive it.
  class Timer {
   public:
    explicit Timer(StreamCalls* stream) : stream_(stream) {
      thread_calls.waited = 0;
      if (--stream->until_sample_ == 0) [[unlikely]] {
        stream->BeginSample();
      }
    }
    ~Timer() {
      if (thread_calls.waited >= ThreadCalls::kSlowNanos) [[unlikely]] {
        stream_->EndSample();
      }
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    StreamCalls* const stream_;
  };

  // Records that the call has no result: the end, or an error.
  void CountNone() { ++without_result_; }
  // Counts a cell of a row that is the result, or the first cell of a row.
  void CountPart() { ++parts_; }
  // Takes back `n` parts of a result that was not returned.
  void DropParts(uint64_t n) { parts_ -= n; }
  void Failed(const absl::Status& status);
  // The stream now reads from this tablet.
  void EnterTablet(TabletCounters* tablet) { tablet_ = Ref<TabletCounters>(tablet); }
  bool is_traced() const { return trace_ != nullptr; }
  // For the trace: the filter limits the rows.
  void MarkRowsNarrowed() {
    if (trace_ != nullptr) trace_->narrowed_rows = true;
  }

 private:
  void BeginSample();
  void EndSample();
  // Sets the next measured call to be `gap` calls from here.
  void StartGap(int32_t gap);
  // Adds the counts since the last Flush to the table's counters.
  void Flush();

  TableMonitor* const monitor_;
  const Call call_;
  RequestTrace* trace_ = nullptr;
  int64_t began_ = 0;  // only if it is traced
  Ref<TabletCounters> tablet_;
  SampleGaps gaps_;
  int32_t gap_ = 0;           // from one measured call to the next
  int32_t until_sample_ = 0;  // the rest of the gap
  int64_t begin_ = 0;         // of the measured call; 0 if it is not measured
  uint64_t calls_ = 0;        // before the gap
  uint64_t without_result_ = 0;
  uint64_t parts_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_CALL_TIMER_H_
