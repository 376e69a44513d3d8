// The threads that run the events of one of gRPC's completion queues.
//
// An event may block: a write waits for the sync of the log, a read with a filter that passes
// little takes seconds until its first message. So the last thread that waits for events starts
// another one before it runs one, up to a limit. Beyond the limit events wait. Threads that are not
// needed end. A call that waits for its client needs no thread.
#ifndef BIGTABLE_SERVER_CALLS_CALL_THREADS_H_
#define BIGTABLE_SERVER_CALLS_CALL_THREADS_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "absl/status/status.h"
#include "grpcpp/completion_queue.h"

#include "server/calls/event.h"

namespace bigtable::server {

class CallThreads {
 public:
  // Waits for an event of the queue, as CompletionQueue::Next. False: the queue has ended.
  using Next = std::function<bool(void** tag, bool* ok)>;

  // The queue outlives this. At most `waiting` threads wait for events, and there are at most
  // `most`.
  CallThreads(grpc::CompletionQueue* queue, int waiting, int most, Next next);
  // JoinThreads was called, or Start was not.
  ~CallThreads() = default;
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // ResourceExhausted: the system has no thread.
  absl::Status Start();
  // The queue was shut down. Runs the remaining events and waits until the threads have ended.
  void JoinThreads();

 private:
  bool StartThread();
  bool MayWait();
  void Run();

  grpc::CompletionQueue* const queue_;
  const int most_waiting_;
  const int most_;
  const Next next_;
  std::atomic<int> waiting_{0};  // threads that wait for an event, or are about to

  std::mutex mutex_;
  std::condition_variable ended_;
  int threads_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_CALL_THREADS_H_
