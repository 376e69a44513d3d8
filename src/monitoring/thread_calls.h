// What a thread knows of the call of the database that it is in: how long it has waited, whether it
// is measured, and whether it is traced.
//
// Not every call is measured, because two looks at the clock cost more than some calls: of each
// 64 calls of a thread one is, at a place that differs from one 64 to the next, so that
// no pattern of the caller's goes unseen. It stands for 64. So that slow calls are not left to
// chance, the places where a call may wait (the commit queue, a sync, a file, being held back) add
// up for how long, and whoever has waited for kSlowNanos is counted as one call, measured or not.
#ifndef BIGTABLE_MONITORING_THREAD_CALLS_H_
#define BIGTABLE_MONITORING_THREAD_CALLS_H_

#include <cstddef>
#include <cstdint>

#include "bigtable/trace.h"

#include "base/steady_time.h"

namespace bigtable {

// What has latencies.
enum class Call : uint8_t { kReadRow, kNextRow, kNextCell, kApply, kApplyBatch };
inline constexpr size_t kCalls = 5;

// How many calls it is from one that is measured to the next: one in each kMean, at random.
class SampleGaps {
 public:
  static constexpr int32_t kMean = 64;

  constexpr SampleGaps() = default;
  explicit constexpr SampleGaps(uint64_t seed) : group_(seed << 20) {}

  // From the last call that was measured; 1 is the one after it.
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
  int32_t position_ = kMean - 1;  // as if the last group before the first had ended so
};

struct ThreadCalls {
  // A wait of this length is no accident of scheduling.
  static constexpr int64_t kSlowNanos = 1'000'000;

  int64_t waited = 0;        // nanoseconds, since the call began
  int32_t until_sample = 0;  // how many calls it is to the next that is measured
  bool has_gaps = false;
  SampleGaps gaps;
  RequestTrace* trace = nullptr;  // of the call that the thread is in, if it is traced
};

// As thread_stripe: looking at it costs neither a check nor a call.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadCalls thread_calls;

// The trace of the call that this thread is in; mostly null.
inline RequestTrace* CurrentTrace() { return thread_calls.trace; }

// Counts the time of its life as waiting.
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
