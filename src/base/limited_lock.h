// A scoped lock for mutexes that are held during I/O, for calls with limits.
#ifndef BIGTABLE_BASE_LIMITED_LOCK_H_
#define BIGTABLE_BASE_LIMITED_LOCK_H_

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/mutex.h"

namespace bigtable {

// After an error of the limits it does not have the lock, and the caller returns the error at once:
//
//   LimitedLock lock(&mutex_, limits);
//   BT_RETURN_IF_ERROR(lock.status());
//
// Without limits it is a MutexLock. With limits it polls, so it is not for mutexes that many
// threads want.
class ABSL_SCOPED_LOCKABLE LimitedLock {
 public:
  LimitedLock(Mutex* mutex, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS : mutex_(mutex) {
    if (limits.MostSleep() == absl::InfiniteDuration()) {
      mutex_->Lock();
      return;
    }
    constexpr absl::Duration kLongestPause = absl::Milliseconds(2);
    for (absl::Duration pause = absl::Microseconds(20); !mutex_->TryLock();) {
      status_ = limits.Check();
      if (!status_.ok()) return;
      absl::SleepFor(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
  }
  ~LimitedLock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (status_.ok()) mutex_->Unlock();
  }
  LimitedLock(const LimitedLock&) = delete;
  LimitedLock& operator=(const LimitedLock&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  Mutex* const mutex_;
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_LIMITED_LOCK_H_
