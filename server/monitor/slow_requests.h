// The slowest of the calls of which the engine has traced a request in the last minutes, with where
// their time went.
//
// Thread-safe. A traced request, one in kTraceOneOf, costs a lock; one that is among the slowest, a
// copy of some hundred bytes.
#ifndef BIGTABLE_SERVER_MONITOR_SLOW_REQUESTS_H_
#define BIGTABLE_SERVER_MONITOR_SLOW_REQUESTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/trace.h"

#include "server/monitor/call_trace.h"

namespace bigtable::server {

class SlowRequests final : public TraceSink {
 public:
  // For DatabaseOptions::trace_one_of.
  static constexpr uint64_t kTraceOneOf = 64;
  // Of each half minute, the slowest are kept for five minutes.
  static constexpr absl::Duration kWindow = absl::Seconds(30);
  static constexpr size_t kWindows = 10;
  static constexpr size_t kKept = 8;

  // Leaves the trace to the call that the thread runs, or that it continues (CallTrace::Keep).
  // Without one, it is of a stream that was
  // released while its client took nothing (data/streams.h), or not of a call, and is added.
  void OnTrace(const RequestTrace& trace) override;
  void Add(const SlowRequest& request);
  // At most `most` requests that began in the last five minutes, the slowest first.
  std::vector<SlowRequest> Slowest(size_t most, absl::Time now) const;

 private:
  struct Window {
    int64_t number = -1;
    std::vector<SlowRequest> slowest;  // in any order
  };

  mutable std::mutex mutex_;
  std::array<Window, kWindows> windows_;  // by number, modulo kWindows
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_SLOW_REQUESTS_H_
