// Delivers events to the user's EventListener, on a thread of its own, in the order in which they
// were pushed. A pushing thread may hold any lock, and does not wait for the listener. Thread-safe.
#ifndef BIGTABLE_MONITORING_LISTENER_QUEUE_H_
#define BIGTABLE_MONITORING_LISTENER_QUEUE_H_

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/event_listener.h"
#include "bigtable/log_sink.h"

#include "base/info_log.h"
#include "base/mutex.h"

namespace bigtable {

class ListenerQueue {
 public:
  // `listener` must outlive the queue. `log_sink`, which may be null, gets what it throws.
  explicit ListenerQueue(EventListener* listener, std::shared_ptr<LogSink> log_sink = nullptr)
      : listener_(listener), info_log_(std::move(log_sink)) {}
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
  InfoLog info_log_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Delivery> deliveries_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_LISTENER_QUEUE_H_
