// gRPC's completion queues, with the threads that run calls.
//
// gRPC polls connections in the threads that wait for a queue's events. Each thread that finds an
// event for another queue wakes a thread there, which costs more CPU than all else that a small
// call needs. So:
//
//   * One queue has the beginnings of all calls, and its threads do all polling. The thread that
//     has read one runs the call. Another one, which waited, polls meanwhile.
//   * Other queues, which are not polled, have the events after that: the request is there, a
//     message was sent, a call has ended. A small request is there as soon as the call has begun,
//     and the same thread takes that event. The two events at the end of a small call are there as
//     soon as its response was written, and the same thread takes them. The threads of such a queue
//     wait for events only while some are expected that no thread of a call takes: of streams that
//     wait for their clients. Unary calls have a queue of their own, so that those threads do not
//     wake for them. Streams of changes have one, too, because a thread waits for events as long as
//     there is such a stream.
//
// So a small call takes as much CPU as with gRPC's synchronous interface
// (docs/server-performance.md), and one that waits for its client has no thread.
//
// Thread-safe.
#ifndef BIGTABLE_SERVER_CALLS_CALL_QUEUES_H_
#define BIGTABLE_SERVER_CALLS_CALL_QUEUES_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "absl/status/status.h"
#include "grpcpp/completion_queue.h"

#include "server/calls/call_threads.h"
#include "server/calls/deadline.h"
#include "server/calls/event.h"
#include "server/calls/gate.h"

namespace bigtable::server {

// The events of calls after their requests.
class EventQueue {
 public:
  explicit EventQueue(int most_threads);
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  absl::Status Start() { return threads_.Start(); }
  // Waits until the calls have ended. The server was shut down, so no call waits for a client.
  void Shutdown();
  grpc::CompletionQueue* queue() const { return queue_.get(); }

  // A call begins, before anything else of it, and has ended, after all of its events.
  void CallBegins() { calls_.fetch_add(1); }
  void CallEnded() { calls_.fetch_sub(1); }

  // Calls `send`, which starts an operation of a call. Its event calls Sent.
  template <typename Function>
  void Send(const Function& send) {
    gate_.Expect();
    send();  // after which the call may be gone
    gate_.Wake();
  }
  void Sent() { gate_.Forget(); }

  // Calls `receive`, which starts the operation that reads a call's request. True: its event was
  // there at once, and this thread has it, with `*ok`. Otherwise calls `is_late`, and the event is
  // run, perhaps before that; it calls Sent. Not to be called by an event at the end of a call.
  template <typename Function, typename IsLate>
  bool Receive(Event* event, bool* ok, const Function& receive, const IsLate& is_late) {
    gate_.Expect();
    void* tag = nullptr;
    const auto next = queue_->DoThenAsyncNext(receive, &tag, ok, PastDeadline());
    const bool has_event = next == grpc::CompletionQueue::GOT_EVENT;
    if (has_event && tag == event) {
      gate_.Forget();
      return true;
    }
    gate_.Wake();
    is_late();
    if (has_event) static_cast<Event*>(tag)->Run(*ok);  // of another call
    return false;
  }

  // The events of a call's end: of its last operation, and of the call.
  struct End {
    Event* last;
    Event* done;
  };
  // Calls `finish`, which starts the last operation of a call, and runs the events of its end if
  // they are there at once. Otherwise EndIsLate is to be called, and LateEnd by the last of them.
  template <typename Function>
  void Finish(const End& end, const Function& finish) {
    if (RunsEnd()) return finish();  // of another call, whose event this thread was given
    void* tag = nullptr;
    bool ok = false;
    const auto next = queue_->DoThenAsyncNext(finish, &tag, &ok, PastDeadline());
    RunEnd(end, next, tag, ok);
  }
  void EndIsLate() {
    gate_.Expect();
    gate_.Wake();
  }
  void LateEnd() { gate_.Forget(); }

  // Between these a thread always looks into the queue. For calls that are open for long, so that
  // it is seen at once that one was cancelled, also while a step of it runs.
  void Watch() {
    gate_.Expect();
    gate_.Wake();
  }
  void Unwatch() { gate_.Forget(); }

  // Looks after a call that has run for long: whether it was cancelled. To be called now and then.
  void RunSomeEvent() { gate_.Pulse(); }

 private:
  bool Next(void** tag, bool* ok);
  // Whether this thread is within RunEnd.
  static bool& RunsEnd() {
    thread_local bool runs_end = false;
    return runs_end;
  }
  void RunEnd(const End& end, grpc::CompletionQueue::NextStatus next, void* tag, bool ok);

  const std::unique_ptr<grpc::CompletionQueue> queue_;
  Gate gate_;
  std::mutex turn_mutex_;  // of the thread that waits for the next event
  CallThreads threads_;
  std::atomic<int> calls_{0};
};

class CallQueues {
 public:
  // The queue of requests is the server's. At most `most_threads` run requests, and as many run the
  // events of streams.
  CallQueues(std::unique_ptr<grpc::ServerCompletionQueue> requests, int most_threads);
  // Shutdown, if it was not called.
  ~CallQueues();
  CallQueues(const CallQueues&) = delete;
  CallQueues& operator=(const CallQueues&) = delete;

  // ResourceExhausted: the system has no thread.
  absl::Status Start();
  // Waits until the calls have ended. The server was shut down.
  void Shutdown();

  // Calls `accept`, which requests a call, with the queue of requests, unless the queues were shut
  // down: then false.
  template <typename Function>
  bool Accept(const Function& accept) {
    const std::shared_lock<std::shared_mutex> lock(shutdown_mutex_);
    if (is_shut_down_) return false;
    accept(requests_.get());
    return true;
  }

  EventQueue* streams() { return &streams_; }
  EventQueue* unary_calls() { return &unary_calls_; }
  // Of calls that wait for changes, with few threads: they read much of the disk, and must not keep
  // others from it.
  EventQueue* change_streams() { return &change_streams_; }

 private:
  const std::unique_ptr<grpc::ServerCompletionQueue> requests_;
  EventQueue streams_;
  EventQueue unary_calls_;
  EventQueue change_streams_;
  CallThreads request_threads_;

  std::shared_mutex shutdown_mutex_;
  bool is_shut_down_ = false;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_CALL_QUEUES_H_
