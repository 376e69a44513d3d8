// The events that wait in a session for its owner (lock_service.h says why they wait). One thread
// at a time.
#ifndef BIGTABLE_LOCKSERVICE_EVENT_QUEUE_H_
#define BIGTABLE_LOCKSERVICE_EVENT_QUEUE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockservice/lock_service.h"

namespace bigtable {

class EventQueue {
 public:
  bool empty() const { return events_.empty(); }

  // Adds an event at the end. Replaces a waiting event of the same kind and name, so that the
  // number of names bounds the queue.
  void Add(LockEventKind kind, std::string_view name = {}, Generation generation = 0) {
    std::erase_if(events_,
                  [&](const LockEvent& event) { return event.kind == kind && event.name == name; });
    events_.push_back({kind, std::string(name), generation});
  }
  std::vector<LockEvent> Take() { return std::exchange(events_, {}); }

 private:
  std::vector<LockEvent> events_;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_EVENT_QUEUE_H_
