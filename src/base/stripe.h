// Counters that many threads change are kept in stripes, each on cache lines of its own; a thread
// uses one of them, so that threads on different processors do not pass lines back and forth.
#ifndef BIGTABLE_BASE_STRIPE_H_
#define BIGTABLE_BASE_STRIPE_H_

#include <atomic>

namespace bigtable {

inline constexpr int kStripes = 16;
inline constexpr int kCacheLine = 64;

// None, until the thread asks. It needs no construction, so that looking at it costs no check of
// that, and has its place from the beginning, so that looking at it costs no call in a shared
// library.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local int thread_stripe = -1;

// The calling thread's stripe, always the same.
inline int ThreadStripe() {
  static constinit std::atomic<unsigned> next{0};
  if (thread_stripe < 0) [[unlikely]] {
    thread_stripe = static_cast<int>(next.fetch_add(1, std::memory_order_relaxed) % kStripes);
  }
  return thread_stripe;
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_STRIPE_H_
