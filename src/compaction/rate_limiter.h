// Holds compactions to a number of bytes a second. Thread-safe.
//
// Bytes are paid for after they were used: Use() adds them to a debt that the rate works off, and
// Wait() says how long it takes until less than a tenth of a second of it is left. A new rate
// forgives the debt.
#ifndef BIGTABLE_COMPACTION_RATE_LIMITER_H_
#define BIGTABLE_COMPACTION_RATE_LIMITER_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/mutex.h"

namespace bigtable {

class RateLimiter {
 public:
  // 0: no limit.
  explicit RateLimiter(uint64_t bytes_per_second = 0) : rate_(bytes_per_second) {}

  void SetRate(uint64_t bytes_per_second) {
    MutexLock lock(&mutex_);
    rate_ = bytes_per_second;
    paid_until_ = absl::InfinitePast();
  }

  void Use(uint64_t bytes) {
    MutexLock lock(&mutex_);
    if (rate_ == 0) return;
    paid_until_ = std::max(paid_until_, absl::Now()) +
                  absl::Seconds(static_cast<double>(bytes) / static_cast<double>(rate_));
  }

  absl::Duration Wait() {
    MutexLock lock(&mutex_);
    return std::max(paid_until_ - absl::Now() - absl::Milliseconds(100), absl::ZeroDuration());
  }

 private:
  Mutex mutex_;
  uint64_t rate_ ABSL_GUARDED_BY(mutex_);
  absl::Time paid_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_RATE_LIMITER_H_
