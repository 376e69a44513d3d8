// How long calls on the files of a commit log take, and from when on one counts as a stall.
//
// The time is the stall timeout of the options. If syncs are slow, it is eight times their recent
// duration, so that a slow disk is not mistaken for a stalled file.
//
// Thread-safe, without a lock, but only one thread at a time may call AddSync.
#ifndef BIGTABLE_COMMITLOG_CALL_TIMES_H_
#define BIGTABLE_COMMITLOG_CALL_TIMES_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace bigtable {

class CallTimes {
 public:
  explicit CallTimes(absl::Duration stall_timeout) : least_(stall_timeout) {}
  CallTimes(const CallTimes&) = delete;
  CallTimes& operator=(const CallTimes&) = delete;

  // Calls `call`, counts it if it stalled, and adds its duration to `*took`.
  absl::Status Time(absl::FunctionRef<absl::Status()> call, absl::Duration* took);
  // Notes the duration of a sync. A stalled one counts as the longest tolerated duration, so that
  // it takes several stalls to raise the average much.
  void AddSync(absl::Duration took);

  // The time after which a call counts as a stall.
  absl::Duration StallTimeout() const {
    const int64_t usual = usual_sync_.load(std::memory_order_relaxed);
    return std::max(least_, absl::Nanoseconds(kUsualSyncs * usual));
  }
  // Calls that took longer than the stall timeout of the options, and have returned.
  uint64_t stalls() const { return stalls_.load(std::memory_order_relaxed); }

 private:
  // A call stalls if it takes this many times longer than usual.
  static constexpr int kUsualSyncs = 8;
  // The number of syncs in the moving average.
  static constexpr int kRemembered = 16;

  const absl::Duration least_;
  std::atomic<int64_t> usual_sync_{0};  // nanoseconds, a moving average
  std::atomic<uint64_t> stalls_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_CALL_TIMES_H_
