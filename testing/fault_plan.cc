#include "testing/fault_plan.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/steady_time.h"
#include "base/strings.h"

namespace bigtable {

bool FileCallFilter::Matches(FileCall kind, std::string_view path,
                             std::string_view other_path) const {
  if (thread != std::thread::id() && thread != std::this_thread::get_id()) return false;
  if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) return false;
  return path.find(path_contains) != path.npos || other_path.find(path_contains) != path.npos;
}

void FaultPlan::CountCalls(FileCallFilter filter) {
  MutexLock lock(&mutex_);
  counted_ = std::move(filter);
  calls_ = 0;
  faults_.clear();
}

uint64_t FaultPlan::calls() const {
  MutexLock lock(&mutex_);
  return calls_;
}

void FaultPlan::FailCall(uint64_t n, absl::Status status, Repeat repeat, Done done) {
  MutexLock lock(&mutex_);
  faults_.push_back(
      {.call = n, .repeat = repeat, .filter = {}, .status = std::move(status), .done = done});
}

void FaultPlan::FailCalls(FileCallFilter filter, absl::Status status, Done done) {
  MutexLock lock(&mutex_);
  faults_.push_back({.filter = std::move(filter), .status = std::move(status), .done = done});
}

void FaultPlan::ClearFaults() {
  MutexLock lock(&mutex_);
  faults_.clear();
}

uint64_t FaultPlan::faults() const {
  MutexLock lock(&mutex_);
  return failed_;
}

void FaultPlan::Stall(FileCallFilter filter, bool one_file, uint64_t first) {
  MutexLock lock(&mutex_);
  stalls_.push_back(
      {.filter = std::move(filter), .one_file = one_file, .skip = first - 1, .file = {}});
}

void FaultPlan::ReleaseCalls() {
  MutexLock lock(&mutex_);
  stalls_.clear();
  stall_changed_.SignalAll();
}

void FaultPlan::ReleaseCalls(std::string_view path) {
  MutexLock lock(&mutex_);
  std::erase_if(stalls_, [&](const Stalling& stall) {
    return stall.one_file ? stall.file == path : path.find(stall.filter.path_contains) != path.npos;
  });
  stall_changed_.SignalAll();
}

void FaultPlan::ReleaseCalls(std::thread::id thread) {
  MutexLock lock(&mutex_);
  std::erase_if(stalls_, [&](const Stalling& stall) { return stall.filter.thread == thread; });
  stall_changed_.SignalAll();
}

bool FaultPlan::IsStalled(FileCall kind, std::string_view path, std::string_view other_path,
                          bool is_new) {
  for (Stalling& stall : stalls_) {
    if (!stall.filter.Matches(kind, path, other_path)) continue;
    if (stall.skip > 0) {
      if (is_new) --stall.skip;
      continue;
    }
    if (stall.one_file && stall.file.empty()) stall.file = path;
    if (!stall.one_file || stall.file == path) return true;
  }
  return false;
}

int FaultPlan::stalled() const {
  MutexLock lock(&mutex_);
  return static_cast<int>(stalled_.size());
}

bool FaultPlan::IsStalled(std::thread::id thread) const {
  MutexLock lock(&mutex_);
  return stalled_.contains(thread);
}

bool FaultPlan::WaitUntilStalled(int n, absl::Duration timeout) const {
  const SteadyTime end = SteadyTime::Now() + timeout;
  MutexLock lock(&mutex_);
  while (static_cast<int>(stalled_.size()) < n) {
    const absl::Duration left = end - SteadyTime::Now();
    if (left <= absl::ZeroDuration()) return false;
    stall_changed_.WaitFor(&mutex_, left);
  }
  return true;
}

void FaultPlan::DelayCalls(FileCallFilter filter, absl::Duration delay) {
  MutexLock lock(&mutex_);
  delay_ = Delay{std::move(filter), delay};
}

FaultPlan::Verdict FaultPlan::Judge(FileCall kind, std::string_view path,
                                    std::string_view other_path) {
  absl::Duration sleep = absl::ZeroDuration();
  {
    MutexLock lock(&mutex_);
    if (delay_ && delay_->filter.Matches(kind, path, other_path)) sleep = delay_->duration;
  }
  if (sleep > absl::ZeroDuration()) std::this_thread::sleep_for(absl::ToChronoNanoseconds(sleep));

  MutexLock lock(&mutex_);
  if (IsStalled(kind, path, other_path, true)) {
    const auto waiting = stalled_.insert(std::this_thread::get_id());
    stall_changed_.SignalAll();
    while (IsStalled(kind, path, other_path, false)) stall_changed_.Wait(&mutex_);
    stalled_.erase(waiting);
  }

  const bool counted = counted_.Matches(kind, path, other_path);
  if (counted) ++calls_;
  for (const Fault& fault : faults_) {
    const bool hit = fault.call == 0                 ? fault.filter.Matches(kind, path, other_path)
                     : fault.repeat == Repeat::kOnce ? counted && calls_ == fault.call
                                                     : counted && calls_ >= fault.call;
    if (!hit) continue;
    ++failed_;
    return {absl::Status(fault.status.code(), ToAbsl(Cat(path, ": ", fault.status.message()))),
            fault.done};
  }
  return {};
}

void FaultPlan::AddLogFile(std::string* path) {
  MutexLock lock(&mutex_);
  log_files_.insert(path);
}

void FaultPlan::RemoveLogFile(std::string* path) {
  MutexLock lock(&mutex_);
  log_files_.erase(path);
}

void FaultPlan::Renamed(std::string_view from, std::string_view to) {
  MutexLock lock(&mutex_);
  for (std::string* path : log_files_) {
    if (*path == from) *path = to;
  }
}

std::string FaultPlan::PathOf(const std::string& path) const {
  MutexLock lock(&mutex_);
  return path;
}

}  // namespace bigtable
