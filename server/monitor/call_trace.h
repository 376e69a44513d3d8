// Where the time of a call goes outside the engine, for the calls of which the engine traces a
// request (SlowRequests::kTraceOneOf).
//
// A thread that runs a step of a call makes the call's trace the current one. The engine's trace
// comes on that thread, while the call still runs, and is kept until the call ends. A call that is
// not traced costs two stores for each step, and a stream also two readings of the clock for each
// message.
#ifndef BIGTABLE_SERVER_MONITOR_CALL_TRACE_H_
#define BIGTABLE_SERVER_MONITOR_CALL_TRACE_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/time/time.h"

#include "bigtable/trace.h"

namespace bigtable::server {

// A request of which the engine had a part. The times are one after another, and `trace.inside` (of
// requests that are no streams, `trace.duration`) is the engine's.
struct SlowRequest {
  RequestTrace trace;
  absl::Duration duration;    // of all, until the response was handed to gRPC
  absl::Duration admission;   // until it was received and there was memory for it
  absl::Duration reading;     // taking the request apart, until the engine begins it
  absl::Duration converting;  // making the response of what the engine returns
  absl::Duration client;      // until the client had taken the messages before the last
};

// One thread at a time.
class CallTrace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  CallTrace() = default;
  CallTrace(const CallTrace&) = delete;
  CallTrace& operator=(const CallTrace&) = delete;

  // That of the call whose step this thread runs; null if it runs none.
  static CallTrace* Current() { return current_; }

  // Makes `trace` the current one for its lifetime.
  class Step {
   public:
    explicit Step(CallTrace* trace) { current_ = trace; }
    ~Step() { current_ = nullptr; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
  };

  // The call is executed from `now` on; it was received, and has waited for memory, for
  // `admission`.
  void Begins(Time now, std::chrono::nanoseconds admission) {
    began_ = now;
    admission_ = admission;
  }
  // A message goes to the client; and the client has taken it.
  void Sends() { sent_ = std::chrono::steady_clock::now(); }
  void IsSent() { client_ += std::chrono::steady_clock::now() - sent_; }
  // The engine has begun the rest of a stream anew: what was before is no part of its trace.
  void BeginsAgain();

  // Takes what the engine says of a request that has just ended.
  void Take(const RequestTrace& trace);
  // The same for a read whose call has no thread meanwhile: the engine's thread keeps the trace,
  // and takes it for the call when it tells the call the row, perhaps a few rows later. False: the
  // thread does not do such reads, as far as is known. Traces that are not taken are lost when
  // kMostKept newer ones are there.
  static bool Keep(const RequestTrace& trace);
  void TakeKept(std::string_view row);
  bool is_traced() const { return trace_ != nullptr; }
  // The call ends now. Only if it is traced.
  SlowRequest Finish();

 private:
  static constexpr size_t kMostKept = 16;

  static thread_local CallTrace* current_;
  static thread_local std::optional<std::deque<RequestTrace>> kept_;  // unset: never asked for

  Time began_;
  std::chrono::nanoseconds admission_{0};  // before that
  Time sent_;
  std::chrono::nanoseconds client_{0};
  Time engine_began_;
  std::unique_ptr<RequestTrace> trace_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_CALL_TRACE_H_
