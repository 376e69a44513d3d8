// Mutex, scoped lock and condition variable over the standard library's, with the annotations by
// which Clang checks that guarded data is accessed only under its lock. They are not Abseil's own
// because a distribution's Abseil is not built for ThreadSanitizer, which then cannot see its
// locks. In builds with assertions a mutex knows the thread that holds it.
#ifndef BIGTABLE_BASE_MUTEX_H_
#define BIGTABLE_BASE_MUTEX_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace bigtable {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    ABSL_ASSERT(!IsHeldHere() && "the thread would wait for itself");
    mutex_.lock();
    SetHolder(true);
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    ABSL_ASSERT(IsHeldHere() && "only the thread that has the lock may unlock it");
    SetHolder(false);
    mutex_.unlock();
  }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    ABSL_ASSERT(!IsHeldHere() && "this thread would try for ever");
    const bool locked = mutex_.try_lock();
    if (locked) SetHolder(true);
    return locked;
  }
  // Asserts that this thread holds the lock, and declares it to the static analysis.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {
    ABSL_ASSERT(IsHeldHere() && "the lock must be held");
  }

 private:
  friend class CondVar;

#ifdef NDEBUG
  static bool IsHeldHere() { return true; }  // never called
  void SetHolder(bool /*held*/) {}
#else
  // A thread's address of this is its name.
  inline static thread_local char this_thread = 0;
  // Only this thread can have stored its own name, so the order of other stores does not matter.
  bool IsHeldHere() const { return holder_.load(std::memory_order_relaxed) == &this_thread; }
  void SetHolder(bool held) {
    holder_.store(held ? &this_thread : nullptr, std::memory_order_relaxed);
  }
  std::atomic<const char*> holder_{nullptr};
#endif
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Waits may wake spuriously: wait in a loop over the condition. Timeouts use the steady clock
// (base/steady_time.h).
class CondVar {
 public:
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    mutex->AssertHeld();
    mutex->SetHolder(false);
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
    mutex->SetHolder(true);
  }
  // False if the timeout has passed.
  bool WaitFor(Mutex* mutex, absl::Duration timeout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    mutex->AssertHeld();
    mutex->SetHolder(false);
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    // A year counts as for ever, and does not overflow the standard library's clocks.
    const auto wait = absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24 * 365)));
    const bool notified =
        cv_.wait_until(lock, std::chrono::steady_clock::now() + wait) == std::cv_status::no_timeout;
    lock.release();
    mutex->SetHolder(true);
    return notified;
  }
  void Signal() { cv_.notify_one(); }
  void SignalAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_MUTEX_H_
