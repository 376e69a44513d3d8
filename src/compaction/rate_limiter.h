// Limits compactions to a number of bytes a second. Thread-safe.
//
// Bytes are paid for after use. Pay() adds them to a debt that shrinks at the rate, and waits until
// less than a tenth of a second of it is left. A new rate cancels the debt and takes effect at
// once.
#ifndef BIGTABLE_COMPACTION_RATE_LIMITER_H_
#define BIGTABLE_COMPACTION_RATE_LIMITER_H_

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "base/steady_time.h"

namespace bigtable {

class RateLimiter {
 public:
  // The interval at which a waiting thread calls `check`, unless it is woken.
  static constexpr absl::Duration kPollInterval = absl::Milliseconds(20);

  // 0: no limit.
  explicit RateLimiter(uint64_t bytes_per_second = 0) : rate_(bytes_per_second) {}

  void SetRate(uint64_t bytes_per_second) {
    MutexLock lock(&mutex_);
    rate_ = bytes_per_second;
    paid_until_ = SteadyTime::InfinitePast();
    changed_.SignalAll();
  }

  uint64_t rate() const {
    MutexLock lock(&mutex_);
    return rate_;
  }

  // Waits as long as the rate requires, unless `check` has an error: then it returns that. `check`
  // is called with a lock held, so it must take none.
  absl::Status Pay(uint64_t bytes, absl::FunctionRef<absl::Status()> check) {
    MutexLock lock(&mutex_);
    if (rate_ > 0) {
      paid_until_ = std::max(paid_until_, SteadyTime::Now()) +
                    absl::Seconds(static_cast<double>(bytes) / static_cast<double>(rate_));
    }
    while (true) {
      if (absl::Status status = check(); !status.ok()) return status;
      const absl::Duration wait = paid_until_ - SteadyTime::Now() - kCredit;
      if (wait <= absl::ZeroDuration()) return absl::OkStatus();
      changed_.WaitFor(&mutex_, std::min(wait, kPollInterval));
    }
  }

  // Makes waiting threads call `check`.
  void Wake() {
    MutexLock lock(&mutex_);
    changed_.SignalAll();
  }

 private:
  static constexpr absl::Duration kCredit = absl::Milliseconds(100);

  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t rate_ ABSL_GUARDED_BY(mutex_);
  SteadyTime paid_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_RATE_LIMITER_H_
