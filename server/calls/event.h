// What happens when gRPC reports that an operation which a call waits for has ended.
#ifndef BIGTABLE_SERVER_CALLS_EVENT_H_
#define BIGTABLE_SERVER_CALLS_EVENT_H_

namespace bigtable::server {

// The tag of a completion queue.
class Event {
 public:
  // Called once for each operation that was started with the tag, on any of the queue's threads.
  // `ok` is gRPC's: false if a call was not accepted because the server ends, or if a message could
  // not be sent because the connection has ended. May delete the object.
  virtual void Run(bool ok) = 0;

 protected:
  ~Event() = default;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_EVENT_H_
