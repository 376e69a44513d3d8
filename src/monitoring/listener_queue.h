// Delivers events to the user's EventListener, on a thread of its own, in the order in which they
// were pushed. A pushing thread may hold any lock, and does not wait for the listener. Thread-safe.
#ifndef BIGTABLE_MONITORING_LISTENER_QUEUE_H_
#define BIGTABLE_MONITORING_LISTENER_QUEUE_H_

#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/event_listener.h"

#include "base/mutex.h"

namespace bigtable {

class ListenerQueue {
 public:
  // `listener` must outlive the queue.
  explicit ListenerQueue(EventListener* listener) : listener_(listener) {}
  // Delivers the remaining events, on this thread if the queue has none.
  ~ListenerQueue();
  ListenerQueue(const ListenerQueue&) = delete;
  ListenerQueue& operator=(const ListenerQueue&) = delete;

  // Begins to deliver. ResourceExhausted: no thread could be started.
  absl::Status Start();

  // `function` is the listener's member for this kind of event.
  template <typename Event>
  void Push(void (EventListener::*function)(const Event&), Event event) {
    Push([function, event = std::move(event)](EventListener* listener) {
      (listener->*function)(event);
    });
  }

 private:
  using Delivery = std::function<void(EventListener*)>;

  void Push(Delivery delivery) ABSL_LOCKS_EXCLUDED(mutex_);
  void DeliverLoop();

  EventListener* const listener_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Delivery> deliveries_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_LISTENER_QUEUE_H_
