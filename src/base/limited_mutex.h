// A mutex that is held during I/O, for waiters with limits: a thread opens a file or loads a part
// of it, and the other threads that need the same wait for it, each within its own limits.
#ifndef BIGTABLE_BASE_LIMITED_MUTEX_H_
#define BIGTABLE_BASE_LIMITED_MUTEX_H_

#include <algorithm>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/mutex.h"

namespace bigtable {

// Unlike LimitedLock, which polls, waiters sleep: any number of threads may want it.
class ABSL_LOCKABLE LimitedMutex {
 public:
  LimitedMutex() = default;
  LimitedMutex(const LimitedMutex&) = delete;
  LimitedMutex& operator=(const LimitedMutex&) = delete;

  // After an error, which is one of the limits, it is not locked. Null: there are no limits. A free
  // mutex is locked even if they have ended.
  absl::Status Lock(const CallLimits* limits, std::string_view what)
      ABSL_EXCLUSIVE_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(&mutex_);
    while (is_held_) {
      if (limits == nullptr) {
        free_.Wait(&mutex_);
        continue;
      }
      if (absl::Status ended = limits->Check(what); !ended.ok()) return ended;
      free_.WaitFor(&mutex_, limits->MostSleep());
    }
    is_held_ = true;
    return absl::OkStatus();
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(&mutex_);
    ABSL_ASSERT(is_held_ && "it is unlocked once");
    is_held_ = false;
    free_.Signal();
  }

 private:
  Mutex mutex_;
  CondVar free_;
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;
};

// A scoped lock of it. After an error it does not have the lock, and the caller returns the error
// at once:
//
//   LimitedMutexLock lock(&mutex_, limits, "the read");
//   BT_RETURN_IF_ERROR(lock.status());
class ABSL_SCOPED_LOCKABLE LimitedMutexLock {
 public:
  // Without limits: it has the lock.
  explicit LimitedMutexLock(LimitedMutex* mutex)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS
      : LimitedMutexLock(mutex, nullptr, {}) {}
  LimitedMutexLock(LimitedMutex* mutex, const CallLimits* limits, std::string_view what)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS
      : mutex_(mutex),
        status_(mutex->Lock(limits, what)) {}
  ~LimitedMutexLock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (status_.ok()) mutex_->Unlock();
  }
  LimitedMutexLock(const LimitedMutexLock&) = delete;
  LimitedMutexLock& operator=(const LimitedMutexLock&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  LimitedMutex* const mutex_;
  const absl::Status status_;
};

// A scoped lock for mutexes that are held during I/O, for calls with limits.
//
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

#endif  // BIGTABLE_BASE_LIMITED_MUTEX_H_
