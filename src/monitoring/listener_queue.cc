#include "monitoring/listener_queue.h"

namespace bigtable {

ListenerQueue::ListenerQueue(EventListener* listener)
    : listener_(listener), thread_([this] { DeliverLoop(); }) {}

ListenerQueue::~ListenerQueue() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.Signal();
  }
  thread_.join();
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
    for (const Delivery& deliver : taken) deliver(listener_);
  }
}

}  // namespace bigtable
