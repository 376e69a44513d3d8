// The threads that run the calls of one of gRPC's completion queues.
//
// A call runs on the thread that was told of it, and may block there: a write waits for the sync of
// the log, or while compactions are behind. So the last thread that waits for events starts another
// one before it runs one, up to a limit. Beyond the limit events wait, and with them requests that
// gRPC has not read yet. Threads that are not needed end. A call that waits for its client to read
// needs no thread.
#ifndef BIGTABLE_SERVER_CALLS_CALL_THREADS_H_
#define BIGTABLE_SERVER_CALLS_CALL_THREADS_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "absl/status/status.h"

#include "grpcpp/completion_queue.h"

namespace bigtable::server {

class CallThreads {
 public:
  CallThreads(std::unique_ptr<grpc::ServerCompletionQueue> queue, int most_threads);
  // Shutdown, if it was not called.
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // ResourceExhausted: the system has no thread.
  absl::Status Start();
  // Runs the remaining events and ends the threads. The server that the queue belongs to has been
  // shut down, so no event waits for a client.
  void Shutdown();

  // Calls `accept`, which starts an operation on the queue, unless the queue was shut down: then
  // false.
  template <typename Function>
  bool Accept(const Function& accept) {
    const std::shared_lock<std::shared_mutex> lock(shutdown_mutex_);
    if (is_shut_down_) return false;
    accept(queue_.get());
    return true;
  }

  // For tests and statistics.
  int threads() const;

 private:
  bool StartThread();
  void Run();

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  const int most_threads_;
  std::atomic<int> waiting_{0};  // threads that wait for an event, or are about to

  std::shared_mutex shutdown_mutex_;
  bool is_shut_down_ = false;

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  int threads_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_CALL_THREADS_H_
