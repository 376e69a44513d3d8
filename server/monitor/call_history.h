// Calls of the last five minutes: how many in each second, and how long they took of late.
//
// Thread-safe. A third of a megabyte.
#ifndef BIGTABLE_SERVER_MONITOR_CALL_HISTORY_H_
#define BIGTABLE_SERVER_MONITOR_CALL_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "server/monitor/call_counters.h"
#include "server/monitor/method.h"

namespace bigtable::server {

class CallHistory {
 public:
  static constexpr size_t kSeconds = 300;
  // Latencies are those of the last minute, in steps of five seconds.
  static constexpr size_t kStepSeconds = 5;
  static constexpr size_t kSteps = 12;

  // Calls that ended in one second.
  struct Second {
    int64_t time = 0;  // its end, since 1970
    std::array<uint64_t, kMethods> calls = {};
    std::array<uint64_t, kCodes> by_code = {};  // of all methods
    uint64_t request_bytes = 0;
    uint64_t response_bytes = 0;
  };

  // The counters outlive this.
  explicit CallHistory(const CallCounters* counters) : counters_(counters) { Tick(0); }
  CallHistory(const CallHistory&) = delete;
  CallHistory& operator=(const CallHistory&) = delete;

  // Every second; `time` is in seconds since 1970.
  void Tick(int64_t time);

  std::vector<Second> Seconds() const;  // from old to new
  // Durations of the calls that ended in the last minute, about.
  DurationCounts LastMinute(Method method) const;

 private:
  const CallCounters* const counters_;
  mutable std::mutex mutex_;
  std::deque<Second> seconds_;
  std::array<MethodCounts, kMethods> last_;                     // at the last tick
  std::deque<std::array<DurationCounts, kMethods>> durations_;  // at the steps
  size_t ticks_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_CALL_HISTORY_H_
