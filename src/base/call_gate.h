// Admits calls until it is closed; the thread that closes it waits until all calls have left.
// Passing touches only the calling thread's own stripe.
//
// The gate also determines when an object that calls may use can be deleted. Replace a pointer that
// is read only inside the gate, and delete the old object after two more advances. Calls are
// counted in one of two phases. An advance is possible when the phase that is not current has no
// calls left; it makes that phase the current one. So after two advances each phase was seen empty,
// and every earlier call has left. Long calls do not use such pointers and are counted apart, so
// that they do not delay deletions.
//
// In a child process of fork() the gate is closed from the start: the guarded objects belong to the
// parent, and the calls that were inside will never leave.
#ifndef BIGTABLE_BASE_CALL_GATE_H_
#define BIGTABLE_BASE_CALL_GATE_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "absl/base/macros.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/fork_callback.h"
#include "base/stripe.h"

namespace bigtable {

// Thread-safe.
class CallGate {
 public:
  // The time inside the gate. False if the gate was closed: then the call must not continue.
  class Pass {
   public:
    explicit Pass(CallGate* gate) : Pass(gate, gate->phase_.load(std::memory_order_relaxed)) {}
    ~Pass() {
      [[maybe_unused]] const int64_t before = calls_->fetch_sub(1, std::memory_order_release);
      ABSL_ASSERT(before > 0 && "as many calls leave as have entered");
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    explicit operator bool() const { return open_; }

   protected:
    Pass(CallGate* gate, int slot)
        : gate_(gate), calls_(&gate->counts_[ThreadStripe()].calls[static_cast<size_t>(slot)]) {
      // Sequentially consistent, like closing: either this sees the gate closed, or the closer sees
      // this call. The same holds for pointers that are replaced before TryAdvance.
      calls_->fetch_add(1, std::memory_order_seq_cst);
      open_ = !gate_->closed_.load(std::memory_order_seq_cst);
    }

   private:
    CallGate* const gate_;
    std::atomic<int64_t>* const calls_;
    bool open_;
  };
  // A pass for a call that may take long. It must not use pointers that are replaced.
  class LongPass final : public Pass {
   public:
    explicit LongPass(CallGate* gate) : Pass(gate, kLong) {}
  };

  // Admits no more calls, and returns when none is inside.
  void CloseAndWait() {
    closed_.store(true, std::memory_order_seq_cst);
    for (const int slot : {0, 1, kLong}) {
      while (!IsEmpty(slot)) absl::SleepFor(absl::Microseconds(50));
    }
  }
  // Advances if that is possible now; does not wait. One thread at a time. The pointer must have
  // been replaced with a sequentially consistent store, and be loaded likewise.
  bool TryAdvance() {
    const int phase = phase_.load(std::memory_order_relaxed);
    if (!IsEmpty(1 - phase)) return false;
    [[maybe_unused]] const int before = phase_.exchange(1 - phase, std::memory_order_seq_cst);
    ABSL_ASSERT(before == phase && "one thread at a time advances");
    advances_.fetch_add(1, std::memory_order_seq_cst);
    return true;
  }
  // The number of advances so far.
  uint64_t advances() const { return advances_.load(std::memory_order_seq_cst); }
  bool closed() const { return closed_.load(std::memory_order_relaxed); }
  // Whether this process is a child of the one that created the gate.
  bool is_forked() const { return forked_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kLong = 2;
  struct alignas(kCacheLine) Count {
    std::array<std::atomic<int64_t>, 3> calls{};  // by phase; long ones
  };

  // Whether each stripe was seen without calls in this slot.
  bool IsEmpty(int slot) const {
    for (const Count& count : counts_) {
      if (count.calls[static_cast<size_t>(slot)].load(std::memory_order_seq_cst) != 0) return false;
    }
    return true;
  }

  std::array<Count, kStripes> counts_;
  // Read by every call, and rarely written.
  alignas(kCacheLine) std::atomic<bool> closed_{false};
  std::atomic<int> phase_{0};
  std::atomic<uint64_t> advances_{0};
  std::atomic<bool> forked_{false};
  const ForkCallback on_fork_{[this] {
    forked_.store(true, std::memory_order_relaxed);
    closed_.store(true, std::memory_order_seq_cst);
  }};
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CALL_GATE_H_
