#include "server/calls/gate.h"

namespace bigtable::server {

// A thread that finds nothing expected counts as waiting before it looks again, and Expect comes
// before Wake: so one of the two sees the other.
void Gate::Wake() {
  if (waiting_.load() == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  wake_.notify_one();
}

void Gate::Pulse() {
  pulses_.store(1);
  Wake();
}

void Gate::Wait() {
  if (expected_.load() <= 0) {
    std::unique_lock<std::mutex> lock(mutex_);
    waiting_.fetch_add(1);
    wake_.wait(lock, [this] { return expected_.load() > 0 || pulses_.exchange(0) > 0; });
    waiting_.fetch_sub(1);
  }
  if (expected_.load() > 1) Wake();
}

}  // namespace bigtable::server
