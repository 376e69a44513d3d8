#include "monitoring/call_timer.h"

#include <atomic>
#include <utility>

#include "absl/time/clock.h"

namespace bigtable {
namespace {

// No two threads, and no two streams, are measured at the same places.
uint64_t NextSeed() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

RequestTrace::Request RequestOf(Call call) {
  switch (call) {
    case Call::kApply:
      return RequestTrace::Request::kApply;
    case Call::kApplyBatch:
      return RequestTrace::Request::kApplyBatch;
    default:
      return RequestTrace::Request::kReadRow;
  }
}

}  // namespace

void CallTimer::BeginSample(std::string_view row) {
  ThreadCalls& calls = thread_calls;
  const bool always = monitor_->sample_step == TableMonitor::kAlways;
  if (!calls.has_gaps) {
    // The thread's first call is not measured just because it is the first.
    calls.has_gaps = true;
    calls.gaps = SampleGaps(NextSeed());
    calls.until_sample = calls.gaps.Next() - monitor_->sample_step;
    if (calls.until_sample > 0) return;
  }
  if (always) {
    calls.until_sample += monitor_->sample_step;  // others' turns are not touched
    weight_ = 1;
  } else {
    calls.until_sample = calls.gaps.Next();
    weight_ = SampleGaps::kMean;
  }
  // So that the destructor has one thing to look at; End takes it off again.
  calls.waited = ThreadCalls::kSlowNanos;
  if (monitor_->tracer->Takes(weight_)) {
    trace_ = monitor_->tracer->Begin(RequestOf(call_), monitor_->table, row);
    calls.trace = trace_;
  }
  begin_ = NowNanos();
}

void CallTimer::End() {
  const bool is_sample = weight_ > 0;
  const int64_t waited = thread_calls.waited - (is_sample ? ThreadCalls::kSlowNanos : 0);
  // What a call did besides waiting for so long is next to nothing.
  const int64_t nanos = is_sample ? NowNanos() - begin_ : waited;
  // All that wait for long are recorded, so each stands for itself.
  const bool is_slow = waited >= ThreadCalls::kSlowNanos;
  monitor_->counters.Record(call_, nanos, is_slow ? 1 : weight_);
  if (trace_ == nullptr) return;
  thread_calls.trace = nullptr;
  trace_->duration = absl::Nanoseconds(nanos);
  trace_->inside = trace_->duration;
  monitor_->tracer->Finish(std::exchange(trace_, nullptr));
}

// --- Streams ---

StreamCalls::StreamCalls(TableMonitor* monitor, Call call, RequestTrace::Request request)
    : monitor_(monitor), call_(call), gaps_(NextSeed()) {
  monitor->counters.Count(CallCounters::Amount::kStreams, 1);
  if (monitor->tracer->Takes(1)) trace_ = monitor->tracer->Begin(request, monitor->table, {});
  gap_ = until_sample_ = trace_ != nullptr ? 1 : gaps_.Next();
}

StreamCalls::~StreamCalls() {
  Flush(0);
  if (trace_ == nullptr) return;
  trace_->duration = absl::Now() - trace_->begin;
  monitor_->tracer->Finish(trace_);
}

void StreamCalls::Flush(int32_t gap) {
  monitor_->counters.Count(call_, static_cast<uint64_t>(gap_ - until_sample_));
  gap_ = until_sample_ = gap;
  if (trace_ != nullptr) {
    trace_->rows += rows_;
    trace_->cells += cells_;
  }
  if (rows_ > 0) monitor_->counters.Count(CallCounters::Amount::kRows, std::exchange(rows_, 0));
  if (cells_ > 0) monitor_->counters.Count(CallCounters::Amount::kCells, std::exchange(cells_, 0));
}

void StreamCalls::BeginSample() {
  Flush(trace_ != nullptr ? 1 : gaps_.Next());
  thread_calls.waited = ThreadCalls::kSlowNanos;  // as CallTimer::BeginSample
  thread_calls.trace = trace_;
  begin_ = NowNanos();
}

void StreamCalls::EndSample() {
  const bool is_sample = begin_ != 0;
  const int64_t waited = thread_calls.waited - (is_sample ? ThreadCalls::kSlowNanos : 0);
  const int64_t nanos = is_sample ? NowNanos() - std::exchange(begin_, 0) : waited;
  const bool is_slow = waited >= ThreadCalls::kSlowNanos;
  // All calls of a traced stream are measured.
  const uint64_t weight = is_slow || trace_ != nullptr ? 1 : SampleGaps::kMean;
  monitor_->counters.Record(call_, nanos, weight);
  thread_calls.trace = nullptr;
  if (trace_ != nullptr) trace_->inside += absl::Nanoseconds(nanos);
}

void StreamCalls::Failed(const absl::Status& status) {
  monitor_->counters.CountError(call_);
  if (trace_ != nullptr && trace_->status.ok()) trace_->status = status;
}

}  // namespace bigtable
