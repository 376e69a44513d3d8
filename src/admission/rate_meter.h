// A token bucket that holds what one second gives, and is full at first.
//
// Its state is one number: the time at which it is full again. A bucket that is full at the time
// `now` or before has one second's worth of tokens, each second until then is one second's worth
// less, and from one second on it has a debt. To take n tokens moves that time by n / rate seconds.
#ifndef BIGTABLE_ADMISSION_RATE_METER_H_
#define BIGTABLE_ADMISSION_RATE_METER_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/numeric/int128.h"

namespace bigtable {

// Thread-safe. Times are nanoseconds of one clock that does not go backwards.
class RateMeter {
 public:
  // 0: no limit.
  explicit RateMeter(uint64_t per_second) : rate_(per_second) {}
  RateMeter(const RateMeter&) = delete;
  RateMeter& operator=(const RateMeter&) = delete;

  uint64_t rate() const { return rate_; }

  // Takes `n` tokens if there are as many, or if the bucket is full: then more than a second's
  // worth leaves a debt. Otherwise changes nothing. Returns the nanoseconds to wait; 0: they were
  // taken.
  int64_t Take(uint64_t n, int64_t now) {
    if (rate_ == 0 || n == 0) return 0;
    const int64_t cost = NanosOf(n);
    int64_t full_at = full_at_.load(std::memory_order_relaxed);
    do {
      const int64_t behind = std::max<int64_t>(full_at - now, 0);
      const int64_t wait = std::min(behind, behind + cost - kSecond);
      if (wait > 0) return wait;
    } while (!full_at_.compare_exchange_weak(full_at, After(full_at, now, cost),
                                             std::memory_order_relaxed));
    return 0;
  }
  // Gives back what Take has taken.
  void GiveBack(uint64_t n) {
    if (rate_ != 0 && n != 0) full_at_.fetch_sub(NanosOf(n), std::memory_order_relaxed);
  }
  // Takes `n` tokens, though it may leave a debt.
  void Charge(uint64_t n, int64_t now) {
    if (rate_ == 0 || n == 0) return;
    const int64_t cost = NanosOf(n);
    int64_t full_at = full_at_.load(std::memory_order_relaxed);
    while (!full_at_.compare_exchange_weak(full_at, After(full_at, now, cost),
                                           std::memory_order_relaxed)) {
    }
  }
  // How long until it has a token; 0: it has.
  int64_t WaitForAny(int64_t now) const {
    if (rate_ == 0) return 0;
    const int64_t behind = full_at_.load(std::memory_order_relaxed) - now;
    return std::max<int64_t>(behind - kSecond + 1, 0);
  }

 private:
  static constexpr int64_t kSecond = 1'000'000'000;
  static constexpr int64_t kMost = kSecond * 1'000'000'000;  // some thirty years

  // When it is full, if this was taken. A debt does not grow beyond twice kMost.
  static int64_t After(int64_t full_at, int64_t now, int64_t cost) {
    return std::clamp(full_at, now, now + kMost) + cost;
  }
  // Rounded down, so that a full bucket admits each of its tokens alone.
  int64_t NanosOf(uint64_t n) const {
    const absl::uint128 nanos = absl::uint128(n) * kSecond / rate_;
    return nanos > absl::uint128(kMost) ? kMost : static_cast<int64_t>(nanos);
  }

  const uint64_t rate_;
  std::atomic<int64_t> full_at_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_ADMISSION_RATE_METER_H_
