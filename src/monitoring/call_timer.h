// Around a call of a table: counts it, measures it if it is its turn, and traces it if it is
// chosen. A call that is not measured pays for a count and two comparisons.
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

// What is known of a call that is measured.
struct CallSample {
  uint64_t weight = 0;  // how many calls it stands for
  int64_t begin = 0;
  RequestTrace* trace = nullptr;  // null: it is not traced
  Ref<TabletCounters> tablet;     // null: none, or several
};

// The time of one call, on its thread; calls do not nest. To be made before anything is held, since
// its destructor passes a trace to the user's sink.
class CallTimer {
 public:
  // `monitor` outlives the timer. `describe` is given the trace, if there is one, to say what is
  // asked for.
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
    if (sample_ != nullptr && sample_->trace != nullptr) sample_->trace->status = status;
  }
  // Null: it is not measured, and that is mostly so.
  CallSample* sample() const { return sample_; }

 private:
  void BeginSample();
  void End();

  TableMonitor* const monitor_;
  const Call call_;
  CallSample* sample_ = nullptr;
};

// The calls by which a stream is read: counted here, and added to the table's counters every
// thousand calls or so, and in the end. One thread at a time.
//
// Each call has one result, a row or a cell, but for those that have none; so results need not be
// counted, and what must be is what they consist of or belong to: a row's cells, a cell's row.
class StreamCalls {
 public:
  // `monitor` outlives the stream. `call` is kNextRow or kNextCell.
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

  // The call has no result: the end, or an error.
  void CountNone() { ++without_result_; }
  // A cell of a row that is the result, or the first cell of a row.
  void CountPart() { ++parts_; }
  // As many were counted of a result that was not returned after all.
  void DropParts(uint64_t n) { parts_ -= n; }
  void Failed(const absl::Status& status);
  // From now on the stream reads from this tablet.
  void EnterTablet(TabletCounters* tablet) { tablet_ = Ref<TabletCounters>(tablet); }
  bool is_traced() const { return trace_ != nullptr; }

 private:
  void BeginSample();
  void EndSample();
  // The next measured call is `gap` calls from here.
  void StartGap(int32_t gap);
  // Adds what was counted since the last time.
  void Flush();

  TableMonitor* const monitor_;
  const Call call_;
  RequestTrace* trace_ = nullptr;
  int64_t began_ = 0;  // if it is traced
  Ref<TabletCounters> tablet_;
  SampleGaps gaps_;
  int32_t gap_ = 0;           // from one measured call to the next
  int32_t until_sample_ = 0;  // what is left of it
  int64_t begin_ = 0;         // of the call that is measured; 0: it is not
  uint64_t calls_ = 0;        // before the gap
  uint64_t without_result_ = 0;
  uint64_t parts_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_CALL_TIMER_H_
