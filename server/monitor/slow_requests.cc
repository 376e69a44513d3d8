#include "server/monitor/slow_requests.h"

#include <algorithm>

namespace bigtable::server {
namespace {

// A long stream may have read any number of files.
constexpr size_t kMostFiles = 64;

int64_t WindowOf(absl::Time time) {
  return absl::ToUnixSeconds(time) / absl::ToInt64Seconds(SlowRequests::kWindow);
}

bool IsSlower(const SlowRequest& a, const SlowRequest& b) { return a.duration > b.duration; }

}  // namespace

void SlowRequests::OnTrace(const RequestTrace& trace) {
  if (CallTrace* const call = CallTrace::Current()) return call->Take(trace);
  if (CallTrace::Keep(trace)) return;
  SlowRequest request{.trace = trace, .duration = trace.duration};
  if (trace.request == RequestTrace::Request::kReadRows) {
    request.client = std::max(trace.duration - trace.inside, absl::ZeroDuration());
  }
  Add(request);
}

void SlowRequests::Add(const SlowRequest& request) {
  const int64_t number = WindowOf(request.trace.begin + request.duration);
  const std::lock_guard<std::mutex> lock(mutex_);
  Window& window = windows_[static_cast<size_t>(number) % kWindows];
  if (window.number > number) return;  // the machine's clock was set back
  if (window.number < number) window = {.number = number};
  std::vector<SlowRequest>& slowest = window.slowest;
  if (slowest.size() == kKept) {
    const auto fastest = std::max_element(slowest.begin(), slowest.end(), IsSlower);
    if (!IsSlower(request, *fastest)) return;
    slowest.erase(fastest);
  }
  std::vector<FileTrace>& files = slowest.emplace_back(request).trace.files;
  if (files.size() > kMostFiles) files.resize(kMostFiles);
}

std::vector<SlowRequest> SlowRequests::Slowest(size_t most, absl::Time now) const {
  const int64_t oldest = WindowOf(now) - static_cast<int64_t>(kWindows) + 1;
  std::vector<SlowRequest> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Window& window : windows_) {
      if (window.number < oldest) continue;
      all.insert(all.end(), window.slowest.begin(), window.slowest.end());
    }
  }
  std::sort(all.begin(), all.end(), IsSlower);
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace bigtable::server
