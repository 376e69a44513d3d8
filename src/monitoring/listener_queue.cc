#include "monitoring/listener_queue.h"

#include "base/catch_thrown.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status ListenerQueue::Start() {
  BT_ASSIGN_OR_RETURN(thread_, StartThread([this] { DeliverLoop(); }));
  return absl::OkStatus();
}

ListenerQueue::~ListenerQueue() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.Signal();
  }
  if (thread_.joinable()) {
    thread_.join();
  } else {
    DeliverLoop();
  }
}

void ListenerQueue::Push(Delivery delivery) {
  MutexLock lock(&mutex_);
  deliveries_.push_back(std::move(delivery));
  changed_.Signal();
}

void ListenerQueue::DeliverLoop() {
  while (true) {
    std::deque<Delivery> taken;
    {
      MutexLock lock(&mutex_);
      while (deliveries_.empty() && !stopping_) changed_.Wait(&mutex_);
      if (deliveries_.empty()) return;
      taken.swap(deliveries_);
    }
    for (const Delivery& deliver : taken) {
      const absl::Status thrown =
          CatchThrown("a function of the EventListener", [&] { deliver(listener_); });
      if (!thrown.ok()) info_log_.Error(ToStd(thrown.message()));
    }
  }
}

}  // namespace bigtable
