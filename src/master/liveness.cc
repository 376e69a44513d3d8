#include "master/liveness.h"

#include <cstdint>

#include "absl/time/time.h"

#include "base/start_thread.h"
#include "base/status.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

absl::Status LivenessThread::Start() {
  BT_ASSIGN_OR_RETURN(thread_, StartThread([this] { Loop(); }));
  return absl::OkStatus();
}

void LivenessThread::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

void LivenessThread::Wake() {
  MutexLock lock(&mutex_);
  due_ = true;
  changed_.SignalAll();
}

void LivenessThread::WakeNow() {
  MutexLock lock(&mutex_);
  now_ = true;
  changed_.SignalAll();
}

void LivenessThread::Loop() {
  RetryPause pause(absl::Seconds(3));  // each retry sorts the logs again
  while (WaitUntilDue(pause)) {
    if (assignment_->ReplaceLost(role_).ok()) {
      pause.Succeeded();
    } else {
      pause.Failed(NowNanos());
    }
  }
}

bool LivenessThread::WaitUntilDue(const RetryPause& pause) {
  constexpr uint64_t kSoon = 3;  // after more failures, Wake() does not shorten the pause
  constexpr absl::Duration kPollInterval = absl::Milliseconds(500);
  const int64_t begin = NowNanos();
  const auto left = [&] {
    const int64_t now = NowNanos();
    return pause.failures() > 0 ? pause.Left(now) : kPollInterval - absl::Nanoseconds(now - begin);
  };
  MutexLock lock(&mutex_);
  const auto is_due = [&] {
    mutex_.AssertHeld();
    return stopping_ || now_ || (due_ && pause.failures() <= kSoon);
  };
  while (!is_due() && left() > absl::ZeroDuration()) changed_.WaitFor(&mutex_, left());
  due_ = now_ = false;
  return !stopping_;
}

}  // namespace bigtable
