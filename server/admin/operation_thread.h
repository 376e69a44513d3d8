// The thread of the long operations, such as backups: they run one after the other, in the order in
// which they came, and between them what is due from time to time.
#ifndef BIGTABLE_SERVER_ADMIN_OPERATION_THREAD_H_
#define BIGTABLE_SERVER_ADMIN_OPERATION_THREAD_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"

namespace bigtable::server {

// Thread-safe.
class OperationThread {
 public:
  // More than these do not wait at a time.
  static constexpr size_t kMostWaiting = 16;

  // Calls `periodic` first, and then `each` after the last one. Throws std::system_error: the
  // system has no thread.
  OperationThread(std::function<void()> periodic, std::chrono::nanoseconds each);
  // Stop, if it was not called.
  ~OperationThread();
  OperationThread(const OperationThread&) = delete;
  OperationThread& operator=(const OperationThread&) = delete;

  // `run` is called once, also after Stop. RESOURCE_EXHAUSTED: too many wait; UNAVAILABLE: it was
  // stopped.
  absl::Status Add(std::function<void()> run);
  // Waits until all that were added have run: the caller has them end soon.
  void Stop();

 private:
  void Run();

  const std::function<void()> periodic_;
  const std::chrono::nanoseconds each_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_OPERATION_THREAD_H_
