// Around a call of a table: counts it, measures it if it is its turn, and traces it if it is
// chosen. A call that is not measured pays for a count and two comparisons.
#ifndef BIGTABLE_MONITORING_CALL_TIMER_H_
#define BIGTABLE_MONITORING_CALL_TIMER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "monitoring/call_counters.h"
#include "monitoring/thread_calls.h"
#include "monitoring/tracer.h"

namespace bigtable {

// The time of one call, on its thread; calls do not nest. To be made before anything is held, since
// its destructor passes a trace to the user's sink.
class CallTimer {
 public:
  // `monitor` outlives the timer. `row` returns the row for the trace, if there is one.
  template <typename Row>
  CallTimer(TableMonitor* monitor, Call call, const Row& row) : monitor_(monitor), call_(call) {
    monitor->counters.Count(call);
    ThreadCalls& calls = thread_calls;
    calls.waited = 0;
    calls.until_sample -= monitor->sample_step;
    if (calls.until_sample <= 0) [[unlikely]] {
      BeginSample(row());
    }
  }
  ~CallTimer() {
    // So it is, too, if the call was measured: see BeginSample.
    if (thread_calls.waited >= ThreadCalls::kSlowNanos) [[unlikely]] {
      End();
    }
  }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  // The call returns this error.
  void Failed(const absl::Status& status) {
    monitor_->counters.CountError(call_);
    if (trace_ != nullptr && trace_->status.ok()) trace_->status = status;
  }
  // How many calls this one stands for if it is measured; 0: it is not.
  uint32_t weight() const { return weight_; }
  // Null: it is not traced.
  RequestTrace* trace() const { return trace_; }

 private:
  void BeginSample(std::string_view row);
  void End();

  TableMonitor* const monitor_;
  const Call call_;
  uint32_t weight_ = 0;
  int64_t begin_;  // if it is measured
  RequestTrace* trace_ = nullptr;
};

// The calls by which a stream is read: counted here, and added to the table's counters whenever one
// of them is measured, and in the end. One thread at a time.
class StreamCalls {
 public:
  // `monitor` outlives the stream.
  StreamCalls(TableMonitor* monitor, Call call, RequestTrace::Request request);
  // Passes the trace, if there is one, to the user's sink: nothing may be held.
  ~StreamCalls();
  StreamCalls(const StreamCalls&) = delete;
  StreamCalls& operator=(const StreamCalls&) = delete;

  // The time of one call. Made and gone before the stream.
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

  void CountRow() { ++rows_; }
  void CountCells(size_t n) { cells_ += n; }
  void Failed(const absl::Status& status);
  bool is_traced() const { return trace_ != nullptr; }

 private:
  void BeginSample();
  void EndSample();
  // Adds what was counted since the last time; the next measured call is `gap` calls from here.
  void Flush(int32_t gap);

  TableMonitor* const monitor_;
  const Call call_;
  RequestTrace* trace_ = nullptr;
  SampleGaps gaps_;
  int32_t gap_ = 0;           // from one measured call to the next
  int32_t until_sample_ = 0;  // what is left of it
  int64_t begin_ = 0;         // of the call that is measured; 0: it is not
  uint64_t rows_ = 0;
  uint64_t cells_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_CALL_TIMER_H_
