#include "server/monitor/slow_requests.h"

#include <algorithm>

namespace bigtable::server {
namespace {

// A long stream may have read any number of files.
constexpr size_t kMostFiles = 64;

int64_t WindowOf(absl::Time time) {
  return absl::ToUnixSeconds(time) / absl::ToInt64Seconds(SlowRequests::kWindow);
}

bool IsSlower(const RequestTrace& a, const RequestTrace& b) { return a.duration > b.duration; }

}  // namespace

void SlowRequests::OnTrace(const RequestTrace& trace) {
  const int64_t number = WindowOf(trace.begin + trace.duration);
  const std::lock_guard<std::mutex> lock(mutex_);
  Window& window = windows_[static_cast<size_t>(number) % kWindows];
  if (window.number > number) return;  // the machine's clock was set back
  if (window.number < number) window = {.number = number};
  std::vector<RequestTrace>& slowest = window.slowest;
  if (slowest.size() == kKept) {
    const auto fastest = std::max_element(slowest.begin(), slowest.end(), IsSlower);
    if (!IsSlower(trace, *fastest)) return;
    slowest.erase(fastest);
  }
  RequestTrace& kept = slowest.emplace_back(trace);
  if (kept.files.size() > kMostFiles) kept.files.resize(kMostFiles);
}

std::vector<RequestTrace> SlowRequests::Slowest(size_t most, absl::Time now) const {
  const int64_t oldest = WindowOf(now) - static_cast<int64_t>(kWindows) + 1;
  std::vector<RequestTrace> all;
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
