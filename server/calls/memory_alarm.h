// Tells when requests on their way have to be refused, because the process is near the bound of its
// memory (request_limits.h).
//
// It rings when the process has more memory than RequestLimits::alarm, and has grown by more than
// requests on their way may take; and again each time that it has grown further by an eighth of
// that. What malloc could give back to the system is not needed, so it does not count. And what
// others have taken is not the fault of requests: growth counts from the least memory since calls
// receive.
//
// A thread looks every few milliseconds (admission.h). On a machine with much other work it may not
// run for long, so any thread that finds the last look to be old looks itself.
//
// Thread-safe.
#ifndef BIGTABLE_SERVER_CALLS_MEMORY_ALARM_H_
#define BIGTABLE_SERVER_CALLS_MEMORY_ALARM_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "server/calls/request_limits.h"

namespace bigtable::server {

class MemoryAlarm {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // How often to look while calls receive.
  static constexpr std::chrono::milliseconds kPeriod{5};

  explicit MemoryAlarm(const RequestLimits& limits);

  // No call receives. Growth counts from now on, and this counts as a look.
  void Reset();
  // Whether the last look was so long ago that the thread has missed one.
  bool IsLate(Time now) const { return now.time_since_epoch() > last_look_.load() + 2 * kPeriod; }
  // Looks; some microseconds, and more if it may ring. False, too, while another thread looks.
  bool Rings();

 private:
  bool IsTooLarge(uint64_t resident) const;
  void Looks() { last_look_.store(std::chrono::steady_clock::now().time_since_epoch()); }

  const uint64_t alarm_;
  const uint64_t receiving_;
  std::atomic<Time::duration> last_look_;

  std::mutex mutex_;
  // Under the mutex, since the last Reset: the least memory, and that at the last alarm, or less if
  // it has shrunk since; 0: none.
  uint64_t least_ = 0;
  uint64_t last_alarm_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_MEMORY_ALARM_H_
