// Lets calls in until it is closed, and whoever closes it waits until they are all out. Passing
// touches only the calling thread's own stripe.
#ifndef BIGTABLE_BASE_CALL_GATE_H_
#define BIGTABLE_BASE_CALL_GATE_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/stripe.h"

namespace bigtable {

// Thread-safe.
class CallGate {
 public:
  // The time inside. False when the gate was closed: then the call must not go on.
  class Pass {
   public:
    explicit Pass(CallGate* gate) : gate_(gate), stripe_(ThreadStripe()) {
      // Sequentially consistent, as is closing: either this sees the gate closed, or the closer
      // sees this call.
      gate_->counts_[stripe_].calls.fetch_add(1, std::memory_order_seq_cst);
      open_ = !gate_->closed_.load(std::memory_order_seq_cst);
    }
    ~Pass() { gate_->counts_[stripe_].calls.fetch_sub(1, std::memory_order_release); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    explicit operator bool() const { return open_; }

   private:
    CallGate* const gate_;
    const int stripe_;
    bool open_;
  };

  // Lets no more calls in, and returns when none is inside.
  void CloseAndWait() {
    closed_.store(true, std::memory_order_seq_cst);
    for (const Count& count : counts_) {
      while (count.calls.load(std::memory_order_seq_cst) != 0)
        absl::SleepFor(absl::Microseconds(50));
    }
  }
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  struct alignas(kCacheLine) Count {
    std::atomic<int64_t> calls{0};
  };
  std::array<Count, kStripes> counts_;
  alignas(kCacheLine) std::atomic<bool> closed_{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CALL_GATE_H_
