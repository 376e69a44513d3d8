#include "transaction/row_stripes.h"

#include "absl/base/macros.h"

#include "base/pause.h"
#include "monitoring/thread_calls.h"

namespace bigtable {
namespace {

// Some microseconds: as long as one operation, and less than falling asleep and waking up.
constexpr int kSpins = 100;
// How often a thread may find the stripe taken again when it wakes up.
constexpr int kMostWakes = 3;

}  // namespace

// Two threads alternate without sleeping. If others wait already, this thread waits with them:
// spinning would take the processor from the thread that has the stripe.
bool RowStripes::Stripe::SpinToTake() {
  for (int i = 0; i < kSpins; ++i) {
    if (waiting_.load(std::memory_order_relaxed) > 0) return false;
    if (!held_.load(std::memory_order_relaxed) && TryTake()) return true;
    Pause();
  }
  return false;
}

absl::Status RowStripes::Stripe::Await(const CallLimits& limits) {
  const WaitTimer timer;
  if (SpinToTake()) return absl::OkStatus();
  return Sleep(limits);
}

// A thread that was woken tries to take the stripe before it looks at its limits. So one that gives
// up leaves the stripe to the thread that has it, which wakes the next one.
absl::Status RowStripes::Stripe::Sleep(const CallLimits& limits) {
  MutexLock lock(&mutex_);
  int wakes = 0;
  ++waiting_;
  absl::Status status;
  // A newcomer lets those that were passed over go first; all of these are equal.
  while ((wakes == 0 && passed_over_ > 0) || !TryTake()) {
    status = limits.Check();
    if (!status.ok()) break;
    freed_.WaitFor(&mutex_, limits.MostSleep());
    is_waking_ = false;
    if (++wakes == kMostWakes) ++passed_over_;
  }
  ABSL_ASSERT(waiting_ > 0 && passed_over_ >= 0 && passed_over_ <= waiting_ &&
              "those that were passed over wait");
  --waiting_;
  if (wakes >= kMostWakes) --passed_over_;
  return status;
}

void RowStripes::Stripe::Wake() {
  MutexLock lock(&mutex_);
  if (waiting_ == 0) return;
  is_waking_ = true;
  freed_.Signal();
}

}  // namespace bigtable
