// Threads that make reads which wait, one at a time each: as many reads wait together as there are
// threads.
//
// Invariants:
// * For each read that Add has taken, its caller is told once, by one of the threads, outside of
//   the lock.
// * Threads are started when they are needed. One that had nothing to do for kIdle ends, and all
//   end with Stop. Without one that can be started, Add takes nothing.
//
// Thread-safe.
#ifndef BIGTABLE_ROUTING_ASYNC_POOL_H_
#define BIGTABLE_ROUTING_ASYNC_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "routing/async_read.h"

namespace bigtable {

class AsyncPool {
 public:
  static constexpr absl::Duration kIdle = absl::Seconds(10);

  explicit AsyncPool(size_t most_threads, absl::Duration idle = kIdle)
      : most_threads_(most_threads), most_idle_(idle) {}
  ~AsyncPool();  // Stop
  AsyncPool(const AsyncPool&) = delete;
  AsyncPool& operator=(const AsyncPool&) = delete;

  // Takes the read, unless it returns an error. ResourceExhausted: those that wait have more than
  // `most_bytes`. Unavailable: no thread can be started. FailedPrecondition: it was stopped.
  absl::Status Add(AsyncRead&& read, uint64_t most_bytes);
  // Waits until the callers of all reads that were taken are told, and takes no more. Not to be
  // called by one of these callers.
  void Stop();
  // How many there are now.
  size_t threads() const;
  // Reads that no thread has taken yet.
  struct Waiting {
    size_t reads = 0;
    uint64_t bytes = 0;
  };
  Waiting waiting() const;

 private:
  void Run(std::list<std::thread>::iterator self);
  // The next read, for which it waits. Nothing: the thread ends, and is among those that have.
  std::optional<AsyncRead> Take(std::list<std::thread>::iterator self);
  // Of threads that have nothing more to do.
  void JoinEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t most_threads_;
  const absl::Duration most_idle_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<AsyncRead> queue_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of the queue
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;     // threads that wait
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::list<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::list<std::thread> ended_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_ASYNC_POOL_H_
