// The state of the current call of a thread: how long it has waited, whether it is measured, and
// whether it is traced.
//
// Not every call is measured, because reading the clock twice costs more than some calls. One in
// each 64 calls of a thread is measured, at a position that varies from one 64 to the next, so that
// no pattern of the caller is missed. It represents 64 calls. Slow calls are not left to chance:
// the places where a call may wait (the commit queue, a sync, a file, write throttling) add up the
// waiting time. A call that has waited for kSlowNanos is recorded as one call, whether it is
// sampled or not.
#ifndef BIGTABLE_MONITORING_THREAD_CALLS_H_
#define BIGTABLE_MONITORING_THREAD_CALLS_H_

#include <cstddef>
#include <cstdint>

#include "bigtable/trace.h"

#include "base/steady_time.h"

namespace bigtable {

// The kinds of calls that are counted. kMutateRowAtomically has no latency of its own, because it
// runs a function of the user's.
enum class Call : uint8_t {
  kReadRow,
  kNextRow,
  kNextCell,
  kApply,
  kApplyBatch,
  kCheckAndMutateRow,
  kReadModifyWriteRow,
  kMutateRowAtomically,
};
inline constexpr size_t kCalls = 8;

// The number of calls from one measured call to the next: one in each kMean, at random.
class SampleGaps {
 public:
  static constexpr int32_t kMean = 64;

  constexpr SampleGaps() = default;
  explicit constexpr SampleGaps(uint64_t seed) : group_(seed << 20) {}

  // Counted from the last measured call; 1 is the next call.
  int32_t Next() {
    const int32_t position = PositionIn(++group_);
    const int32_t gap = kMean - position_ + position;
    position_ = position;
    return gap;
  }

 private:
  static int32_t PositionIn(uint64_t group) {
    group *= 0x9e3779b97f4a7c15;
    group ^= group >> 32;
    group *= 0xd6e8feb86659fd93;
    return static_cast<int32_t>(group >> 32) & (kMean - 1);
  }

  uint64_t group_ = 0;
  int32_t position_ = kMean - 1;  // as if the group before the first had ended like this
};

struct ThreadCalls {
  // A wait of this length is not an accident of scheduling.
  static constexpr int64_t kSlowNanos = 1'000'000;

  int64_t waited = 0;        // nanoseconds, since the call began
  int32_t until_sample = 0;  // calls until the next measured one
  bool has_gaps = false;
  SampleGaps gaps;
  RequestTrace* trace = nullptr;  // of the current call, if it is traced
};

// Like thread_stripe: access needs neither a check nor a call.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadCalls thread_calls;

// The trace of the current call of this thread; usually null.
inline RequestTrace* CurrentTrace() { return thread_calls.trace; }

// Counts its lifetime as waiting.
class WaitTimer {
 public:
  WaitTimer() : begin_(NowNanos()) {}
  ~WaitTimer() { thread_calls.waited += nanos(); }
  WaitTimer(const WaitTimer&) = delete;
  WaitTimer& operator=(const WaitTimer&) = delete;

  int64_t nanos() const { return NowNanos() - begin_; }

 private:
  const int64_t begin_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_THREAD_CALLS_H_
