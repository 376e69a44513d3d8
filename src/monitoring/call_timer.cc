#include "monitoring/call_timer.h"

#include <atomic>
#include <memory>
#include <utility>

namespace bigtable {
namespace {

// A different seed for each thread and each stream, so that each measures different calls.
uint64_t NextSeed() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

constexpr uint64_t kCallsToFlush = 1000;

RequestTrace::Request RequestOf(Call call) {
  switch (call) {
    case Call::kApply:
      return RequestTrace::Request::kApply;
    case Call::kApplyBatch:
      return RequestTrace::Request::kApplyBatch;
    case Call::kCheckAndMutateRow:
      return RequestTrace::Request::kCheckAndMutateRow;
    case Call::kReadModifyWriteRow:
      return RequestTrace::Request::kReadModifyWriteRow;
    default:
      return RequestTrace::Request::kReadRow;
  }
}

}  // namespace

void CallTimer::BeginSample() {
  ThreadCalls& calls = thread_calls;
  const bool always = monitor_->sample_step == TableMonitor::kAlways;
  if (!calls.has_gaps) {
    // The thread's first call is not always measured.
    calls.has_gaps = true;
    calls.gaps = SampleGaps(NextSeed());
    calls.until_sample = calls.gaps.Next() - monitor_->sample_step;
    if (calls.until_sample > 0) return;
  }
  auto sample = std::make_unique<CallSample>();
  if (always) {
    calls.until_sample += monitor_->sample_step;  // other tables' samples are not affected
    sample->weight = 1;
  } else {
    calls.until_sample = calls.gaps.Next();
    sample->weight = SampleGaps::kMean;
  }
  // So that the destructor needs only one check; End subtracts it again.
  calls.waited = ThreadCalls::kSlowNanos;
  if (monitor_->tracer->Takes(sample->weight)) {
    sample->trace = monitor_->tracer->Begin(RequestOf(call_), monitor_->table);
    calls.trace = sample->trace;
  }
  sample_ = sample.release();
  sample_->begin = NowNanos();
}

void CallTimer::End() {
  const std::unique_ptr<CallSample> sample(std::exchange(sample_, nullptr));
  if (sample == nullptr) {
    // The call was not sampled, but it waited so long that it is recorded, with weight 1; the time
    // outside the waits is negligible.
    monitor_->counters.Record(call_, thread_calls.waited, 1);
    return;
  }
  const int64_t nanos = NowNanos() - sample->begin;
  // All calls with a long wait are recorded.
  const bool is_slow = thread_calls.waited - ThreadCalls::kSlowNanos >= ThreadCalls::kSlowNanos;
  monitor_->counters.Record(call_, nanos, is_slow ? 1 : sample->weight);
  if (sample->tablet) sample->tablet->Record(call_, nanos, sample->weight);
  RequestTrace* const trace = sample->trace;
  if (trace == nullptr) return;
  thread_calls.trace = nullptr;
  trace->duration = absl::Nanoseconds(nanos);
  trace->inside = trace->duration;
  monitor_->tracer->Finish(trace);
}

// --- Streams ---

StreamCalls::StreamCalls(TableMonitor* monitor, Call call, RequestTrace::Request request)
    : monitor_(monitor), call_(call), gaps_(NextSeed()) {
  monitor->counters.Count(CallCounters::Amount::kStreams, 1);
  if (monitor->tracer->Takes(1)) {
    trace_ = monitor->tracer->Begin(request, monitor->table);
    began_ = NowNanos();
  }
  gap_ = until_sample_ = trace_ != nullptr ? 1 : gaps_.Next();
}

StreamCalls::~StreamCalls() {
  StartGap(0);
  Flush();
  if (trace_ == nullptr) return;
  trace_->duration = absl::Nanoseconds(NowNanos() - began_);
  monitor_->tracer->Finish(trace_);
}

void StreamCalls::StartGap(int32_t gap) {
  calls_ += static_cast<uint64_t>(gap_ - until_sample_);
  gap_ = until_sample_ = gap;
}

void StreamCalls::Flush() {
  const uint64_t calls = std::exchange(calls_, 0);
  const uint64_t results = calls - std::exchange(without_result_, 0);
  const uint64_t parts = std::exchange(parts_, 0);
  const uint64_t rows = call_ == Call::kNextRow ? results : parts;
  const uint64_t cells = call_ == Call::kNextRow ? parts : results;
  monitor_->counters.Count(call_, calls);
  monitor_->counters.Count(CallCounters::Amount::kRows, rows);
  monitor_->counters.Count(CallCounters::Amount::kCells, cells);
  if (trace_ == nullptr) return;
  trace_->rows += rows;
  trace_->cells += cells;
}

void StreamCalls::BeginSample() {
  thread_calls.waited = ThreadCalls::kSlowNanos;  // like CallTimer::BeginSample
  thread_calls.trace = trace_;
  begin_ = NowNanos();
}

void StreamCalls::EndSample() {
  if (begin_ == 0) {  // like CallTimer::End
    monitor_->counters.Record(call_, thread_calls.waited, 1);
    return;
  }
  const int64_t nanos = NowNanos() - std::exchange(begin_, 0);
  const bool is_slow = thread_calls.waited - ThreadCalls::kSlowNanos >= ThreadCalls::kSlowNanos;
  // All calls of a traced stream are measured.
  const uint64_t weight = trace_ != nullptr ? 1 : SampleGaps::kMean;
  monitor_->counters.Record(call_, nanos, is_slow ? 1 : weight);
  if (tablet_) tablet_->Record(call_, nanos, weight);
  thread_calls.trace = nullptr;
  if (trace_ != nullptr) trace_->inside += absl::Nanoseconds(nanos);
  StartGap(trace_ != nullptr ? 1 : gaps_.Next());
  if (calls_ >= kCallsToFlush) Flush();
}

void StreamCalls::Failed(const absl::Status& status) {
  monitor_->counters.CountError(call_);
  if (trace_ != nullptr && trace_->status.ok()) trace_->status = status;
}

}  // namespace bigtable
