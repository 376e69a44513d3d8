// Keeps threads from waiting for events that nobody expects.
//
// Thread-safe.
#ifndef BIGTABLE_SERVER_CALLS_GATE_H_
#define BIGTABLE_SERVER_CALLS_GATE_H_

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace bigtable::server {

class Gate {
 public:
  // An event is expected, until Forget. Wake is to be called unless the caller takes the event.
  void Expect() { expected_.fetch_add(1); }
  void Forget() { expected_.fetch_sub(1); }
  // Lets one of the threads that wait go, if an event is expected.
  void Wake();
  // Lets one thread go, in any case.
  void Pulse();
  // Lets all threads go from now on.
  void Open() {
    expected_.fetch_add(1 << 30);
    Wake();
  }
  // Waits until an event is expected, and wakes another thread if several are.
  void Wait();

 private:
  std::atomic<int> expected_{0};
  std::atomic<int> pulses_{0};   // 0 or 1
  std::atomic<int> waiting_{0};  // threads
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_GATE_H_
