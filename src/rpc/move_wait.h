// Waiting until a tablet that is being moved is served again, or until a response arrives.
#ifndef BIGTABLE_RPC_MOVE_WAIT_H_
#define BIGTABLE_RPC_MOVE_WAIT_H_

#include <algorithm>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

// The waits of one call. A split or the last step of a move takes microseconds. A write that
// arrives while a moving tablet's memtables are flushed waits for the sync of a file.
class MoveWait {
 public:
  // Waits a little, longer each time. Errors of the limits.
  absl::Status Wait(const CallLimits& limits) {
    constexpr int kYields = 20;
    const WaitTimer timer;
    if (waits_++ < kYields) {
      std::this_thread::yield();
    } else {
      absl::SleepFor(std::min(absl::Microseconds(50) * (waits_ - kYields), absl::Milliseconds(1)));
    }
    return limits.Check();
  }
  bool has_waited() const { return waits_ > 0; }

 private:
  int waits_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_RPC_MOVE_WAIT_H_
