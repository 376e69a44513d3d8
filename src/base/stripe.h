// Counters that many threads change are kept in stripes, each on cache lines of its own. A thread
// uses one stripe, so that threads on different processors do not exchange cache lines.
#ifndef BIGTABLE_BASE_STRIPE_H_
#define BIGTABLE_BASE_STRIPE_H_

#include <atomic>

namespace bigtable {

inline constexpr int kStripes = 16;
inline constexpr int kCacheLine = 64;

// -1 until the thread calls ThreadStripe(). It needs no construction, so access needs no check for
// it; and it is statically allocated, so access needs no call in a shared library.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local int thread_stripe = -1;

// The calling thread's stripe, which never changes.
inline int ThreadStripe() {
  static constinit std::atomic<unsigned> next{0};
  if (thread_stripe < 0) [[unlikely]] {
    thread_stripe = static_cast<int>(next.fetch_add(1, std::memory_order_relaxed) % kStripes);
  }
  return thread_stripe;
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_STRIPE_H_
