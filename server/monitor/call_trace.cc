#include "server/monitor/call_trace.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/time/clock.h"

namespace bigtable::server {

thread_local CallTrace* CallTrace::current_ = nullptr;
thread_local std::optional<std::deque<RequestTrace>> CallTrace::kept_;

void CallTrace::BeginsAgain() {
  began_ = std::chrono::steady_clock::now();
  admission_ = std::chrono::nanoseconds(0);
  client_ = std::chrono::nanoseconds(0);
  trace_ = nullptr;
}

void CallTrace::Take(const RequestTrace& trace) {
  engine_began_ = std::chrono::steady_clock::now() - absl::ToChronoNanoseconds(trace.duration);
  trace_ = std::make_unique<RequestTrace>(trace);
}

bool CallTrace::Keep(const RequestTrace& trace) {
  if (!kept_.has_value() || trace.request != RequestTrace::Request::kReadRow) return false;
  if (kept_->size() == kMostKept) kept_->pop_front();
  kept_->push_back(trace);
  return true;
}

void CallTrace::TakeKept(std::string_view row) {
  if (current_ != nullptr) return;  // it has come to this call's thread
  if (!kept_.has_value()) kept_.emplace();
  // The newest, and of this call: others may be of reads that were told elsewhere.
  const absl::Time began =
      absl::Now() - absl::FromChrono(std::chrono::steady_clock::now() - began_);
  const auto found = std::find_if(kept_->rbegin(), kept_->rend(), [&](const RequestTrace& trace) {
    return trace.row == row.substr(0, RequestTrace::kMostRowBytes) && trace.begin >= began;
  });
  if (found == kept_->rend()) return;
  trace_ = std::make_unique<RequestTrace>(*found);
  kept_->erase(std::next(found).base());
  engine_began_ =
      std::chrono::steady_clock::now() -
      absl::ToChronoNanoseconds(std::max(absl::Now() - trace_->begin, trace_->duration));
}

SlowRequest CallTrace::Finish() {
  const Time now = std::chrono::steady_clock::now();
  SlowRequest request{.trace = std::move(*trace_)};
  trace_ = nullptr;
  const RequestTrace& trace = request.trace;
  const bool is_stream = trace.request == RequestTrace::Request::kReadRows ||
                         trace.request == RequestTrace::Request::kScan;
  const absl::Duration engine = is_stream ? trace.inside : trace.duration;
  request.admission = absl::FromChrono(admission_);
  request.duration = absl::FromChrono(now - began_) + request.admission;
  request.reading = absl::FromChrono(std::max(engine_began_ - began_, Time::duration(0)));
  request.client = absl::FromChrono(client_);
  request.converting =
      std::max(request.duration - request.admission - request.reading - request.client - engine,
               absl::ZeroDuration());
  return request;
}

}  // namespace bigtable::server
