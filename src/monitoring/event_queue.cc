#include "monitoring/event_queue.h"

namespace bigtable {

EventQueue::EventQueue(EventListener* listener)
    : listener_(listener), thread_([this] { DeliverLoop(); }) {}

EventQueue::~EventQueue() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.Signal();
  }
  thread_.join();
}

void EventQueue::Push(Delivery delivery) {
  MutexLock lock(&mutex_);
  deliveries_.push_back(std::move(delivery));
  changed_.Signal();
}

void EventQueue::DeliverLoop() {
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
