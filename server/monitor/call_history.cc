#include "server/monitor/call_history.h"

namespace bigtable::server {

void CallHistory::Tick(int64_t time) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Second second{.time = time};
  for (size_t i = 0; i < kMethods; ++i) {
    const MethodCounts now = counters_->Read(static_cast<Method>(i));
    second.calls[i] = now.calls() - last_[i].calls();
    for (size_t code = 0; code < kCodes; ++code) {
      second.by_code[code] += now.by_code[code] - last_[i].by_code[code];
    }
    second.request_bytes += now.request_bytes - last_[i].request_bytes;
    second.response_bytes += now.response_bytes - last_[i].response_bytes;
    last_[i] = now;
  }
  if (time > 0) seconds_.push_back(second);
  if (seconds_.size() > kSeconds) seconds_.pop_front();
  if (ticks_++ % kStepSeconds != 0) return;
  auto& step = durations_.emplace_back();
  for (size_t i = 0; i < kMethods; ++i) step[i] = last_[i].durations;
  if (durations_.size() > kSteps) durations_.pop_front();
}

std::vector<CallHistory::Second> CallHistory::Seconds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {seconds_.begin(), seconds_.end()};
}

DurationCounts CallHistory::LastMinute(Method method) const {
  const DurationCounts now = counters_->Read(method).durations;
  const std::lock_guard<std::mutex> lock(mutex_);
  return now.Since(durations_.front()[static_cast<size_t>(method)]);
}

}  // namespace bigtable::server
