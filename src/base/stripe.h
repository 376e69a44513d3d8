// Counters that many threads change are kept in stripes, each on cache lines of its own; a thread
// uses one of them, so that threads on different processors do not pass lines back and forth.
#ifndef BIGTABLE_BASE_STRIPE_H_
#define BIGTABLE_BASE_STRIPE_H_

#include <atomic>

namespace bigtable {

inline constexpr int kStripes = 16;
inline constexpr int kCacheLine = 64;

// The calling thread's stripe, always the same.
inline int ThreadStripe() {
  static std::atomic<int> next{0};
  thread_local const int stripe = next.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripe;
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_STRIPE_H_
